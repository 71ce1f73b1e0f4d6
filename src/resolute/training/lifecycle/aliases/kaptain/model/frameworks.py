"""What a model is written in."""

from resolute.lifecycle import ModelFramework

__all__ = ["ModelFramework"]
