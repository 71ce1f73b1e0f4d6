"""Ours beside the peer, in one run, as a ratio. Not tests: nothing here passes or fails."""
