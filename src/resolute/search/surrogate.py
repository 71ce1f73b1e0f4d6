"""A Gaussian process over encoded points: what is the final loss of a point that nobody has tried?

Numbers are compared by distance, choices by being the same or not; how much each parameter matters is learnt, by a few
random steps at a time that are kept when they explain the observations better, so that each fit stays cheap.
"""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

MOST_POINTS = 80
"""A fit costs their cube."""
_LENGTH = 0.5
"""Of numbers on the unit scale, where nothing is known."""
_BELIEF = 1.5
"""How far the logarithms of weights may go from their start."""
_STEP = 0.5
_SMALL = 32
"""Points from which on a triangular matrix is worth cutting in quarters."""
_erfc = np.frompyfunc(math.erfc, 1, 1)


class Surrogate:
    """`numbers` columns of a row are numbers from 0 to 1, the rest positions among choices."""

    def __init__(self, numbers: int, choices: int, weights: Sequence[float] = ()) -> None:
        self._numbers = numbers
        self._width = numbers + choices
        first = [2.0 / _LENGTH**2 / self._width] * numbers + [2.0 / self._width] * choices
        self._first = np.array(first)
        self.weights = np.array(weights if len(weights) else [0.0] * (self._width + 1))
        """Logarithms: of the weight of each parameter beside its start, and of the factor on all doubts."""
        self._points: Matrix = np.zeros((0, self._width))
        self._apart: Matrix = np.zeros((self._width, 0))
        """Of each parameter (row) and pair of points: their squared distance, or 1 for two different choices."""
        self._inverse: Matrix = np.zeros((0, 0))
        """Of the Cholesky factor: three answers need it, and one inverse is cheaper than three solutions."""
        self._solved: Matrix = np.zeros(0)
        self._scale = 1.0
        self.believed: Matrix = np.zeros(0)
        """Means at the points of the last fit."""

    def fit(self, points: Matrix, means: Matrix, doubts: Matrix, random: np.random.Generator, *, steps: int) -> None:
        """Take observations in. With `steps`, look for better weights that many times."""
        if points is not self._points:
            self._points, self._apart = points, self._distances(points)
        best, weights = self._explained(means, doubts, self.weights), self.weights
        for _ in range(steps):
            is_moved = random.random(len(weights)) < max(0.4, 1.0 / len(weights))
            tried = weights + is_moved * random.normal(0.0, _STEP, len(weights))
            found = self._explained(means, doubts, tried)
            if found[0] > best[0]:
                best, weights = found, tried
        _, factor, self._scale, half = best
        self.weights, self._inverse = weights, _inverse(factor)
        self._solved = half @ self._inverse
        # Covariance times solution is the observations; without their doubts it is what is believed of them.
        self.believed = means - _jitter(doubts, weights) * self._solved

    def predict(self, points: Matrix) -> tuple[Matrix, Matrix]:
        """Means and standard deviations."""
        near = self._kernel(points, self._points, self.weights)
        explained = self._inverse @ near.T
        left = np.maximum(1.0 - (explained * explained).sum(axis=0), 1e-6) * self._scale
        means: Matrix = near @ self._solved
        return means, np.sqrt(left)

    def left_out(self, means: Matrix, doubts: Matrix) -> tuple[Matrix, Matrix]:
        """Of each point of the last fit, what the others say of the truth there: means and variances."""
        precision = (self._inverse * self._inverse).sum(axis=0)
        variances = np.maximum(1.0 / precision - _jitter(doubts, self.weights), 1e-6) * self._scale
        return means - self._solved / precision, variances

    def likeness(self, here: Matrix, there: Matrix) -> Matrix:
        """From 0 to 1."""
        return self._kernel(here, there, self.weights)

    def _explained(self, means: Matrix, doubts: Matrix, weights: Matrix) -> tuple[float, Matrix, float, Matrix]:
        """Logarithm of the likelihood with its prior, and what predictions need: factor, scale, half-solved means."""
        count = len(means)
        jitter = _jitter(doubts, weights)
        # With the means as one more row below, the last row of the factor is the means, half solved.
        covariance = np.empty((count + 1, count + 1))
        covariance.reshape(-1)[_pairs(count)[2]] = _likeness(self._weighed(weights) @ self._apart)
        covariance.reshape(-1)[: -1 : count + 2] = 1.0 + jitter
        covariance[count, :count] = means
        covariance[count, count] = 1.0 + 2.0 * float(means @ means) / float(jitter.min())
        try:
            whole: Matrix = np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)
        except np.linalg.LinAlgError:
            return -math.inf, np.eye(count), 1.0, means
        factor, half = whole[:count, :count], whole[count, :count]
        scale = (float(half @ half) + 2.0) / (count + 2.0)
        likelihood = -0.5 * count * math.log(scale) - float(np.log(factor.diagonal()).sum())
        return likelihood - 0.5 * float(weights @ weights) / _BELIEF**2, factor, scale, half

    def _distances(self, points: Matrix) -> Matrix:
        one, other, _ = _pairs(len(points))
        columns = np.ascontiguousarray(points.T)
        apart: Matrix = columns.take(one, axis=1) - columns.take(other, axis=1)
        apart[: self._numbers] *= apart[: self._numbers]
        apart[self._numbers :] = apart[self._numbers :] != 0.0
        return apart

    def _weighed(self, weights: Matrix) -> Matrix:
        weight: Matrix = self._first * np.exp(weights[:-1])
        return weight

    def _kernel(self, here: Matrix, there: Matrix, weights: Matrix) -> Matrix:
        weight, numbers = self._weighed(weights), self._numbers
        root = np.sqrt(weight[:numbers])
        one, other = here[:, :numbers] * root, there[:, :numbers] * root
        squared = (one * one).sum(axis=1)[:, None] + (other * other).sum(axis=1) - 2.0 * (one @ other.T)
        for column in range(numbers, self._width):
            squared += weight[column] * (here[:, column, None] != there[:, column])
        return _likeness(np.maximum(squared, 0.0))


def _likeness(squared: Matrix) -> Matrix:
    """Matern 5/2 of squared distances."""
    distance = np.sqrt(5.0 * squared)
    likeness: Matrix = (1.0 + distance + distance * distance / 3.0) * np.exp(-distance)
    return likeness


@lru_cache(maxsize=256)
def _pairs(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Of all pairs: the one, the other, and their place in a flat matrix with one more row and column. Below the
    diagonal only, where alone the factorisation looks."""
    one, other = np.tril_indices(count, -1)
    return one, other, one * (count + 1) + other


def _inverse(lower: Matrix) -> Matrix:
    """Of a triangular matrix, by its quarters: half the work of the general inverse."""
    count = len(lower)
    if count < _SMALL:
        return np.asarray(np.linalg.inv(lower), dtype=np.float64)
    half = count // 2
    inverse = np.zeros((count, count))
    inverse[:half, :half] = _inverse(lower[:half, :half])
    inverse[half:, half:] = _inverse(lower[half:, half:])
    inverse[half:, :half] = -inverse[half:, half:] @ (lower[half:, :half] @ inverse[:half, :half])
    return inverse


def _jitter(doubts: Matrix, weights: Matrix) -> Matrix:
    jitter: Matrix = doubts * math.exp(weights[-1]) + 1e-4
    return jitter


def improvement(means: Matrix, deviations: Matrix, best: float) -> Matrix:
    """Expected improvement below `best`."""
    away = (best - means) / deviations
    below = 0.5 * np.asarray(_erfc(-away / math.sqrt(2.0)), dtype=np.float64)
    expected: Matrix = deviations * (away * below + np.exp(-0.5 * away * away) / math.sqrt(2.0 * math.pi))
    return expected
