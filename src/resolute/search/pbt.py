"""Population based training: after each round of training, the worst make way for changed copies of the best.

A copy starts from its source's latest checkpoint and counts its own length from 0. A member that has failed comes in
last and is replaced at the end of its round.
"""

from collections.abc import Mapping
from typing import Any

from resolute.domain.errors import InvalidConfig
from resolute.search.base import BaseSearcher
from resolute.search.enumeration import give_up_on_invalid
from resolute.search.events import Outcome, Shutdown, TrainTo
from resolute.search.objective import WORST
from resolute.search.parameter import Parameter
from resolute.search.pareto import best_first
from resolute.search.rng import Rng
from resolute.search.space import Assignment, Space
from resolute.search.trial_table import CLOSED, INVALID


class PopulationSearcher(BaseSearcher):
    # A population that goes on begins anew; what is left of the old one is no member.
    waking = frozenset()

    def __init__(self, searcher: Mapping[str, Any], space: Space, rng: Rng) -> None:
        super().__init__(searcher, space, rng)
        self._size = int(searcher["population_size"])
        self._rounds = int(searcher["num_rounds"])
        self._round_length = _round_length(searcher)
        self._truncated = int((searcher.get("replace_function") or {}).get("truncate_fraction", 0.2) * self._size)
        explore = searcher.get("explore_function") or {}
        self._resample_probability = float(explore.get("resample_probability", 0.2))
        self._perturb_factor = float(explore.get("perturb_factor", 0.2))
        self._round = 0
        self._members: list[int] = []
        self._born: dict[int, int] = {}
        """Round in which a member began."""
        self._points: dict[int, Assignment] = {}
        self._results: dict[int, tuple[float, ...]] = {}
        """Of this round, by member."""

    def milestones(self) -> list[int]:
        return [self._round_length * (number + 1) for number in range(self._rounds)]

    def _begin(self, outcome: Outcome) -> None:
        while len(self._members) < self._size:
            self._add(self._draw(), outcome)

    def _validated(self, trial: int, time: float, losses: tuple[float, ...], outcome: Outcome) -> None:
        if trial in self._results or time < self._target(trial):
            return
        self._results[trial] = losses
        self._end_round_when_all_are_in(outcome)

    def _ended(self, trial: int, outcome: Outcome) -> None:
        if self._trials.status[trial] == INVALID:
            self._replace_invalid(trial, outcome)
            return
        self._results[trial] = (WORST,) * len(self._objective.names)
        self._end_round_when_all_are_in(outcome)

    def _replace_invalid(self, trial: int, outcome: Outcome) -> None:
        if give_up_on_invalid(self._trials.count(INVALID), self._size):
            reason = f"{self._trials.count(INVALID)} trials had invalid hyperparameters; narrow the hyperparameters."
            self._give_up(outcome, Shutdown(failed=True, reason=reason))
            return
        self._members.remove(trial)
        self._results.pop(trial, None)
        self._add(self._draw(), outcome)

    def _end_round_when_all_are_in(self, outcome: Outcome) -> None:
        if len(self._results) < len(self._members):
            return
        ranking = [self._members[at] for at in best_first([self._results[trial] for trial in self._members])]
        self._round += 1
        if self._round == self._rounds:
            for trial in ranking:
                self._stop(trial, outcome)
            return
        self._next_round(ranking, outcome)

    def _next_round(self, ranking: list[int], outcome: Outcome) -> None:
        alive = [trial for trial in ranking if self._trials.is_running(trial)]
        kept = alive[: max(self._size - self._truncated, 1)]
        for trial in alive[len(kept) :]:
            self._stop(trial, outcome)
        self._members, self._results = list(kept), {}
        for trial in kept:
            outcome.actions.append(TrainTo(self._trials.ids[trial], self._target(trial)))
        if not kept:
            return
        sources = kept[: max(self._truncated, 1)]
        for number in range(self._size - len(kept)):
            source = sources[number % len(sources)]
            self._add(self._explored(self._points[source]), outcome, copy_of=self._trials.ids[source])
        self._points = {trial: self._points[trial] for trial in self._members}

    def _add(self, point: Assignment, outcome: Outcome, copy_of: str | None = None) -> None:
        trial = self._create(point, outcome, train_to=self._round_length, copy_of=copy_of)
        self._members.append(trial)
        self._born[trial] = self._round
        self._points[trial] = point

    def _target(self, trial: int) -> int:
        return (self._round - self._born[trial] + 1) * self._round_length

    def _explored(self, point: Assignment) -> Assignment:
        changed = {
            parameter.name: self._changed(parameter, point[parameter.name])
            for parameter in self._space.parameters
            if parameter.name in point
        }
        return self._space.complete(changed, self._rng)

    def _changed(self, parameter: Parameter, value: Any) -> Any:
        if not parameter.is_free:
            return value
        if self._rng.unit() < self._resample_probability:
            return parameter.sample(self._rng)
        if parameter.kind == "categorical":
            return value
        factor = 1 + self._perturb_factor if self._rng.unit() < 0.5 else 1 - self._perturb_factor
        return parameter.clamped(value * factor)

    def _share_done(self) -> float:
        return (self._round + len(self._results) / self._size) / self._rounds

    def _add_budget(self, searcher: Mapping[str, Any]) -> None:
        for trial in sorted(self._trials.open):
            self._trials.mark(trial, CLOSED)
        self._members, self._results = [], {}
        self._rounds += self._round

    def _state(self) -> dict[str, Any]:
        return {
            "round": self._round,
            "rounds": self._rounds,
            "members": self._members.copy(),
            "born": [self._born[trial] for trial in self._members],
            "points": [dict(self._points[trial]) for trial in self._members],
            "results": {str(trial): list(losses) for trial, losses in self._results.items()},
        }

    def _load_state(self, state: Mapping[str, Any]) -> None:
        self._round, self._rounds = state["round"], state["rounds"]
        self._members = list(state["members"])
        self._born = dict(zip(self._members, state["born"], strict=True))
        self._points = dict(zip(self._members, map(dict, state["points"]), strict=True))
        self._results = {int(trial): tuple(losses) for trial, losses in state["results"].items()}


def _round_length(searcher: Mapping[str, Any]) -> int:
    length = searcher.get("length_per_round")
    if isinstance(length, Mapping):
        length = next(iter(length.values()), None)
    if isinstance(length, bool) or not isinstance(length, int) or length < 1:
        raise InvalidConfig([f"searcher.length_per_round is {length!r}; give a length such as {{batches: 1000}}."])
    return length
