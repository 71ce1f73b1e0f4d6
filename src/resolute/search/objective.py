"""What is to be improved: one metric or several, in which direction, and the goal that ends a search early.

Losses are metrics turned so that smaller is better. They stay finite, because a snapshot is JSON: a metric that is NaN,
infinite or missing becomes WORST.
"""

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from resolute.domain.errors import InvalidConfig

WORST = sys.float_info.max


class Objective:
    def __init__(self, searcher: Mapping[str, Any]) -> None:
        self.names: tuple[str, ...] = tuple(_as_list(searcher.get("metric", "")))
        directions = _as_list(searcher.get("smaller_is_better", True))
        if len(directions) == 1:
            directions = directions * len(self.names)
        self.smaller_is_better: tuple[bool, ...] = tuple(bool(direction) for direction in directions)
        self._check_lengths("smaller_is_better", self.smaller_is_better)
        goal = searcher.get("goal")
        self._goal: tuple[float | None, ...] | None = None if goal is None else tuple(_as_list(goal))
        if self._goal is not None:
            self._check_lengths("goal", self._goal)

    @property
    def is_single(self) -> bool:
        return len(self.names) == 1

    def losses(self, metrics: Mapping[str, float]) -> tuple[float, ...]:
        pairs = zip(self.names, self.smaller_is_better, strict=True)
        return tuple(_loss(metrics.get(name), smaller) for name, smaller in pairs)

    def is_reached(self, losses: Sequence[float]) -> bool:
        """Every metric that has a goal is at least that good."""
        if self._goal is None or all(goal is None for goal in self._goal):
            return False
        wanted = zip(losses, self._goal, self.smaller_is_better, strict=True)
        return all(goal is None or loss <= (goal if smaller else -goal) for loss, goal, smaller in wanted)

    def goal_text(self) -> str:
        wanted = zip(self.names, self._goal or (), self.smaller_is_better, strict=False)
        texts = [f"{name} {'<=' if smaller else '>='} {goal:g}" for name, goal, smaller in wanted if goal is not None]
        return " and ".join(texts)

    def _check_lengths(self, key: str, values: Sequence[Any]) -> None:
        if len(values) != len(self.names):
            raise InvalidConfig(
                [f"searcher.{key} has {len(values)} values for {len(self.names)} metrics; give one value or one each."]
            )


def _loss(value: float | None, smaller_is_better: bool) -> float:
    if value is None or math.isnan(value):
        return WORST
    loss = float(value) if smaller_is_better else -float(value)
    return min(max(loss, -WORST), WORST)


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
