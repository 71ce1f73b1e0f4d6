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

from resolute.search.shapes import COUNT, shapes_at

Matrix = NDArray[np.float64]

_FADE = 0.2
"""Weight of the oldest report beside the newest: no shape is right everywhere, and the end is near the newest."""
_GUESS = 2.0
"""Trials that the cohort so far counts for when it is learnt again."""
_EVERY_SHAPE = 8.0
"""Trials' worth of belief that all shapes are equally likely."""
_MISFIT = 1.5
"""Residuals of neighbouring reports go together, so they tell less than their number says."""
_GAPS = 0.1
"""Of what a curve has still to fall, so much is open whatever the shapes say: good trials may be unlike the usual."""
_LEAST = 1e-4
"""Of noise beside the scale of losses (both squared): the bank has gaps, so even curves without noise do not fit."""


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
    weights: tuple[float, ...]
    """Logarithms, one for each shape."""

    def snapshot(self) -> dict[str, Any]:
        return {
            "end": [self.end, self.end_variance],
            "start": [self.start, self.start_variance, self.tie],
            "noise": self.noise,
            "weights": list(self.weights),
        }

    @classmethod
    def of_snapshot(cls, snapshot: Mapping[str, Any]) -> "Cohort":
        end, end_variance = snapshot["end"]
        start, start_variance, tie = snapshot["start"]
        weights = tuple(snapshot["weights"])
        return cls(end, end_variance, start, start_variance, tie, snapshot["noise"], weights)


@dataclass(frozen=True, slots=True)
class CurveSums:
    """All that a forecast needs of one curve.

    `scalars`: weight, squares, first and last loss, roughness and its count, share of the full length.
    """

    scalars: tuple[float, ...]
    columns: Matrix
    """Rows: end*end, end*start, start*start, end*loss, start*loss; a column for each shape."""
    left: Matrix
    """Of each shape, how high it stands at the newest report."""


def sum_up(shares: Sequence[float], losses: Sequence[float], counts: Sequence[float]) -> CurveSums:
    share, loss = np.array(shares), np.array(losses)
    weight = np.array(counts) * (_FADE + (1.0 - _FADE) * share / share[-1])
    height = shapes_at(shares)
    weighed = weight * loss
    total, once, twice, crossed = float(weight.sum()), weight @ height, weight @ (height * height), weighed @ height
    bends = loss[2:] - 2.0 * loss[1:-1] + loss[:-2]
    scalars = (
        total,
        float(weighed @ loss),
        losses[0],
        losses[-1],
        float(bends @ bends) / 6.0,
        float(len(bends)),
        shares[-1],
    )
    columns = np.stack((total - 2.0 * once + twice, once - twice, twice, float(weighed.sum()) - crossed, crossed))
    return CurveSums(scalars, columns, height[-1])


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


class Field:
    """Curves of several trials, side by side."""

    def __init__(self, curves: Sequence[CurveSums]) -> None:
        scalars = np.array([curve.scalars for curve in curves])
        self.total, self._squares = scalars[:, :1], scalars[:, 1:2]
        self._first, self._last = scalars[:, 2], scalars[:, 3]
        self._reached = scalars[:, 6]
        self._roughness = float(scalars[:, 4].sum() / max(float(scalars[:, 5].sum()), 1.0))
        self._left = np.array([curve.left for curve in curves])
        self._columns = np.stack([curve.columns for curve in curves], axis=1)

    def posterior(self, cohort: Cohort, ends: Matrix | None = None, variances: Matrix | None = None) -> Posterior:
        """`ends` and `variances`: what is believed of each trial's end before its curve is seen; else the cohort's."""
        count = len(self.total)
        end = np.full((count, 1), cohort.end) if ends is None else ends[:, None]
        variance = np.full((count, 1), cohort.end_variance) if variances is None else variances[:, None]
        ee, es, ss, ey, sy = self._tied(cohort.tie)
        noise = cohort.noise
        toward_end = ey - ee * end - es * cohort.start
        toward_start = sy - es * end - ss * cohort.start
        end_weight, start_weight = ee + noise / variance, ss + noise / cohort.start_variance
        determinant = np.maximum(end_weight * start_weight - es * es, 1e-300)
        end_step = (start_weight * toward_end - es * toward_start) / determinant
        start_step = (end_weight * toward_start - es * toward_end) / determinant
        before = self._squares - end * (ey + toward_end) - cohort.start * (sy + toward_start)
        gained = toward_end * end_step + toward_start * start_step
        likelihood = (gained - before) / (2.0 * noise) - 0.5 * np.log(determinant) + np.array(cohort.weights)
        shapes = np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
        shapes /= shapes.sum(axis=1, keepdims=True)
        fall = cohort.start + start_step - (1.0 - cohort.tie) * (end + end_step)
        gaps = (_GAPS * self._left * fall) ** 2
        end_mean, end_variance = _mixed(shapes, end_step, noise * start_weight / determinant + gaps)
        start_mean, start_variance = _mixed(shapes, start_step, noise * end_weight / determinant)
        # Expected, not least, squares: what start and end leave open counts as far as curves, not beliefs, say it.
        pull = (end_step * end_step + noise * start_weight / determinant) / variance
        pull += (start_step * start_step + noise * end_weight / determinant) / cohort.start_variance
        residuals = (shapes * (before - gained - noise * pull)).sum(axis=1) + 2.0 * noise
        return Posterior(
            end_mean + end[:, 0], end_variance, start_mean + cohort.start, start_variance, shapes, residuals
        )

    def first_cohort(self) -> Cohort:
        """Broad: ends may lie anywhere near what was reported last."""
        scale, noise = self._scale(), max(self._roughness, 1e-3 * self._scale())
        last, first = float(np.median(self._last)), float(np.median(self._first))
        return Cohort(last, 4.0 * scale, first, 4.0 * scale, 0.0, _MISFIT * noise, (0.0,) * COUNT)

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
        noise = _MISFIT * noise / (float(self.total.sum()) + 4.0)
        # Short curves look like many shapes; what they seem to be must not become what all are.
        often = np.minimum(2.0 * self._reached, 1.0) ** 2 @ seen.shapes
        weights = tuple(np.log(often + _EVERY_SHAPE / COUNT).tolist())
        wide = 1e-2 * least
        return Cohort(end, max(end_variance, wide), start, max(start_variance, wide), tie, max(noise, least), weights)

    def _tied(self, tie: float) -> tuple[Matrix, ...]:
        ee, es, ss, ey, sy = self._columns
        if tie == 0.0:
            return ee, es, ss, ey, sy
        return ee + 2.0 * tie * es + tie * tie * ss, es + tie * ss, ss, ey + tie * sy, sy

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
        drops = self._first - self._last
        rounding = 1e-8 * float(self._squares.max() / self.total.min())
        return max(float(self._first.var()), float(self._last.var()), float((drops * drops).mean()), rounding, 1e-18)


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
