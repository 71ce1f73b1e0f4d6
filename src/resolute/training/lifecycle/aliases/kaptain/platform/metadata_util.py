"""Metrics of a run."""

from resolute.training.lifecycle.metadata import MetadataUtil

__all__ = ["MetadataUtil"]
