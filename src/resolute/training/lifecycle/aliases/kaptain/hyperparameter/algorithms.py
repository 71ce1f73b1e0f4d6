"""Ways to search."""

from resolute.lifecycle import Algorithm

__all__ = ["Algorithm"]
