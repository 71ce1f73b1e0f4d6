"""Port of time."""

from collections.abc import Callable
from datetime import datetime

Clock = Callable[[], datetime]
"""Aware UTC time. The real one is `lambda: datetime.now(UTC)`; tests pass their own."""
