"""Patience: how long a trial trains before a searcher may end it, for models that learn late."""

from collections.abc import Mapping
from typing import Any

from resolute.domain.errors import InvalidConfig


class Patience:
    """`patience: 2` spares a trial at the first two rungs; `patience: {epochs: 10}` (any unit) below that length."""

    def __init__(self, patience: Any) -> None:
        self._rungs = 0
        self._units = 0.0
        if isinstance(patience, Mapping):
            given = {str(key): float(value) for key, value in patience.items() if value is not None}
            self._rungs = int(given.pop("rungs", 0))
            self._units = max(given.values(), default=0.0)
        elif patience is not None:
            self._rungs = int(patience)
        if self._rungs < 0 or self._units < 0:
            raise InvalidConfig([f"searcher.patience is {patience!r}; it cannot be negative."])

    def spares(self, rung: int, units: float) -> bool:
        return rung < self._rungs or units < self._units
