"""A label on a metric."""

from resolute.serving.handlers.timing import Dimension

__all__ = ["Dimension"]
