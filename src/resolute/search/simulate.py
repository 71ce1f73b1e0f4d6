"""What a search will cost, before anything runs: a fake clock, fake trials, the real searcher.

Trials follow made-up learning curves, so counts of an early-stopping search are typical, not exact. Pure.
"""

import heapq
import math
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from resolute.domain.errors import InvalidInput
from resolute.search.base import BaseSearcher
from resolute.search.brackets import training_length
from resolute.search.events import (
    CreateTrial,
    Event,
    SearchStarted,
    Shutdown,
    StopTrial,
    TrainTo,
    TrialClosed,
    Validated,
)
from resolute.search.registry import new_searcher
from resolute.search.rng import Rng
from resolute.search.simulation import SimulatedTrial, Simulation

Curve = Callable[[int, Mapping[str, Any], float], float]
"""(number of the trial, its hparams, length trained) -> loss, smaller is better."""


def simulate(
    searcher: dict[str, Any],
    hyperparameters: dict[str, Any],
    seed: int,
    *,
    slots: int,
    slots_per_trial: int = 1,
    seconds_per_unit: float = 1.0,
    curve: Curve | None = None,
    pace: Callable[[int], float] | None = None,
    check: Callable[[], None] = lambda: None,
) -> Simulation:
    """Run the search on a fake clock. `pace` makes trial n that many times slower (stragglers).

    `check` is called before every step; what it raises ends the simulation.
    """
    if searcher.get("name") == "custom":
        raise InvalidInput("A custom searcher decides outside; it cannot be simulated. Simulate the program itself.")
    places = slots // max(slots_per_trial, 1)
    if places < 1:
        raise InvalidInput(f"{slots} slots cannot hold a trial of {slots_per_trial}; simulate with more slots.")
    method = new_searcher(searcher, hyperparameters, seed)
    assert isinstance(method, BaseSearcher)
    run = _Run(searcher, method, places, curve or _made_up_curve(seed), pace or (lambda trial: 1.0))
    return run.result(slots=slots, seconds_per_unit=seconds_per_unit, check=check)


class _Run:
    def __init__(
        self,
        searcher: Mapping[str, Any],
        method: BaseSearcher,
        places: int,
        curve: Curve,
        pace: Callable[[int], float],
    ) -> None:
        self._method, self._places, self._curve, self._pace = method, places, curve, pace
        self._length = _length(searcher, method)
        self._is_length_known = _is_length_known(searcher, method)
        self._stops = sorted({*method.milestones(), self._length})
        self._unit = _unit(searcher)
        metric = searcher.get("metric", "loss")
        self._metrics = list(metric) if isinstance(metric, list) else [metric]
        smaller = searcher.get("smaller_is_better", True)
        self._signs = [1.0 if one else -1.0 for one in (smaller if isinstance(smaller, list) else [smaller])]
        self._signs = self._signs * len(self._metrics) if len(self._signs) == 1 else self._signs
        self._trials: list[SimulatedTrial] = []
        self._number: dict[str, int] = {}
        self._queue: deque[int] = deque()
        self._running: list[tuple[float, int, int]] = []
        """(time at which it reports, trial, length it then has)"""
        self._now = self._busy = self._last_start = self._busy_at_last_start = 0.0
        self._decisions = 0
        self._reporting = -1

    def result(self, *, slots: int, seconds_per_unit: float, check: Callable[[], None]) -> Simulation:
        self._send(SearchStarted())
        self._start_waiting()
        while self._running:
            check()
            self._advance()
        places_time = self._places * self._last_start
        return Simulation(
            unit=self._unit,
            length=self._length if self._is_length_known else None,
            slots=slots,
            trials=self._trials,
            brackets=self._method.bracket_views(),
            total_units=sum(trial.units for trial in self._trials),
            wall_time=self._now * seconds_per_unit,
            utilisation=self._busy_at_last_start / places_time if places_time else 1.0,
            decisions=self._decisions,
        )

    def _advance(self) -> None:
        now, number, units = heapq.heappop(self._running)
        self._busy += (len(self._running) + 1) * (now - self._now)
        self._now = now
        trial = self._trials[number]
        trial.units = units
        self._reporting = number
        self._send(Validated(trial.request_id, float(units), self._measured(number, units)))
        if trial.is_done:
            self._send(TrialClosed(trial.request_id))
        elif units >= self._length:
            trial.is_done = True
            self._send(TrialClosed(trial.request_id))
        elif trial.target is None or units < trial.target:
            self._start(number)
        self._reporting = -1
        self._start_waiting()

    def _start_waiting(self) -> None:
        while self._queue and len(self._running) < self._places:
            number = self._queue.popleft()
            if not self._trials[number].is_done:
                self._start(number)

    def _start(self, number: int) -> None:
        trial = self._trials[number]
        ends = [stop for stop in self._stops if stop > trial.units]
        if trial.target is not None and trial.target > trial.units:
            ends.append(trial.target)
        until = min(ends)
        heapq.heappush(self._running, (self._now + (until - trial.units) * self._pace(number), number, until))
        if trial.units == 0:
            self._last_start, self._busy_at_last_start = self._now, self._busy

    def _send(self, event: Event) -> None:
        waiting: deque[Event] = deque([event])
        while waiting:
            self._decisions += 1
            for action in self._method.handle(waiting.popleft()).actions:
                if isinstance(action, CreateTrial):
                    self._number[action.request_id] = len(self._trials)
                    self._queue.append(len(self._trials))
                    self._trials.append(SimulatedTrial(action.request_id, action.hparams, target=action.train_to))
                elif isinstance(action, TrainTo):
                    self._raise(self._number[action.request_id], action.length)
                elif isinstance(action, StopTrial):
                    self._stop(self._number[action.request_id], waiting, during=event)
                elif isinstance(action, Shutdown):
                    continue

    def _raise(self, number: int, length: int | None) -> None:
        trial = self._trials[number]
        is_waiting = trial.target is not None and trial.units >= trial.target
        trial.target = length
        # The trial that is reporting keeps its place.
        if is_waiting and number != self._reporting:
            self._queue.append(number)

    def _stop(self, number: int, waiting: deque[Event], *, during: Event) -> None:
        trial = self._trials[number]
        trial.is_done = True
        # The trial whose report led here is closed by the caller; others give their place back now.
        if isinstance(during, Validated) and during.request_id == trial.request_id:
            return
        self._running = [entry for entry in self._running if entry[1] != number]
        heapq.heapify(self._running)
        waiting.append(TrialClosed(trial.request_id))

    def _measured(self, number: int, units: int) -> dict[str, float]:
        loss = self._curve(number, self._trials[number].hparams, float(units))
        return {name: sign * loss for name, sign in zip(self._metrics, self._signs, strict=True)}


def _made_up_curve(seed: int) -> Curve:
    def curve(number: int, hparams: Mapping[str, Any], units: float) -> float:
        rng = Rng(seed * 1_000_003 + number)
        floor, speed = rng.unit(), 0.02 + rng.unit() * 0.2
        return floor + (1.0 - floor) * math.exp(-speed * units**0.5)

    return curve


def _is_length_known(searcher: Mapping[str, Any], method: BaseSearcher) -> bool:
    return bool(method.milestones()) or any(searcher.get(key) is not None for key in ("max_time", "max_length"))


def _length(searcher: Mapping[str, Any], method: BaseSearcher) -> int:
    """Where nothing says how long a trial is, it counts as one unit."""
    if method.milestones():
        return method.milestones()[-1]
    return training_length(searcher) if _is_length_known(searcher, method) else 1


def _unit(searcher: Mapping[str, Any]) -> str:
    if searcher.get("max_time") is not None:
        return str(searcher.get("time_metric") or "units")
    for key in ("max_length", "length_per_round"):
        length = searcher.get(key)
        if isinstance(length, Mapping) and length:
            return str(next(iter(length)))
        if length is not None:
            return "units"
    return "trials"
