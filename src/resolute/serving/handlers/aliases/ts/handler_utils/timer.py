"""`@timed`: how long a step of a handler takes, as one of its metrics."""

from resolute.serving.handlers.timing import timed

__all__ = ["timed"]
