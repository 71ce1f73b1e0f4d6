"""The web UI at scale: a seeded home and the figures a browser measures on it."""
