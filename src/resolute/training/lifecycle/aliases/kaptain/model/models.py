"""The model."""

from resolute.client.lifecycle.model import Model

__all__ = ["Model"]
