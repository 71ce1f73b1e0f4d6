"""Searchers that look at no metric: `single`, `random` and `grid`. Each exit makes room for the next trial."""

import math
from collections.abc import Mapping
from typing import Any

from resolute.domain.errors import InvalidConfig, NotSupported
from resolute.search.base import DEFAULT_CONCURRENCY, BaseSearcher
from resolute.search.events import Outcome, Shutdown
from resolute.search.grid import Grid
from resolute.search.rng import Rng
from resolute.search.space import Space
from resolute.search.trial_table import CANCELED, CLOSED, FAILED, INVALID
from resolute.spec.limits import MAX_TRIALS

_INVALID_LIMIT = 10
"""A space in which nearly every point is invalid would otherwise be sampled for ever."""


class RandomSearcher(BaseSearcher):
    """`max_trials` independent draws. An invalid draw is replaced and does not count."""

    needs_free_parameter = False

    def __init__(self, searcher: Mapping[str, Any], space: Space, rng: Rng) -> None:
        super().__init__(searcher, space, rng)
        self._max_trials = int(searcher["max_trials"])
        self._max_concurrent = int(searcher.get("max_concurrent_trials", DEFAULT_CONCURRENCY))

    def _begin(self, outcome: Outcome) -> None:
        while self._trials.counted < self._max_trials and self._has_place():
            self._create(self._draw(), outcome)

    def _validated(self, trial: int, time: float, losses: tuple[float, ...], outcome: Outcome) -> None:
        """A random search learns nothing from a metric."""

    def _ended(self, trial: int, outcome: Outcome) -> None:
        if give_up_on_invalid(self._trials.count(INVALID), self._max_trials):
            reason = f"{self._trials.count(INVALID)} trials had invalid hyperparameters; narrow the hyperparameters."
            self._give_up(outcome, Shutdown(failed=True, reason=reason))
            return
        self._begin(outcome)

    def _has_place(self) -> bool:
        return not self._max_concurrent or len(self._trials.open) < self._max_concurrent

    def _share_done(self) -> float:
        ended = self._trials.count(CLOSED) + self._trials.count(FAILED)
        return (ended + sum(self._trials.partial.values())) / self._max_trials


class SingleSearcher(RandomSearcher):
    """One trial; free parameters are drawn once."""

    # Its one trial may be given a longer training after it was done.
    waking = frozenset({CLOSED, FAILED, CANCELED, INVALID})

    def __init__(self, searcher: Mapping[str, Any], space: Space, rng: Rng) -> None:
        super().__init__({**searcher, "max_trials": 1}, space, rng)

    def _ended(self, trial: int, outcome: Outcome) -> None:
        """Invalid hyperparameters end it: there is nothing else to try."""


class GridSearcher(BaseSearcher):
    """Every combination once, from the end of the list; an invalid one is not replaced."""

    needs_free_parameter = False

    def __init__(self, searcher: Mapping[str, Any], space: Space, rng: Rng) -> None:
        super().__init__(searcher, space, rng)
        _check_counts(space)
        self._max_concurrent = int(searcher.get("max_concurrent_trials", DEFAULT_CONCURRENCY))
        self._grid = Grid(space)
        self._points = len(self._grid)

    def _begin(self, outcome: Outcome) -> None:
        places = self._max_concurrent or len(self._grid)
        while len(self._trials.ids) < len(self._grid) and len(self._trials.open) < places:
            self._create(self._grid[len(self._grid) - 1 - len(self._trials.ids)], outcome)

    def _validated(self, trial: int, time: float, losses: tuple[float, ...], outcome: Outcome) -> None:
        """A grid is walked whatever the metrics say."""

    def _ended(self, trial: int, outcome: Outcome) -> None:
        self._begin(outcome)

    def _state(self) -> dict[str, Any]:
        return {"points": self._points}

    def _load_state(self, state: Mapping[str, Any]) -> None:
        self._points = state["points"]

    def _add_budget(self, searcher: Mapping[str, Any]) -> None:
        if self._points != len(self._grid):
            raise NotSupported(
                f"The grid had {self._points} points and now has {len(self._grid)}; a search cannot change its grid. "
                "Start a new one."
            )

    def _share_done(self) -> float:
        ended = len(self._trials.ids) - len(self._trials.open)
        return (ended + sum(self._trials.partial.values())) / len(self._grid)


def give_up_on_invalid(invalid: int, max_trials: int) -> bool:
    return invalid >= max(100, _INVALID_LIMIT * max_trials)


def _check_counts(space: Space) -> None:
    problems = [
        f"hyperparameters.{parameter.name}: a grid needs `count`, the number of points between minval and maxval."
        for parameter in space.parameters
        if parameter.kind in ("int", "double", "log") and parameter.count is None
    ]
    if problems:
        raise InvalidConfig(problems)
    points = math.prod(parameter.axis_length for parameter in space.parameters)
    if points > MAX_TRIALS:
        sentence = f"hyperparameters make a grid of {points:,} points; at most {MAX_TRIALS:,} are possible."
        raise InvalidConfig([f"{sentence} Lower some count."])
