"""What runs inside a trial process."""
