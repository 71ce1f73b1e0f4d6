"""Learning curves of all trials, kept small: how much have trials improved between two lengths?

A curve keeps one value per step of length (two to a doubling), so a long training stays a few dozen numbers.
"""

import math
from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

_STEPS_PER_DOUBLING = 2
ENOUGH = 5
"""Curves that must cover a stretch before it says anything."""


class Improvements:
    def __init__(self) -> None:
        self._times: dict[int, list[float]] = {}
        self._losses: dict[int, list[float]] = {}

    def add(self, trial: int, time: float, loss: float) -> None:
        """Values must come in the order of their times; a second one in the same step is left out."""
        times = self._times.setdefault(trial, [])
        if times and _step(time) <= _step(times[-1]):
            return
        times.append(time)
        self._losses.setdefault(trial, []).append(loss)

    def largest_gain(self, start: float, end: float) -> float | None:
        """The most any trial has improved from `start` on by `end`; None where too few have come so far."""
        gains = []
        for trial, times in self._times.items():
            if times[-1] < end:
                continue
            losses = self._losses[trial]
            before = losses[max(bisect_right(times, start) - 1, 0)]
            gains.append(before - losses[bisect_right(times, end) - 1])
        return max(gains) if len(gains) >= ENOUGH else None

    def snapshot(self) -> dict[str, Any]:
        return {
            "trials": list(self._times),
            "times": [times.copy() for times in self._times.values()],
            "losses": [losses.copy() for losses in self._losses.values()],
        }

    @classmethod
    def of_snapshot(cls, snapshot: Mapping[str, Any]) -> "Improvements":
        curves = cls()
        for trial, times, losses in zip(snapshot["trials"], snapshot["times"], snapshot["losses"], strict=True):
            curves._times[trial] = list(times)
            curves._losses[trial] = list(losses)
        return curves


def _step(time: float) -> int:
    return math.floor(_STEPS_PER_DOUBLING * math.log2(max(time, 1e-9)))
