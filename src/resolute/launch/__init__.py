"""Launchers, run with `python -m resolute.launch.<name>`."""
