"""Satellite imagery and labels to tiles."""
