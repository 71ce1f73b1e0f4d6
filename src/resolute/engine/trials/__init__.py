"""Trials: their gangs, what they report, and what becomes of them."""
