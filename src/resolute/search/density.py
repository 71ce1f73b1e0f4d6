"""A tree-structured Parzen estimator over a whole space at once: which point looks most like the good ones?

Two kernel densities, one over the good points and one over the rest; of points drawn from the first, the one with the
highest ratio wins. Every kernel is a Gaussian in a space of features (numbers on the unit scale, one column per
choice), so that all distances are one matrix product.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from resolute.search.parameter import Parameter
from resolute.search.rng import Rng
from resolute.search.space import Assignment, Space

Matrix = NDArray[np.float64]

CANDIDATES = 32
_BANDWIDTH = 0.2
_ABSENT = 0.5
"""Where a number stands whose condition does not hold: as near to all others as can be."""


class Density:
    """Knows the free parameters of a space; holds no observations."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._numbers = [parameter for parameter in space.free if parameter.kind != "categorical"]
        self._choices = [parameter for parameter in space.free if parameter.kind == "categorical"]
        self._positions = [{repr(value): at for at, value in enumerate(choice.vals)} for choice in self._choices]
        sizes = [len(choice.vals) for choice in self._choices]
        self._sizes = np.array(sizes, dtype=np.float64)
        self._log_sizes = sum(math.log(size) for size in sizes)
        # Feature column j is 1 where row column _column[j] holds the choice _value[j].
        self._column = np.array(
            [len(self._numbers) + at for at, size in enumerate(sizes) for _ in range(size)], dtype=int
        )
        self._value = np.array([float(value) for size in sizes for value in range(size)])
        self._column_size = np.array([float(size) for size in sizes for _ in range(size)])
        self._steps = np.array([_steps(parameter) for parameter in self._numbers])
        self._least = np.array([_least_bandwidth(parameter) for parameter in self._numbers])

    @property
    def width(self) -> int:
        return len(self._numbers) + len(self._choices)

    @property
    def numbers(self) -> int:
        """Columns of a row that are numbers; they come first."""
        return len(self._numbers)

    def encode(self, assignment: Assignment) -> list[float]:
        """A row of JSON numbers: place on the unit scale, or position among the choices (-1: none of them)."""
        row = [_unit(parameter, assignment) for parameter in self._numbers]
        for parameter, positions in zip(self._choices, self._positions, strict=True):
            row.append(float(positions.get(repr(assignment.get(parameter.name)), -1)))
        return row

    def propose(self, good: Sequence[Sequence[float]], rest: Sequence[Sequence[float]], rng: Rng) -> Assignment:
        """Both sets as encoded rows; `good` must not be empty."""
        random = np.random.Generator(np.random.PCG64(rng.bits()))
        liked = np.array(good, dtype=np.float64)
        candidates = self._candidates(liked, random)
        score = self._log_density(candidates, liked)
        if rest:
            score = score - self._log_density(candidates, np.array(rest, dtype=np.float64))
        return self.decode(candidates[int(np.argmax(score))], rng)

    def draws(self, liked: Matrix, count: int, random: np.random.Generator) -> Matrix:
        """Rows near those in `liked`, and a third from anywhere; as `encode` would have them."""
        numbers, near = len(self._numbers), 2 * count // 3
        rows = random.random((count, self.width))
        rows[:, numbers:] = np.floor(rows[:, numbers:] * self._sizes)
        origin = liked[random.integers(0, len(liked), near)]
        # One parameter changes, or a few, by steps of any size; choices change altogether.
        is_changed = random.random(origin.shape) < random.choice([1.0 / self.width, 2.0 / self.width, 0.5], (near, 1))
        is_changed[np.arange(near), random.integers(0, self.width, near)] = True
        step = random.standard_normal((near, numbers)) * random.choice([0.03, 0.1, 0.3], (near, 1))
        rows[:near, :numbers] = np.clip(np.abs(origin[:, :numbers] + step), 0.0, 1.0)
        rows[:near] = np.where(is_changed | (origin < 0.0), rows[:near], origin)
        rows[:, :numbers] = np.round(self._on_steps(rows[:, :numbers]), 6)
        return rows

    def _on_steps(self, numbers: Matrix) -> Matrix:
        """Whole numbers stand in the middle of their share of the unit scale."""
        stepped = (np.minimum(np.floor(numbers * self._steps), self._steps - 1.0) + 0.5) / np.maximum(self._steps, 1.0)
        return np.where(self._steps > 0.0, stepped, numbers)

    def _candidates(self, liked: Matrix, random: np.random.Generator) -> Matrix:
        """Draws from the density of the good points, of which one share is the uniform prior."""
        count, numbers = len(liked), len(self._numbers)
        fresh = random.random((CANDIDATES, self.width))
        fresh[:, numbers:] = np.floor(fresh[:, numbers:] * self._sizes)
        origin = random.integers(0, count + 1, CANDIDATES)
        drawn = liked[np.minimum(origin, count - 1)]
        step = random.standard_normal((CANDIDATES, numbers)) * self._bandwidth(count)
        moved = np.abs(drawn[:, :numbers] + step)
        # Reflected at both ends; a step beyond that is cut.
        drawn[:, :numbers] = np.clip(np.minimum(moved, 2.0 - moved), 0.0, 1.0)
        is_fresh = np.zeros(drawn.shape, dtype=bool)
        is_fresh[:, numbers:] = random.random((CANDIDATES, len(self._choices))) < _switching(count)
        is_fresh |= (drawn < 0.0) | (origin == count)[:, None]
        return np.where(is_fresh, fresh, drawn)

    def _log_density(self, candidates: Matrix, centres: Matrix) -> Matrix:
        count = len(centres)
        bandwidth, switching = self._bandwidth(count), _switching(count)
        other = switching / self._column_size
        # Two different choices are at the squared distance that gives the odds of a switch.
        scale = np.sqrt(np.log((1.0 - switching + other) / other))
        here, there = self._features(candidates, bandwidth, scale), self._features(centres, bandwidth, scale)
        squared = (here * here).sum(axis=1)[:, None] + (there * there).sum(axis=1) - 2.0 * (here @ there.T)
        same = np.log(1.0 - switching + switching / self._sizes).sum()
        kernel = float(same - np.log(bandwidth * math.sqrt(2.0 * math.pi)).sum()) - 0.5 * squared
        prior = -self._log_sizes
        highest = np.maximum(kernel.max(axis=1), prior)
        total = np.exp(kernel - highest[:, None]).sum(axis=1) + np.exp(prior - highest)
        density: Matrix = np.log(total) + highest
        return density

    def _features(self, rows: Matrix, bandwidth: Matrix, scale: Matrix) -> Matrix:
        numbers = rows[:, : len(self._numbers)] / bandwidth
        return np.concatenate((numbers, (rows[:, self._column] == self._value) * scale), axis=1)

    def _bandwidth(self, count: int) -> Matrix:
        bandwidth: Matrix = np.maximum(_BANDWIDTH * count ** (-1.0 / (self.width + 4)), self._least)
        return bandwidth

    def decode(self, row: Matrix, rng: Rng) -> Assignment:
        chosen: dict[str, Any] = {
            parameter.name: parameter.from_unit(float(unit))
            for parameter, unit in zip(self._numbers, row, strict=False)
        }
        for parameter, at in zip(self._choices, row[len(self._numbers) :], strict=True):
            chosen[parameter.name] = parameter.vals[int(at)]
        return self._space.complete(chosen, rng)


def _switching(count: int) -> float:
    """How likely a choice is drawn afresh."""
    return 1.0 / (1.0 + math.sqrt(count))


def _unit(parameter: Parameter, assignment: Assignment) -> float:
    if parameter.name not in assignment:
        return _ABSENT
    # Six digits are finer than any kernel, and a snapshot holds one such number per parameter and trial.
    return round(min(max(parameter.to_unit(assignment[parameter.name]), 0.0), 1.0), 6)


def _steps(parameter: Parameter) -> float:
    """How many values a whole number has; 0 for other numbers."""
    return parameter.maxval - parameter.minval + 1.0 if parameter.kind == "int" else 0.0


def _least_bandwidth(parameter: Parameter) -> float:
    """Half a step for whole numbers: narrower kernels would only repeat points."""
    if parameter.kind == "int":
        return 0.5 / (parameter.maxval - parameter.minval + 1)
    return 0.02
