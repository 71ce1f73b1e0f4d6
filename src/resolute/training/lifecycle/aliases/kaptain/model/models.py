"""The model."""

from resolute.lifecycle import Model

__all__ = ["Model"]
