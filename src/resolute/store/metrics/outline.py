"""The outline of a metric in a chunk: few of its points that look like all of them, drawn up when the chunk is written.

A long series is drawn from outlines; a chunk is opened only where they leave too little to choose from. Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from resolute.engine.thinning import thin
from resolute.store.metrics.chunk import Chunk

LEAST = 512
"""A chunk with fewer reports is as quick to open as its outline would be."""
_ONE_IN = 64
_FEWEST = 32
Points = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
"""Steps, times and values."""


@dataclass(frozen=True, slots=True)
class Outline:
    count: int
    """Points of the metric in the chunk. As many as there are here: none is left out."""
    steps: NDArray[np.int64]
    times_us: NDArray[np.int64]
    values: NDArray[np.float64]

    @property
    def is_whole(self) -> bool:
        return len(self.steps) == self.count

    @property
    def nbytes(self) -> int:
        return self.steps.nbytes + self.times_us.nbytes + self.values.nbytes


def whole(steps: NDArray[np.int64], times_us: NDArray[np.int64], values: NDArray[np.float64]) -> Outline:
    return Outline(len(steps), steps, times_us, values)


NOTHING = whole(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float64))


def outlined(full: Outline) -> Outline:
    """The ends, the peaks of each stretch, and some of what is no finite number; one point in 64 in all."""
    kept = thin(full.values, max(full.count // _ONE_IN, _FEWEST))
    # Copies, so that the columns they were taken from need not stay in memory.
    return Outline(full.count, full.steps[kept], full.times_us[kept], full.values[kept])


def outlines_of(chunk: Chunk) -> dict[str, Outline]:
    """Of every metric that has numbers in the chunk."""
    found: dict[str, Outline] = {}
    for name, column in chunk.columns.items():
        values = column.values.astype(np.float64, copy=False)
        steps = chunk.steps if column.rows is None else chunk.steps[column.rows]
        times = chunk.times_us if column.rows is None else chunk.times_us[column.rows]
        found[name] = outlined(whole(steps, times, values))
    return found


def is_enough(outlines: Sequence[Outline], max_points: int) -> bool:
    """Whether the best `max_points` can be chosen from these, or nothing is left out of them anyway."""
    return sum(len(each.steps) for each in outlines) >= 2 * max_points or all(each.is_whole for each in outlines)


def joined(outlines: Sequence[Outline]) -> Outline:
    """One after the other, ascending by step even where the chunks overlapped."""
    if not outlines:
        return NOTHING
    steps = np.concatenate([each.steps for each in outlines])
    times = np.concatenate([each.times_us for each in outlines])
    values = np.concatenate([each.values for each in outlines])
    count = sum(each.count for each in outlines)
    if (steps[1:] > steps[:-1]).all():
        return Outline(count, steps, times, values)
    order = np.argsort(steps, kind="stable")
    return Outline(count, steps[order], times[order], values[order])


# ---------------------------------------------------------------------------------------------------- on the disk


class _Stored(msgspec.Struct, array_like=True, frozen=True):
    version: int
    count: int
    steps: bytes
    times_us: bytes
    values: bytes


_VERSION = 1
_encode: Any = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Stored).decode


def encode(outline: Outline) -> bytes:
    columns = (outline.steps, outline.times_us, outline.values)
    packed: bytes = _encode(_Stored(_VERSION, outline.count, *(column.tobytes() for column in columns)))
    return packed


def decode(stored: bytes) -> Outline:
    found = _decode(stored)
    return Outline(
        found.count,
        np.frombuffer(found.steps, np.int64),
        np.frombuffer(found.times_us, np.int64),
        np.frombuffer(found.values, np.float64),
    )
