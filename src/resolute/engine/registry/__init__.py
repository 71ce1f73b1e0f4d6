"""What outlives experiments: datasets, registered models, and how they hang together."""
