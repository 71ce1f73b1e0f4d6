"""Metric reports in the database."""

import math
from typing import Any

from sqlalchemy import Connection, select

from resolute.store.db import tables
from resolute.store.metrics.series import SeriesCache


class MetricTable:
    def __init__(self, connection: Connection, cache: SeriesCache) -> None:
        self._connection = connection

    def at_steps(self, trial_id: int, group: str, steps: int) -> Any:
        return None

    def at_checkpoints(self, keys: Any, groups: Any) -> dict[Any, Any]:
        return {}

    def searcher_metric_of(self, trial_id: int) -> str:
        return ""


def finite(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)
