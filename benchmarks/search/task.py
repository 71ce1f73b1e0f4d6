"""A task: a search space and the loss of a point after so many epochs. Deterministic for a given repeat."""

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

MAX_EPOCHS = 64

Point = dict[str, Any]


@dataclass(frozen=True)
class Dimension:
    name: str
    kind: str
    """int or float (with low and high), or choice."""
    low: float = 0
    high: float = 1
    choices: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Task:
    suite: str
    name: str
    dimensions: tuple[Dimension, ...]
    loss: Callable[[Point, int, int], float]
    """(point, epoch, repeat) -> observed validation loss."""
    final: Callable[[Point], float]
    """Noise-free loss after all epochs."""
    best: float
    typical: float
    """Regret 1.0 lies here: the median of random points."""

    def regret(self, point: Point) -> float:
        return max(self.final(point) - self.best, 0.0) / (self.typical - self.best)

    def hyperparameters(self) -> dict[str, Any]:
        """As an experiment configuration has it."""
        return {dimension.name: _leaf(dimension) for dimension in self.dimensions}


def noise(repeat: int, *parts: Any) -> float:
    """Standard normal, the same for the same arguments on every machine."""
    text = repr((repeat, *parts)).encode()
    first, second = zlib.crc32(text), zlib.crc32(b"second" + text)
    return math.sqrt(-2 * math.log((first + 1) / 2**32)) * math.cos(2 * math.pi * second / 2**32)


def uniform(*parts: Any) -> float:
    return zlib.crc32(repr(parts).encode()) / 2**32


def _leaf(dimension: Dimension) -> dict[str, Any]:
    if dimension.kind == "choice":
        return {"type": "categorical", "vals": list(dimension.choices)}
    kind = "int" if dimension.kind == "int" else "double"
    return {"type": kind, "minval": dimension.low, "maxval": dimension.high}
