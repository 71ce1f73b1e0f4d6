"""What is believed of every trial's end, from its own curve and from trials like it; and who has no prospect left.

Curves alone leave doubt, and so do neighbours. The surrogate learns from the forecasts of all curves; what it says of a
trial without that trial's own curve is where that curve's forecast then begins. One more round of the same removes most
of what the first, broad guess put into the forecasts. Decides nothing about brackets or budgets.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from resolute.search.curve_forecast import Cohort, CurveSums, Field, Matrix, cut_off, sum_up
from resolute.search.density import Density
from resolute.search.learning_curves import LearningCurves
from resolute.search.surrogate import Surrogate, improvement

MOST_TRIALS = 80
"""A fit costs their cube."""
REFIT_AFTER = 60
"""Reports after which beliefs are formed anew although nobody asked for a new trial."""
_BROAD = 4.0
_UNSEEN = 1e6
_SETTLED = 0.01
"""Doubt of a running trial when the next one is chosen: soon it will be known."""
_LOST = 2.0
"""How bad, in spreads above the median, a trial is that went wrong."""
_LOST_DOUBT = 0.1
EARLIER_DOUBT = 0.5
_STEPS = 4
_CANDIDATES = 400
_AT_ONCE = 2
"""Trials that are chosen with one fit."""
PARENTS = 10
_LEAST_CHANCE = 0.1
"""Of passing the best rival; below it a trial is hopeless. One in all trials so far if that is less: the more have been
tried, the rarer is a better one, and the dearer its loss."""


@dataclass(frozen=True, slots=True)
class Beliefs:
    points: Matrix
    ends: Matrix
    """Expected final losses, standardised."""
    settled: tuple[Matrix, Matrix, Matrix]
    """Points, means and doubts for a surrogate to which running trials are as good as done."""


@dataclass(frozen=True, slots=True)
class Rival:
    trial: int
    loss: float
    variance: float


@dataclass(frozen=True, slots=True)
class _Scale:
    """Ends around their median, in units of their spread; the worst are cut off."""

    centre: float
    spread: float
    cap: float

    @classmethod
    def of(cls, ends: Matrix, noise: float) -> "_Scale":
        highest = cut_off(ends)
        known = np.minimum(ends, highest)
        centre, spread = float(np.median(known)), max(float(known.std()), math.sqrt(noise))
        return cls(centre, spread, (highest - centre) / spread)

    def down(self, losses: Matrix) -> Matrix:
        scaled: Matrix = (losses - self.centre) / self.spread
        return scaled

    def up(self, scaled: Matrix) -> Matrix:
        losses: Matrix = self.centre + self.spread * scaled
        return losses


@dataclass(frozen=True, slots=True)
class _Others:
    """Points without a curve: trials that have not reported, trials that went wrong, results of other searches."""

    unseen: list[int]
    gone: list[int]
    earlier: int

    def means(self) -> Matrix:
        unseen, gone = np.zeros(len(self.unseen)), np.full(len(self.gone), _LOST)
        return np.concatenate((unseen, gone, np.linspace(-1.5, 1.5, self.earlier)))

    def doubts(self) -> Matrix:
        counts = [len(self.unseen), len(self.gone), self.earlier]
        doubts: Matrix = np.repeat([_UNSEEN, _LOST_DOUBT, EARLIER_DOUBT], counts)
        return doubts


@dataclass(frozen=True, slots=True)
class _Views:
    """All but the scale itself are on the scale."""

    scale: _Scale
    means: Matrix
    """What the surrogate was taught of each point."""
    doubts: Matrix
    ends: Matrix
    """Of trials that are open or have a curve: curve and neighbours together."""
    variances: Matrix
    alike: Matrix
    """Of the same: the neighbours alone."""
    alike_variances: Matrix


class EarlyStopping:
    def __init__(self, surrogate: Surrogate) -> None:
        self.surrogate = surrogate
        self._cohort: Cohort | None = None
        self._expected: dict[int, tuple[float, float]] = {}
        """Of running trials: mean and variance of the end as trials like them have it."""
        self._rivals: list[Rival] = []
        """The best two: trials in training by their expected end, others by the best they reported, luck left out."""
        self._kept: dict[str, Any] = {"cohort": None, "expected": [], "rivals": []}
        """For snapshots: made anew when beliefs are, never changed."""
        self._age = 0
        self._sums: dict[int, tuple[list[float], CurveSums]] = {}
        """Rebuilt from the learning curves whenever a curve has grown; not part of the state."""

    def note_report(self) -> None:
        self._age += 1

    def is_stale(self, trial: int) -> bool:
        return self._cohort is None or self._age >= REFIT_AFTER or trial not in self._expected

    def form(
        self,
        curves: LearningCurves,
        rows: Sequence[list[float]],
        running: set[int],
        lost: set[int],
        earlier: Sequence[list[float]],
        random: np.random.Generator,
    ) -> Beliefs:
        """Needs learning curves with at least one curve."""
        self._age = 0
        trials = _chosen(curves, lost)
        field = Field([self._summed(trial, curves) for trial in trials])
        cohort = self._learn(field)
        unseen = sorted(trial for trial in running if trial not in curves.shares and trial not in lost)
        others = _Others(unseen, sorted(lost)[-MOST_TRIALS // 4 :], len(earlier))
        points = np.array([rows[trial] for trial in (*trials, *unseen, *others.gone)] + [list(row) for row in earlier])
        views = self._agree(field, cohort, points, others, random)
        everyone = [*trials, *unseen]
        self._remember(everyone, views, running, curves)
        is_running = np.array([trial in running for trial in everyone] + [False] * (len(points) - len(everyone)))
        believed = np.concatenate((views.ends, views.means[len(everyone) :]))
        settled = points, np.where(is_running, believed, views.means), np.where(is_running, _SETTLED, views.doubts)
        return Beliefs(points[: len(everyone)], views.ends, settled)

    def _agree(
        self, field: Field, cohort: Cohort, points: Matrix, others: "_Others", random: np.random.Generator
    ) -> "_Views":
        """Curves teach the surrogate, the surrogate gives each curve a better start, and once more."""
        count = len(field.total)
        seen = count + len(others.unseen)
        prior, variance = np.full(count, cohort.end), np.full(count, _BROAD * cohort.end_variance)
        expected, spreads = field.forecast(cohort, prior, variance)
        scale = _Scale.of(expected, cohort.noise)
        prior, variance = scale.down(prior), variance / scale.spread**2
        for steps in (_STEPS, 0):
            ends, variances = scale.down(expected), spreads / scale.spread**2
            means, doubts = _without(ends, variances, prior, variance)
            # A curve that has come to its end says by itself where that is.
            means = np.where(field.is_done, scale.down(field.last), means)
            doubts = np.where(field.is_done, field.last_noise() / scale.spread**2, doubts)
            means = np.concatenate((np.minimum(means, scale.cap), others.means()))
            doubts = np.concatenate((doubts, others.doubts()))
            self.surrogate.fit(points, means, doubts, random, steps=steps)
            alike, alike_variance = self.surrogate.left_out(means, doubts)
            prior, variance = alike[:count], alike_variance[:count]
            expected, spreads = field.forecast(cohort, scale.up(prior), scale.spread**2 * variance)
        ends = np.concatenate((scale.down(expected), alike[count:seen]))
        variances = np.concatenate((spreads / scale.spread**2, alike_variance[count:seen]))
        return _Views(scale, means, doubts, ends, variances, alike[:seen], alike_variance[:seen])

    def _remember(self, trials: list[int], views: "_Views", running: set[int], curves: LearningCurves) -> None:
        """What later questions about single trials need. A stopped trial will not come to its end: it counts with
        what it has shown, unless that was luck."""
        scale, square = views.scale, views.scale.spread**2
        expected = zip(trials, scale.up(views.alike).tolist(), (square * views.alike_variances).tolist(), strict=True)
        self._expected = {trial: (mean, variance) for trial, mean, variance in expected if trial in running}
        believed = zip(trials, scale.up(views.ends).tolist(), (square * views.variances).tolist(), strict=True)
        rivals = sorted(
            (end, trial, variance) if trial in running else (max(curves.best[trial], end), trial, 0.0)
            for trial, end, variance in believed
        )
        self._rivals = [Rival(trial, loss, variance) for loss, trial, variance in rivals[:2]]
        self._keep()

    def _keep(self) -> None:
        self._kept = {
            "cohort": self._cohort.snapshot() if self._cohort else None,
            "expected": [[trial, *expected] for trial, expected in self._expected.items()],
            "rivals": [[rival.trial, rival.loss, rival.variance] for rival in self._rivals],
        }

    def choose(
        self, beliefs: Beliefs, density: Density, taken: set[tuple[float, ...]], random: np.random.Generator
    ) -> list[list[float]]:
        """A few candidates that promise the most improvement, away from one another; fewer where none is left."""
        self.surrogate.fit(*beliefs.settled, random, steps=0)
        parents = beliefs.points[np.argsort(beliefs.ends)[:PARENTS]]
        candidates = density.draws(parents, _CANDIDATES, random)
        means, deviations = self.surrogate.predict(candidates)
        promise = improvement(means, deviations, float(self.surrogate.believed.min()))
        chosen: list[list[float]] = []
        while len(chosen) < _AT_ONCE and promise.max() >= 0.0:
            at = int(np.argmax(promise))
            row = candidates[at].tolist()
            if tuple(row) not in taken and row not in chosen:
                chosen.append(row)
                alike = self.surrogate.likeness(candidates, candidates[at : at + 1])[:, 0]
                promise *= 1.0 - alike * alike
            promise[at] = -1.0
        return chosen

    def is_hopeless(self, trial: int, curves: LearningCurves) -> bool:
        """Ask only when beliefs are not stale."""
        rival = next((rival for rival in self._rivals if rival.trial != trial), None)
        if rival is None or self._cohort is None or trial not in curves.shares:
            return False
        mean, variance = self._expected[trial]
        field = Field([self._summed(trial, curves)])
        ends, variances = field.forecast(self._cohort, np.array([mean]), np.array([variance]))
        deviation = math.sqrt(float(variances[0]) + rival.variance)
        ahead = (rival.loss - float(ends[0])) / max(deviation, 1e-150)
        return 0.5 * math.erfc(-ahead / math.sqrt(2.0)) < min(_LEAST_CHANCE, 1.0 / len(curves.shares))

    def _summed(self, trial: int, curves: LearningCurves) -> CurveSums:
        """Lists of learning curves are replaced when they grow, so the same list means the same curve."""
        losses = curves.losses[trial]
        known = self._sums.get(trial)
        if known is None or known[0] is not losses:
            known = losses, sum_up(curves.shares[trial], losses, curves.counts[trial])
            self._sums[trial] = known
        return known[1]

    def _learn(self, field: Field) -> Cohort:
        if self._cohort is None:
            self._cohort = field.learnt(field.learnt(field.first_cohort()))
        self._cohort = field.learnt(self._cohort)
        return self._cohort

    def snapshot(self) -> dict[str, Any]:
        return {**self._kept, "age": self._age}

    def load(self, snapshot: Mapping[str, Any]) -> None:
        self._cohort = Cohort.of_snapshot(snapshot["cohort"]) if snapshot["cohort"] else None
        self._expected = {trial: (mean, variance) for trial, mean, variance in snapshot["expected"]}
        self._rivals = [Rival(*rival) for rival in snapshot["rivals"]]
        self._age = snapshot["age"]
        self._keep()


def _chosen(curves: LearningCurves, lost: set[int]) -> list[int]:
    """Of many trials, those that came furthest and the newest."""
    trials = [trial for trial in curves.shares if trial not in lost] or list(curves.shares)
    if len(trials) <= MOST_TRIALS:
        return trials
    half = MOST_TRIALS // 2
    by_length = [trial for _, trial in sorted((curves.shares[trial][-1], trial) for trial in trials)]
    return sorted(by_length[-half:] + sorted(by_length[:-half])[-half:])


def _without(ends: Matrix, variances: Matrix, prior: Matrix, prior_variance: Matrix) -> tuple[Matrix, Matrix]:
    """What the curve itself says: the posterior with its prior taken out, as an observation and its doubt."""
    told = np.maximum(1.0 / variances - 1.0 / prior_variance, 1e-3 / prior_variance)
    means = (ends / variances - prior / prior_variance) / told
    # Nearly nothing was told, and dividing by nearly nothing says anything.
    means = np.where(told * prior_variance < 0.03, prior, means)
    return means, 1.0 / told
