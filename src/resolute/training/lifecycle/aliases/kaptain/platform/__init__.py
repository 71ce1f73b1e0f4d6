"""What a trainer calls."""
