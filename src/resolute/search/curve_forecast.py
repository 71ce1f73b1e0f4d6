"""Where learning curves end, and how sure that is: a mixture of shapes, each with a start and an end of its own.

A curve is end + (start - end) * shape + noise. Given a shape that is linear in start and end, so their posterior and
the likelihood of the shape are closed formulas over a few sums of the curve. What all trials of a search have in common
(`Cohort`: usual starts and ends, noise, which shapes happen) is learnt from them. No configuration is looked at here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from resolute.search.curve_shapes import COUNT, shapes_at

Matrix = NDArray[np.float64]

_FADE = 0.5
"""Weight of the oldest report beside the newest: no shape is right everywhere, and the end is near the newest."""
_GUESS = 2.0
"""Trials that the cohort so far counts for when it is learnt again."""
_EVERY_SHAPE = 14.0
"""Trials' worth of belief that all shapes are equally likely."""
_MISFIT = 1.5
"""Residuals of neighbouring reports go together, so they tell less than their number says."""
_GAPS = 0.1
"""Of what a curve has still to fall, so much is open whatever the shapes say: good trials may be unlike the usual."""
_LEAST = 1e-4
"""Of noise beside the scale of losses (both squared): the bank has gaps, so even curves without noise do not fit."""
_MOST_NOISE = 2.0
"""Beside what neighbouring reports say of it. A curve far from what is expected must not be explained away as noise."""
_MOST_GAP = 30.0
"""In multiples of `_LEAST`: so much of it may be curves that fit no shape, however smooth they are."""
_LEAST_SPREAD = 0.5
"""Ends differ by at least this share of the variance of what was reported last."""
_LATE_REPORTS = 8
"""At the end of a curve, from which the noise of its last report is told: it may be less there than at the start."""
_CAP = 1.5
"""Ends further above the median than so many times the best is below it are all the same: bad."""


@dataclass(frozen=True, slots=True)
class Cohort:
    end: float
    end_variance: float
    start: float
    start_variance: float
    tie: float
    """How much higher a trial starts that ends higher by 1; `start` is what is left of the start without it."""
    noise: float
    """Variance of a report."""
    weights: Matrix
    """Logarithms, one for each shape."""

    def snapshot(self) -> dict[str, Any]:
        return {
            "end": [self.end, self.end_variance],
            "start": [self.start, self.start_variance, self.tie],
            "noise": self.noise,
            "weights": self.weights.tolist(),
        }

    @classmethod
    def of_snapshot(cls, snapshot: Mapping[str, Any]) -> "Cohort":
        end, end_variance = snapshot["end"]
        start, start_variance, tie = snapshot["start"]
        weights = np.array(snapshot["weights"])
        if len(weights) != COUNT:
            # Kept by a version with another bank of shapes; which of them happen is learnt anew.
            weights = np.zeros(COUNT)
        return cls(end, end_variance, start, start_variance, tie, snapshot["noise"], weights)


@dataclass(frozen=True, slots=True)
class CurveSums:
    """All that a forecast needs of one curve.

    `scalars`: weight, squares, first and last loss, roughness and its count, share of the full length, late roughness.
    """

    scalars: tuple[float, ...]
    columns: Matrix
    """Rows: end*end, end*start, start*start, end*loss, start*loss, and how high a shape stands at the newest report; a
    column for each shape."""


def sum_up(shares: Sequence[float], losses: Sequence[float], counts: Sequence[float]) -> CurveSums:
    share, loss, count = np.array(shares), np.array(losses), np.array(counts)
    weight = count * (_FADE + (1.0 - _FADE) * share / share[-1])
    height, squared = shapes_at(tuple(shares))
    weighed = weight * loss
    total, once, twice, crossed = float(weight.sum()), weight @ height, weight @ squared, weighed @ height
    # Of single reports: averages of several are smoother.
    bends = (loss[2:] - 2.0 * loss[1:-1] + loss[:-2]) ** 2 * count[1:-1] / 6.0
    scalars = (
        total,
        float(weighed @ loss),
        losses[0],
        losses[-1],
        float(bends.sum()),
        float(len(bends)),
        shares[-1],
        float(bends[-_LATE_REPORTS:].mean()) if len(bends) else 0.0,
    )
    columns = np.empty((6, COUNT))
    columns[0] = total - 2.0 * once + twice
    columns[1] = once - twice
    columns[2] = twice
    columns[3] = float(weighed.sum()) - crossed
    columns[4] = crossed
    columns[5] = height[-1]
    return CurveSums(scalars, columns)


@dataclass(frozen=True, slots=True)
class Posterior:
    """Of each trial. Starts are without their tie to the end."""

    ends: Matrix
    end_variances: Matrix
    starts: Matrix
    start_variances: Matrix
    shapes: Matrix
    """Probabilities, a row for each trial."""
    residuals: Matrix
    """Weighed squares that the curve leaves."""


@dataclass(frozen=True, slots=True)
class _Fits:
    """Of every trial (row) and shape (column): the best start and end, as steps from what was believed before."""

    end_steps: Matrix
    end_variances: Matrix
    start_steps: Matrix
    start_variances: Matrix
    left: Matrix
    """Weighed squares, beliefs counted in."""
    shapes: Matrix
    """Probabilities."""


class Field:
    """Curves of several trials, side by side."""

    def __init__(self, curves: Sequence[CurveSums]) -> None:
        scalars = np.array([curve.scalars for curve in curves])
        self.total, self._squares = scalars[:, :1], scalars[:, 1:2]
        self._first, self.last = scalars[:, 2], scalars[:, 3]
        self._reached, self._late = scalars[:, 6], scalars[:, 7]
        self._roughness = float(scalars[:, 4].sum() / max(float(scalars[:, 5].sum()), 1.0))
        # Joining flat rows is several times quicker than stacking matrices.
        rows = np.concatenate([curve.columns.reshape(-1) for curve in curves]).reshape(len(curves), 6, COUNT)
        *self._columns, self._left = np.ascontiguousarray(rows.transpose(1, 0, 2))
        self._tie, self._with_tie = 0.0, tuple(self._columns)

    @property
    def is_done(self) -> NDArray[np.bool_]:
        """Which curves have come to the full length."""
        done: NDArray[np.bool_] = self._reached >= 1.0
        return done

    def last_noise(self) -> float:
        """Variance of the last report of a full training."""
        done = self.is_done
        return max(float(self._late[done].mean()), 1e-3 * self._roughness) if done.any() else self._roughness

    def forecast(self, cohort: Cohort, ends: Matrix, variances: Matrix) -> tuple[Matrix, Matrix]:
        """Means and variances of the ends, from what is believed of each trial's end before its curve is seen."""
        return self._mixed_ends(cohort, ends, self._fitted(cohort, ends[:, None], variances[:, None]))

    def _mixed_ends(self, cohort: Cohort, ends: Matrix, fits: _Fits) -> tuple[Matrix, Matrix]:
        fall = cohort.start + fits.start_steps - (1.0 - cohort.tie) * (ends[:, None] + fits.end_steps)
        step, variance = _mixed(fits.shapes, fits.end_steps, fits.end_variances + (_GAPS * self._left * fall) ** 2)
        return step + ends, variance

    def posterior(self, cohort: Cohort) -> Posterior:
        """Of all that the cohort tells of, where a trial is believed to be as the cohort is."""
        count = len(self.total)
        ends, variances = np.full(count, cohort.end), np.full(count, cohort.end_variance)
        fits = self._fitted(cohort, ends[:, None], variances[:, None])
        found, variance = self._mixed_ends(cohort, ends, fits)
        start_step, start_variance = _mixed(fits.shapes, fits.start_steps, fits.start_variances)
        # Expected, not least, squares: what start and end leave open counts as far as curves, not beliefs, say it.
        pull = (fits.end_steps**2 + fits.end_variances) / cohort.end_variance
        pull += (fits.start_steps**2 + fits.start_variances) / cohort.start_variance
        residuals = (fits.shapes * (fits.left - cohort.noise * pull)).sum(axis=1) + 2.0 * cohort.noise
        return Posterior(found, variance, start_step + cohort.start, start_variance, fits.shapes, residuals)

    def _fitted(self, cohort: Cohort, end: Matrix, variance: Matrix) -> _Fits:
        ee, es, ss, ey, sy = self._tied(cohort.tie)
        noise, start = cohort.noise, cohort.start
        toward_end = ey - ee * end
        toward_end -= es * start
        toward_start = sy - es * end
        toward_start -= ss * start
        end_weight, start_weight = ee + noise / variance, ss + noise / cohort.start_variance
        determinant = end_weight * start_weight
        determinant -= es * es
        np.maximum(determinant, 1e-300, out=determinant)
        unit = 1.0 / determinant
        end_step = (start_weight * toward_end - es * toward_start) * unit
        start_step = (end_weight * toward_start - es * toward_end) * unit
        left = self._squares - end * (ey + toward_end)
        left -= start * (sy + toward_start)
        left -= toward_end * end_step
        left -= toward_start * start_step
        likelihood = left / (-2.0 * noise) + cohort.weights
        likelihood -= 0.5 * np.log(determinant)
        likelihood -= likelihood.max(axis=1, keepdims=True)
        shapes = np.exp(likelihood, out=likelihood)
        shapes /= shapes.sum(axis=1, keepdims=True)
        unit *= noise
        return _Fits(end_step, unit * start_weight, start_step, unit * end_weight, left, shapes)

    def first_cohort(self) -> Cohort:
        """Broad: ends may lie anywhere near what was reported last."""
        scale, noise = self._scale(), max(self._roughness, 1e-3 * self._scale())
        last, first = float(np.median(self.last)), float(np.median(self._first))
        return Cohort(last, 4.0 * scale, first, 4.0 * scale, 0.0, _MISFIT * noise, np.zeros(COUNT))

    def learnt(self, cohort: Cohort) -> Cohort:
        """One step from `cohort` to what these curves have in common."""
        seen, least = self.posterior(cohort), _LEAST * self._scale()
        tie = self._learnt_tie(cohort, seen)
        starts = seen.starts + (cohort.tie - tie) * seen.ends
        end, end_variance = _moments(seen.ends, seen.end_variances, cohort.end, cohort.end_variance, _GUESS)
        start, start_variance = _moments(
            starts, seen.start_variances, cohort.start, cohort.start_variance, _GUESS / 2.0
        )
        noise = float(np.maximum(seen.residuals, 0.0).sum()) + 4.0 * self._roughness
        noise = noise / (float(self.total.sum()) + 4.0)
        noise = _MISFIT * min(noise, max(_MOST_NOISE * self._roughness, _MOST_GAP * least))
        # Short curves look like many shapes; what they seem to be must not become what all are.
        often = np.minimum(2.0 * self._reached, 1.0) ** 2 @ seen.shapes
        weights = np.log(often + _EVERY_SHAPE / COUNT)
        wide = 1e-2 * least
        end_variance = max(end_variance, _LEAST_SPREAD * float(np.minimum(self.last, cut_off(self.last)).var()))
        return Cohort(end, max(end_variance, wide), start, max(start_variance, wide), tie, max(noise, least), weights)

    def _tied(self, tie: float) -> tuple[Matrix, ...]:
        """The same tie is asked for several times in a row."""
        if tie != self._tie:
            ee, es, ss, ey, sy = self._columns
            self._tie, self._with_tie = tie, (ee + tie * (2.0 * es + tie * ss), es + tie * ss, ss, ey + tie * sy, sy)
        return self._with_tie

    def _learnt_tie(self, cohort: Cohort, seen: Posterior) -> float:
        """The slope of starts over ends, of the trials that know both; none where few do."""
        spread = cohort.start_variance + cohort.tie**2 * cohort.end_variance
        known = 1.0 - np.minimum(seen.end_variances / cohort.end_variance, 1.0)
        known = (known * (1.0 - np.minimum(seen.start_variances / spread, 1.0))) ** 2
        total = float(known.sum()) + 1e-9
        starts = seen.starts + cohort.tie * seen.ends
        ends_away = seen.ends - float(known @ seen.ends) / total
        starts_away = starts - float(known @ starts) / total
        slope = float(known @ (ends_away * starts_away))
        return min(max(slope / (float(known @ ends_away**2) + 2.0 * cohort.end_variance), 0.0), 1.2)

    def _scale(self) -> float:
        """Of losses, squared; never so small beside the losses themselves that differences are rounding errors."""
        drops = self._first - self.last
        rounding = 1e-8 * float(self._squares.max() / self.total.min())
        return max(float(self._first.var()), float(self.last.var()), float((drops * drops).mean()), rounding, 1e-18)


def cut_off(ends: Matrix) -> float:
    """Where bad becomes too bad to tell apart."""
    ordered = np.sort(ends)
    middle = float(ordered[len(ordered) // 2])
    return middle + _CAP * (middle - float(ordered[0])) if len(ordered) > 3 else float(ordered[-1])


def _mixed(shapes: Matrix, means: Matrix, variances: Matrix) -> tuple[Matrix, Matrix]:
    mean = (shapes * means).sum(axis=1)
    variance = (shapes * (variances + means * means)).sum(axis=1) - mean * mean
    return mean, np.maximum(variance, 1e-9 * variances.min())


def _moments(means: Matrix, variances: Matrix, before: float, spread: float, guess: float) -> tuple[float, float]:
    """Mean and variance over trials, each counting as far as its curve has told something."""
    told = 1.0 - np.minimum(variances / spread, 0.99)
    total = float(told.sum()) + guess
    mean = (float(told @ means) + guess * before) / total
    return mean, (float(told @ ((means - mean) ** 2 + variances)) + guess * spread) / total
