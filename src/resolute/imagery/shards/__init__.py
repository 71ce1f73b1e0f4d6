"""Tiles packed into few large files, so that a store is read in long stretches and not file by file."""
