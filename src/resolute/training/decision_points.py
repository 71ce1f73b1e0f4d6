"""The training lengths at which the searcher may decide about a trial, for a loop that chooses when to validate. Pure.

A trial that is not measured there cannot be stopped there, whatever a preview of the search says.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from resolute.domain.errors import InvalidInput
from resolute.search.registry import new_searcher

_DECIDES_EARLY = frozenset({"async_halving", "adaptive_asha", "adaptive_tpe", "pbt"})
_UNITS = ("batches", "records", "epochs")


@dataclass(frozen=True, slots=True)
class DecisionPoints:
    """`lengths` in `unit`, lowest first; none where the searcher looks at the end of a trial alone."""

    unit: str = "batches"
    lengths: tuple[int, ...] = ()

    def in_batches(
        self, *, batches_per_epoch: int | None, global_batch_size: int, records_per_epoch: int = 0
    ) -> tuple[int, ...]:
        """The first batch count that has reached each length. Empty where epochs cannot be counted."""
        if self.unit == "batches":
            return self.lengths
        if self.unit == "records":
            return tuple(math.ceil(length / global_batch_size) for length in self.lengths)
        if records_per_epoch:
            return tuple(math.ceil(length * records_per_epoch / global_batch_size) for length in self.lengths)
        return tuple(length * batches_per_epoch for length in self.lengths) if batches_per_epoch else ()


def decision_points(config: Mapping[str, Any]) -> DecisionPoints:
    """Of an experiment's configuration. A searcher that counts by a metric of the script's own has none here."""
    searcher = config.get("searcher") or {}
    if searcher.get("name") not in _DECIDES_EARLY:
        return DecisionPoints()
    unit = _unit(searcher)
    if unit not in _UNITS:
        return DecisionPoints()
    try:
        method: Any = new_searcher(dict(searcher), dict(config.get("hyperparameters") or {}), seed=0)
    except InvalidInput:
        return DecisionPoints()  # What is wrong with a search is told when it is submitted, not by each trial.
    return DecisionPoints(unit, tuple(method.milestones()))


def _unit(searcher: Mapping[str, Any]) -> str:
    if searcher.get("max_time") is not None:
        return str(searcher.get("time_metric"))
    length = searcher.get("max_length") or searcher.get("length_per_round")
    return str(next(iter(length))) if isinstance(length, Mapping) and length else "batches"
