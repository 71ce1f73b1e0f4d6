"""Experiments: from a configuration to trials, the searchers that ask for them, and what is done with both."""
