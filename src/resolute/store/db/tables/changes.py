"""What changed, and how far each follower has read."""
