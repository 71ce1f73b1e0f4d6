"""What a model is written in."""

from resolute.client.lifecycle.framework import ModelFramework

__all__ = ["ModelFramework"]
