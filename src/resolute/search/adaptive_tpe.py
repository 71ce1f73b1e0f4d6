"""`adaptive_tpe`: trials that are stopped early, and a model of all trials so far that chooses the next.

Where trials report often enough for curves to have shapes, and for one objective, `early_stopping` says where each
will end, who is stopped, and what is tried next. Otherwise rungs decide: results at several lengths (`rung_forecast`)
teach the model, a newcomer at a rung is compared with the newest there, never more than their share go on, and between
rungs a trial is stopped when even the largest improvement seen from there on would not carry it past the next rung.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from resolute.search.brackets import BracketPlan, bracket_rungs, divisor_of, plan_halving, training_length
from resolute.search.density import Density, Matrix
from resolute.search.early_stopping import EARLIER_DOUBT, PARENTS, Beliefs, EarlyStopping
from resolute.search.events import Outcome
from resolute.search.halving import StoppingHalving
from resolute.search.improvements import Improvements
from resolute.search.learning_curves import LearningCurves
from resolute.search.pareto import best_first
from resolute.search.rng import Rng
from resolute.search.rung_forecast import RungForecast, forecast_from_rungs
from resolute.search.searcher import EarlierResult
from resolute.search.space import Assignment, Space
from resolute.search.surrogate import MOST_POINTS, Surrogate, improvement
from resolute.search.tpe import DEFAULT_STARTUP
from resolute.search.tracked_list import TrackedList
from resolute.search.trial_table import FAILED

_RANDOM_SHARE = 0.03
"""Trials drawn at random for good: they are how the model is found out where it is wrong."""
_CANDIDATES = 120
_STEPS = 2
"""Better weights of the surrogate are looked for so often at each fit."""
_WINDOW = 4
"""Newest results a newcomer is compared with, in multiples of the divisor: chosen trials get better and better."""
_UPPER_DIVISOR = 3.0
"""Above the first rung, where trials are few and have cost much already, at most this divisor."""
_CHECKS = 8
"""Times in a full training that the rest of a trial's curve is forecast."""
_FEWEST_CURVES = 4
_MOST_EARLIER = 30


class AdaptiveTpeSearcher(StoppingHalving):
    needs_free_parameter = True

    def __init__(self, searcher: Mapping[str, Any], space: Space, rng: Rng) -> None:
        super().__init__(searcher, space, rng)
        self._startup = int(searcher.get("startup_trials", DEFAULT_STARTUP))
        self._density = Density(space)
        self._surrogate = Surrogate(self._density.numbers, self._density.width - self._density.numbers)
        self._improvements = Improvements()
        self._length = training_length(searcher)
        self._learning_curves = LearningCurves()
        self._early_stopping = EarlyStopping(self._surrogate)
        self._rows: TrackedList[list[float]] = TrackedList()
        """Encoded points, one for each trial."""
        self._tried: set[tuple[float, ...]] = set()
        """The same, to look one up."""
        self._waiting_rows: list[list[float]] = []
        """Chosen by the last fit and not yet tried."""
        self._earlier: list[list[float]] = []
        """Encoded points of earlier results, best first."""

    def learn(self, earlier: list[EarlierResult]) -> None:
        ranking = best_first([self._objective.losses(result.metrics) for result in earlier])
        encoded = [self._density.encode(self._space.flat(earlier[at].hparams)) for at in ranking]
        # A new list: snapshots share the old one.
        self._earlier = self._earlier + encoded

    def _plan(self, searcher: Mapping[str, Any]) -> list[BracketPlan]:
        """Two brackets that begin higher than the boldest: the shortest trainings tell a model little or mislead it."""
        section = {**searcher, "name": "adaptive_asha", "mode": "aggressive", "bracket_rungs": []}
        length, trials = training_length(searcher), int(searcher["max_trials"])
        most = bracket_rungs(section, divisor_of(searcher), length, trials)[0]
        first = max(most - 1, min(most, 2))
        return plan_halving({**section, "bracket_rungs": [first, first - 1] if first > 2 else [first]})

    # Choosing trials.

    def _propose(self, bracket: int) -> Assignment:
        point = self._modelled()
        row = self._density.encode(point)
        self._rows.append(row)
        self._tried.add(tuple(row))
        return point

    def _modelled(self) -> Assignment:
        if self._queued or self._is_early() or self._rng.unit() < _RANDOM_SHARE:
            return self._draw()
        if not self._waiting_rows:
            self._waiting_rows = self._chosen()
        if not self._waiting_rows:
            # Nothing new is left in a small space.
            return self._draw()
        return self._density.decode(np.array(self._waiting_rows.pop(0)), self._rng)

    def _is_early(self) -> bool:
        known = sum(len(bracket.rungs[0].order) for bracket in self._brackets)
        return known + len(self._earlier) < self._startup

    def _chosen(self) -> list[list[float]]:
        """Of candidates that were not tried, the greatest expected improvement and, often another, the lowest loss."""
        random = np.random.Generator(np.random.PCG64(self._rng.bits()))
        if self._is_dense():
            return self._early_stopping.choose(self._beliefs(random), self._density, self._tried, random)
        points = self._fit(self._rung_forecast(), random)
        means = self._surrogate.believed
        candidates = self._density.draws(points[np.argsort(means)[:PARENTS]], _CANDIDATES, random)
        expected, deviations = self._surrogate.predict(candidates)
        fresh = [at for at, row in enumerate(candidates.tolist()) if tuple(row) not in self._tried]
        if not fresh:
            return []
        hopeful = fresh[int(np.argmax(improvement(expected, deviations, float(means.min()))[fresh]))]
        lowest = fresh[int(np.argmin(expected[fresh]))]
        return [candidates[at].tolist() for at in dict.fromkeys((hopeful, lowest))]

    def _is_dense(self) -> bool:
        return len(self._learning_curves.shares) >= _FEWEST_CURVES and self._learning_curves.is_dense()

    def _beliefs(self, random: np.random.Generator) -> Beliefs:
        running = {trial for trial in self._trials.open if self._trials.is_running(trial) and trial < len(self._rows)}
        failed = {trial for trial, status in enumerate(self._trials.status) if status == FAILED}
        lost = self._learning_curves.lost | failed
        known = self._earlier[:_MOST_EARLIER]
        return self._early_stopping.form(self._learning_curves, self._rows, running, lost, known, random)

    def _fit(self, forecast: RungForecast, random: np.random.Generator) -> Matrix:
        """Teach the surrogate the best-known and newest trials; returns their points."""
        order = np.lexsort((-np.array(forecast.trials), forecast.doubts))[:MOST_POINTS]
        rows = [self._rows[forecast.trials[at]] for at in order]
        means, doubts = forecast.means[order], forecast.doubts[order]
        room = MOST_POINTS - len(rows)
        if self._earlier and room > 0:
            known = self._earlier[:room]
            rows += known
            means = np.append(means, np.linspace(-1.5, 1.5, len(known)))
            doubts = np.append(doubts, np.full(len(known), EARLIER_DOUBT))
        points: Matrix = np.array(rows)
        self._surrogate.fit(points, means, doubts, random, steps=_STEPS)
        return points

    def _rung_forecast(self) -> RungForecast:
        """All results, by length. Several objectives are one here: the place among the others."""
        levels: dict[int, tuple[list[int], list[float]]] = {}
        for bracket in self._brackets:
            for rung in bracket.rungs:
                losses = [float(place) for place in range(len(rung.order))] if rung.vectors else rung.losses
                trials, known = levels.get(rung.units, ([], []))
                levels[rung.units] = trials + rung.order, known + losses
        return forecast_from_rungs(levels)

    # Stopping trials.

    def _validated(self, trial: int, time: float, losses: tuple[float, ...], outcome: Outcome) -> None:
        share = min(max(time / self._length, 1e-9), 1.0)
        before = self._learning_curves.shares.get(trial, [0.0])[-1]
        if self._objective.is_single:
            self._learning_curves.add(trial, share, losses[0])
            self._early_stopping.note_report()
        super()._validated(trial, time, losses, outcome)
        if self._objective.is_single and self._is_dense():
            self._look_at(trial, before, share, outcome)
            return
        if not self._objective.is_single or not self._trials.is_running(trial) or self._rung_of[trial] == 0:
            return
        self._improvements.add(trial, time, losses[0])
        if self._is_hopeless(trial, time, losses[0]):
            self._stop(trial, outcome)
            self._refill(self._bracket_of[trial], outcome)

    def _look_at(self, trial: int, before: float, share: float, outcome: Outcome) -> None:
        """A few times in a training: has this trial still a chance to become the best?"""
        is_due = int(before * _CHECKS) < int(share * _CHECKS) and share < 1.0
        if not is_due or not self._trials.is_running(trial) or self._is_spared(trial, share):
            return
        if self._has_no_prospect(trial):
            self._stop(trial, outcome)
            self._refill(self._bracket_of[trial], outcome)

    def _is_spared(self, trial: int, share: float) -> bool:
        if self._patience.spares(self._rung_of[trial], share * self._length):
            return True
        has_more = any(bracket.has_budget for bracket in self._brackets) or self._trials.count("r") > 1
        # Somebody must train to the end.
        return not has_more and not any(shares[-1] >= 1.0 for shares in self._learning_curves.shares.values())

    def _has_no_prospect(self, trial: int) -> bool:
        if trial in self._learning_curves.lost:
            return True
        if self._early_stopping.is_stale(trial):
            self._beliefs(np.random.Generator(np.random.PCG64(self._rng.bits())))
        return self._early_stopping.is_hopeless(trial, self._learning_curves)

    def _may_go_on(self, trial: int, at: int, number: int, place: int) -> bool:
        rung = self._brackets[at].rungs[number]
        if self._patience.spares(number, rung.units) or (self._objective.is_single and self._is_dense()):
            return True
        divisor = self._divisor if number == 0 else min(self._divisor, _UPPER_DIVISOR)
        passed = self._passed(at, number)
        if self._is_needed(at, number, passed):
            return True
        if passed + 1 > len(rung.order) / divisor:
            return False
        others = sorted((other for other in rung.order if other != trial), reverse=True)
        newest = [trial, *others[: int(_WINDOW * self._divisor) - 1]]
        ahead = set(rung.order[:place])
        return sum(1 for other in newest if other in ahead) < max(len(newest) / divisor, 1.0)

    def _passed(self, at: int, number: int) -> int:
        pairs = zip(self._bracket_of, self._rung_of, strict=True)
        return sum(1 for bracket, rung in pairs if bracket == at and rung > number)

    def _is_needed(self, at: int, number: int, passed: int) -> bool:
        """So few may still come that all of them must go on, or nobody would train to the end."""
        bracket = self._brackets[at]
        planned = max(int(bracket.max_trials / self._divisor ** (number + 1)), 1)
        to_come = bracket.max_trials - bracket.created
        running = (other for other in self._trials.open if self._trials.is_running(other))
        to_come += sum(1 for other in running if self._bracket_of[other] == at and self._rung_of[other] <= number)
        # The one that asks is still among the running.
        return passed + to_come <= planned

    def _is_hopeless(self, trial: int, time: float, loss: float) -> bool:
        """Would the largest improvement seen between here and the next rung still leave it below the cut?"""
        number = self._rung_of[trial]
        rung = self._brackets[self._bracket_of[trial]].rungs[number]
        if number == 0 or self._patience.spares(number, rung.units) or len(rung.losses) < self._divisor:
            return False
        gain = self._improvements.largest_gain(time, rung.units)
        return gain is not None and loss - gain > rung.losses[rung.quota(self._divisor) - 1]

    def _state(self) -> dict[str, Any]:
        return {
            **super()._state(),
            "rows": self._rows.written(),
            "waiting_rows": self._waiting_rows.copy(),
            "weights": self._surrogate.weights.tolist(),
            "earlier": self._earlier,
            "curves": self._improvements.snapshot(),
            "logbook": self._learning_curves.snapshot(),
            "prospects": self._early_stopping.snapshot(),
        }

    def _load_state(self, state: Mapping[str, Any]) -> None:
        super()._load_state(state)
        self._rows = TrackedList(list(row) for row in state["rows"])
        self._tried = {tuple(row) for row in self._rows}
        self._waiting_rows = [list(row) for row in state.get("waiting_rows", [])]
        numbers = self._density.numbers
        self._surrogate = Surrogate(numbers, self._density.width - numbers, state.get("weights", ()))
        self._earlier = [list(row) for row in state["earlier"]]
        self._improvements = Improvements.of_snapshot(state["curves"])
        self._early_stopping = EarlyStopping(self._surrogate)
        if "logbook" in state:
            self._learning_curves = LearningCurves.of_snapshot(state["logbook"])
            self._early_stopping.load(state["prospects"])
