"""Handlers: code that turns requests into answers, as model archives carry it, and the built-in ones.

Runs in the model process only. Torch is imported by the modules that need it, never here.
"""
