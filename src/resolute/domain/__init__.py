"""What exists and what may happen to it. Pure."""
