"""Ways to search."""

from resolute.client.lifecycle.algorithm import Algorithm

__all__ = ["Algorithm"]
