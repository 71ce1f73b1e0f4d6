"""Models and their frameworks."""
