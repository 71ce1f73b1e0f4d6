"""`tpe`: whole trials, each chosen by a model of those before it. Trials still in training count as not good."""

from collections.abc import Mapping
from typing import Any

from resolute.search.density import Density
from resolute.search.enumeration import RandomSearcher
from resolute.search.events import Outcome
from resolute.search.pareto import best_first
from resolute.search.rng import Rng
from resolute.search.searcher import EarlierResult
from resolute.search.space import Assignment, Space

DEFAULT_STARTUP = 10
MOST_GOOD = 25
MOST_REST = 200
"""Observations beyond these change a density little and cost time."""


class TpeSearcher(RandomSearcher):
    needs_free_parameter = True

    def __init__(self, searcher: Mapping[str, Any], space: Space, rng: Rng) -> None:
        super().__init__(searcher, space, rng)
        self._startup = int(searcher.get("startup_trials", DEFAULT_STARTUP))
        self._density = Density(space)
        self._rows: list[list[float]] = []
        """Encoded points, one for each trial."""
        self._losses: list[list[float]] = []
        """Best losses of each trial so far; empty before its first report."""
        self._earlier_rows: list[list[float]] = []
        self._earlier_losses: list[list[float]] = []

    def learn(self, earlier: list[EarlierResult]) -> None:
        for result in earlier:
            self._earlier_rows.append(self._density.encode(self._space.flat(result.hparams)))
            self._earlier_losses.append(list(self._objective.losses(result.metrics)))

    def _draw(self) -> Assignment:
        point = self._proposed()
        self._rows.append(self._density.encode(point))
        self._losses.append([])
        return point

    def _validated(self, trial: int, time: float, losses: tuple[float, ...], outcome: Outcome) -> None:
        before = self._losses[trial]
        self._losses[trial] = min(list(losses), before) if before and len(losses) == 1 else list(losses)

    def _proposed(self) -> Assignment:
        known = [at for at, losses in enumerate(self._losses) if losses and at not in self._trials.open]
        rows = [self._rows[at] for at in known] + self._earlier_rows
        losses = [self._losses[at] for at in known] + self._earlier_losses
        if self._queued or len(rows) < self._startup:
            return super()._draw()
        ranking = best_first(losses) if len(losses[0]) > 1 else sorted(range(len(losses)), key=losses.__getitem__)
        count = good_count(len(ranking))
        seen = set(known)
        pending = [row for at, row in enumerate(self._rows) if at not in seen]
        rest = pending + [rows[at] for at in ranking[count:]]
        return self._density.propose([rows[at] for at in ranking[:count]], rest[:MOST_REST], self._rng)

    def _state(self) -> dict[str, Any]:
        return {
            "rows": self._rows.copy(),
            "losses": self._losses.copy(),
            "earlier_rows": self._earlier_rows.copy(),
            "earlier_losses": self._earlier_losses.copy(),
        }

    def _load_state(self, state: Mapping[str, Any]) -> None:
        self._rows = [list(row) for row in state["rows"]]
        self._losses = [list(losses) for losses in state["losses"]]
        self._earlier_rows = [list(row) for row in state["earlier_rows"]]
        self._earlier_losses = [list(losses) for losses in state["earlier_losses"]]


def good_count(known: int) -> int:
    """A sixth at first, a falling share later."""
    return max(min(-(-known // 6), MOST_GOOD), 2)
