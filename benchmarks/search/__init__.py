"""Searchers against one another on the same clock, tasks and seeds."""
