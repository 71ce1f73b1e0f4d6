"""The process that stays with one gang from its first file to its exit code, whatever happens to the master.

It runs in the trial's own Python environment, so this package, `runners.context`, `runners.environments` and what
they use of `domain` and `spec` import the standard library only, and need Python 3.11 and nothing else.
"""
