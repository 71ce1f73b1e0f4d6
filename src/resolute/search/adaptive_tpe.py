"""`adaptive_tpe`: halving that stops trials early, and a model of all trials so far that chooses the next.

Points are ranked at the greatest length that enough trials have reached; those that never got there come after, length
by length. Some trials are drawn at random for good: the better they do beside those the model chose, the more of them.
Because chosen trials get better and better, a newcomer must beat the newest of its rung too, not only the old ones.
Between rungs, a trial is stopped as soon as even the largest improvement seen from there on would not carry it past
the next rung.
"""

from collections.abc import Mapping
from typing import Any

from resolute.search.brackets import BracketPlan, plan_halving
from resolute.search.curves import Curves
from resolute.search.density import Density
from resolute.search.dice import Dice
from resolute.search.earlier import EarlierResult
from resolute.search.events import Outcome
from resolute.search.halving import StoppingHalving
from resolute.search.pareto import best_first
from resolute.search.rung import Rung
from resolute.search.space import Assignment, Space
from resolute.search.tpe import DEFAULT_STARTUP, MOST_GOOD, MOST_REST

_RANDOM_SHARES = (0.15, 0.3, 0.6)
"""Least, first and most: trials drawn at random are how the model is found out where it is wrong."""
_JURY = 4
"""Trials of either kind that a length needs before it may judge the model."""
_WINDOW = 4
"""Newest results a newcomer is compared with, in multiples of the divisor."""


class AdaptiveTpeSearcher(StoppingHalving):
    def __init__(self, searcher: Mapping[str, Any], space: Space, dice: Dice) -> None:
        super().__init__(searcher, space, dice)
        self._startup = int(searcher.get("startup_trials", DEFAULT_STARTUP))
        self._density = Density(space)
        self._curves = Curves()
        self._rows: list[list[float]] = []
        """Encoded points, one for each trial."""
        self._is_modelled: list[bool] = []
        """Which trials the model chose."""
        self._earlier: list[list[float]] = []
        """Encoded points of earlier results, best first."""

    def learn(self, earlier: list[EarlierResult]) -> None:
        ranking = best_first([self._objective.losses(result.metrics) for result in earlier])
        self._earlier += [self._density.encode(self._space.flat(earlier[at].hparams)) for at in ranking]

    def _plan(self, searcher: Mapping[str, Any]) -> list[BracketPlan]:
        """As adaptive_asha: some brackets begin higher up, in case the lowest rungs mislead."""
        return plan_halving({**searcher, "name": "adaptive_asha", "mode": "standard", "bracket_rungs": []})

    # Choosing trials.

    def _propose(self, bracket: int) -> Assignment:
        levels = self._levels()
        ranking, compared = self._ranking(levels)
        is_early = len(ranking) + len(self._earlier) < self._startup
        is_modelled = not self._queued and not is_early and self._dice.unit() >= self._random_share(levels)
        point = self._modelled(ranking, compared) if is_modelled else self._draw()
        self._rows.append(self._density.encode(point))
        self._is_modelled.append(is_modelled)
        return point

    def _random_share(self, levels: Mapping[int, list[int]]) -> float:
        """How often, at the greatest length that can judge, a random trial did better than one the model chose."""
        least, first, most = _RANDOM_SHARES
        for length in sorted(levels, reverse=True):
            chosen = [self._is_modelled[trial] for trial in levels[length]]
            modelled, drawn = sum(chosen), len(chosen) - sum(chosen)
            if modelled >= _JURY and drawn >= _JURY:
                return min(max(_losses_to_random(chosen) / (modelled * drawn), least), most)
        return first

    def _modelled(self, ranking: list[int], compared: int) -> Assignment:
        count = min(self._good_count(compared), len(ranking))
        known = self._good_count(len(self._earlier)) if self._earlier else 0
        good = [self._rows[trial] for trial in ranking[:count]] + self._earlier[:known]
        ranked = set(ranking)
        pending = [self._rows[trial] for trial in sorted(self._roll.open) if trial not in ranked]
        rest = pending + [self._rows[trial] for trial in ranking[count : count + MOST_REST]] + self._earlier[known:]
        return self._density.propose(good, rest[:MOST_REST], self._dice)

    def _ranking(self, levels: Mapping[int, list[int]]) -> tuple[list[int], int]:
        """Trials best first, and how many of them were compared at the deciding length."""
        needed = max(2 * (self._density.width + 2), self._startup // 2)
        lengths = sorted(levels)
        top = max((at for at, length in enumerate(lengths) if len(levels[length]) >= needed), default=0)
        ranking: list[int] = []
        seen: set[int] = set()
        for length in reversed(lengths[: top + 1]):
            ranking += [trial for trial in levels[length] if trial not in seen]
            seen.update(levels[length])
        return ranking, len(levels[lengths[top]])

    def _levels(self) -> dict[int, list[int]]:
        """Trials of all brackets by the length at which they were compared, best first."""
        rungs: dict[int, list[Rung]] = {}
        for bracket in self._brackets:
            for rung in bracket.rungs:
                rungs.setdefault(rung.units, []).append(rung)
        return {length: _merged(same) for length, same in rungs.items()}

    def _good_count(self, compared: int) -> int:
        return min(max(self._density.width // 2 + 1, compared // 6), MOST_GOOD)

    # Stopping trials.

    def _validated(self, trial: int, time: float, losses: tuple[float, ...], outcome: Outcome) -> None:
        super()._validated(trial, time, losses, outcome)
        if not self._objective.is_single or not self._roll.is_running(trial):
            return
        self._curves.add(trial, time, losses[0])
        if self._is_hopeless(trial, time, losses[0]):
            self._stop(trial, outcome)
            self._refill(self._bracket_of[trial], outcome)

    def _may_go_on(self, trial: int, at: int, number: int, place: int) -> bool:
        if not super()._may_go_on(trial, at, number, place):
            return False
        rung = self._brackets[at].rungs[number]
        if self._patience.spares(number, rung.units):
            return True
        newest = sorted(rung.order, reverse=True)[: int(_WINDOW * self._divisor)]
        better = sum(1 for other in rung.order[:place] if other >= newest[-1])
        return better < max(int(len(newest) / self._divisor), 1)

    def _is_hopeless(self, trial: int, time: float, loss: float) -> bool:
        """Would the largest improvement seen between here and the next rung still leave it below the cut?"""
        number = self._rung_of[trial]
        rung = self._brackets[self._bracket_of[trial]].rungs[number]
        if number == 0 or self._patience.spares(number, rung.units) or len(rung.losses) < self._divisor:
            return False
        gain = self._curves.largest_gain(time, rung.units)
        return gain is not None and loss - gain > rung.losses[rung.quota(self._divisor) - 1]

    def _state(self) -> dict[str, Any]:
        return {
            **super()._state(),
            "rows": self._rows.copy(),
            "is_modelled": self._is_modelled.copy(),
            "earlier": self._earlier.copy(),
            "curves": self._curves.snapshot(),
        }

    def _load_state(self, state: Mapping[str, Any]) -> None:
        super()._load_state(state)
        self._rows = [list(row) for row in state["rows"]]
        self._is_modelled = list(state["is_modelled"])
        self._earlier = [list(row) for row in state["earlier"]]
        self._curves = Curves.of_snapshot(state["curves"])


def _losses_to_random(chosen: list[bool]) -> int:
    """Pairs, best first, in which a random trial stands before one the model chose."""
    pairs = drawn = 0
    for is_modelled in chosen:
        if is_modelled:
            pairs += drawn
        else:
            drawn += 1
    return pairs


def _merged(rungs: list[Rung]) -> list[int]:
    if len(rungs) == 1:
        return rungs[0].order
    order = [trial for rung in rungs for trial in rung.order]
    vectors = [vector for rung in rungs for vector in rung.vectors]
    if vectors:
        return [order[at] for at in best_first(vectors)]
    losses = [loss for rung in rungs for loss in rung.losses]
    return [trial for _, trial in sorted(zip(losses, order, strict=True))]
