"""Running statistics of one metric. Pure. NaN and Inf count, but stay out of total, min and max."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from resolute.domain.metric import MetricSummary
from resolute.store.metrics.chunk import Chunk

MIXED = "string"
"""The type of a metric that was reported with several types."""


@dataclass(frozen=True, slots=True)
class Statistics:
    count: int = 0
    non_finite: int = 0
    total: float = 0.0
    min: float | None = None
    max: float | None = None
    last: Any = None
    last_steps: int = -1
    type: str = ""

    def summary(self, group: str, name: str) -> MetricSummary:
        return MetricSummary(
            group=group,
            name=name,
            count=self.count,
            total=self.total,
            min=self.min,
            max=self.max,
            last=self.last,
            type=self.type,
            non_finite=self.non_finite,
        )


def of_chunk(chunk: Chunk) -> dict[str, Statistics]:
    """Statistics of every metric in one chunk."""
    found: dict[str, Statistics] = {}
    for name, column in chunk.columns.items():
        last_row = -1 if column.rows is None else int(column.rows[-1])
        found[name] = _of_numbers(column.values, int(chunk.steps[last_row]))
    for row, values in sorted(chunk.other.items()):
        for name, value in values.items():
            one = Statistics(count=1, last=value, last_steps=int(chunk.steps[row]), type=_type_name(value))
            found[name] = joined(found[name], one) if name in found else one
    return found


def joined(older: Statistics, newer: Statistics) -> Statistics:
    """Statistics over both; at the same step the newer value is the last."""
    latest = newer if newer.last_steps >= older.last_steps else older
    return replace(
        latest,
        count=older.count + newer.count,
        non_finite=older.non_finite + newer.non_finite,
        total=older.total + newer.total,
        min=_least(older.min, newer.min, min),
        max=_least(older.max, newer.max, max),
        type=older.type if older.type in (newer.type, "") else (newer.type if not older.type else MIXED),
    )


def finite(value: object) -> float | None:
    """`value` where it is a number that can be compared; None for NaN, Inf and whatever is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def _of_numbers(values: NDArray[Any], last_steps: int) -> Statistics:
    last = values[-1].item()
    if len(values) == 1:
        return _of_one(last, last_steps)
    finite = values
    if values.dtype.kind == "f":
        mask = np.isfinite(values)
        finite = values if mask.all() else values[mask]
    if not len(finite):
        return Statistics(len(values), len(values), last=last, last_steps=last_steps, type="number")
    # A sum of large whole numbers must not wrap around.
    total = float(finite.sum(dtype=np.float64))
    low, high = float(finite.min()), float(finite.max())
    return Statistics(len(values), len(values) - len(finite), total, low, high, last, last_steps, "number")


def _of_one(value: float, steps: int) -> Statistics:
    number = float(value)
    if number - number != 0.0:  # NaN and Inf
        return Statistics(1, 1, last=value, last_steps=steps, type="number")
    return Statistics(1, 0, number, number, number, value, steps, "number")


def _least(left: float | None, right: float | None, choose: Any) -> float | None:
    if left is None or right is None:
        return left if right is None else right
    chosen: float = choose(left, right)
    return chosen


def _type_name(value: object) -> str:
    match value:
        case bool():
            return "boolean"
        case str():
            return "string"
        case dict():
            return "object"
        case list() | tuple():
            return "array"
        case None:
            return "null"
    return "number"
