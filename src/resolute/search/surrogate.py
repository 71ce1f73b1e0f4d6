"""A Gaussian process over encoded points: what is the final loss of a point that nobody has tried?

Numbers are compared by distance, choices by being the same or not; how much each parameter matters is learnt, by a few
random steps at a time that are kept when they explain the observations better, so that each fit stays cheap.
"""

import math
from collections.abc import Sequence

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
        self._inverse: Matrix = np.zeros((0, 0))
        """Of the Cholesky factor: three answers need it, and one inverse is cheaper than three solutions."""
        self._solved: Matrix = np.zeros(0)
        self._scale = 1.0
        self.believed: Matrix = np.zeros(0)
        """Means at the points of the last fit."""

    def fit(self, points: Matrix, means: Matrix, doubts: Matrix, random: np.random.Generator, *, steps: int) -> None:
        """Take observations in. With `steps`, look for better weights that many times."""
        best, weights = self._explained(points, means, doubts, self.weights), self.weights
        for _ in range(steps):
            is_moved = random.random(len(weights)) < max(0.4, 1.0 / len(weights))
            tried = weights + is_moved * random.normal(0.0, _STEP, len(weights))
            found = self._explained(points, means, doubts, tried)
            if found[0] > best[0]:
                best, weights = found, tried
        _, factor, self._scale, half = best
        self.weights, self._points = weights, points
        self._inverse = np.asarray(np.linalg.inv(factor), dtype=np.float64)
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

    def _explained(
        self, points: Matrix, means: Matrix, doubts: Matrix, weights: Matrix
    ) -> tuple[float, Matrix, float, Matrix]:
        """Logarithm of the likelihood with its prior, and what predictions need: factor, scale, half-solved means."""
        covariance = self._kernel(points, points, weights)
        covariance[np.diag_indices(len(points))] += _jitter(doubts, weights)
        try:
            factor: Matrix = np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)
        except np.linalg.LinAlgError:
            return -math.inf, np.eye(len(points)), 1.0, means
        half: Matrix = np.asarray(np.linalg.solve(factor, means), dtype=np.float64)
        scale = (float(half @ half) + 2.0) / (len(means) + 2.0)
        likelihood = -0.5 * len(means) * math.log(scale) - float(np.log(np.diag(factor)).sum())
        return likelihood - 0.5 * float(weights @ weights) / _BELIEF**2, factor, scale, half

    def _kernel(self, here: Matrix, there: Matrix, weights: Matrix) -> Matrix:
        """Matern 5/2."""
        weight, numbers = self._first * np.exp(weights[:-1]), self._numbers
        root = np.sqrt(weight[:numbers])
        one, other = here[:, :numbers] * root, there[:, :numbers] * root
        squared = (one * one).sum(axis=1)[:, None] + (other * other).sum(axis=1) - 2.0 * (one @ other.T)
        for column in range(numbers, self._width):
            squared += weight[column] * (here[:, column, None] != there[:, column])
        distance = np.sqrt(5.0 * np.maximum(squared, 0.0))
        kernel: Matrix = (1.0 + distance + distance * distance / 3.0) * np.exp(-distance)
        return kernel


def _jitter(doubts: Matrix, weights: Matrix) -> Matrix:
    jitter: Matrix = doubts * math.exp(weights[-1]) + 1e-4
    return jitter


def improvement(means: Matrix, deviations: Matrix, best: float) -> Matrix:
    """Expected improvement below `best`."""
    away = (best - means) / deviations
    below = np.array([0.5 * math.erfc(-value / math.sqrt(2.0)) for value in away])
    expected: Matrix = deviations * (away * below + np.exp(-0.5 * away * away) / math.sqrt(2.0 * math.pi))
    return expected
