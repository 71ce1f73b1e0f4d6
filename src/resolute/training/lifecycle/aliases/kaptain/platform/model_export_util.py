"""Models that a run has trained."""

from resolute.training.lifecycle.export import ModelExportUtil

__all__ = ["ModelExportUtil"]
