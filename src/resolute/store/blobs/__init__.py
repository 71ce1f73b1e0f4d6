"""Checkpoint files in local folders and object stores."""
