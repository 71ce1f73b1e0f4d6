"""Points of a metric in memory, so that a chart that asks again pays only for what is new. No SQL in here."""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from resolute.domain.metric import Series
from resolute.engine.thinning import thin
from resolute.store.metrics.outline import Outline

_BYTES_PER_POINT = 24
_BYTES_PER_OUTLINE = 500
"""What Python itself takes for the three columns."""
CACHE_BYTES = 128 * 1024 * 1024
"""Filled only by what is looked at."""
N = TypeVar("N", bound=np.generic)
Key = tuple[int, str, str]
Structure = tuple[tuple[int, ...], ...]


class Points:
    """Ascending steps with times and values, in buffers that grow at the end.

    Readers slice up to the length they saw; only the holder of `SeriesCache.loading` appends.
    """

    def __init__(self) -> None:
        self._steps = np.empty(0, dtype=np.int64)
        self._times = np.empty(0, dtype=np.int64)
        self._values = np.empty(0, dtype=np.float64)
        self._odd: list[NDArray[np.int64]] = []
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def nbytes(self) -> int:
        return len(self._steps) * _BYTES_PER_POINT

    @property
    def last_steps(self) -> int:
        return int(self._steps[self._length - 1]) if self._length else -(1 << 62)

    def extend(self, steps: NDArray[np.int64], times: NDArray[np.int64], values: NDArray[np.float64]) -> None:
        end = self._length + len(steps)
        if end > len(self._steps):
            # Room that is never written to costs no memory, and saves the next points a copy of all.
            self._grow(end + end // 4)
        self._steps[self._length : end] = steps
        self._times[self._length : end] = times
        self._values[self._length : end] = values
        odd = np.flatnonzero(~np.isfinite(values))
        if len(odd):
            self._odd.append(odd + self._length)
        self._length = end

    def thinned(self, key: Key, *, max_points: int, since: int | None, until: int | None) -> Series:
        """`since` is exclusive, `until` inclusive."""
        length = self._length
        steps = self._steps[:length]
        start = 0 if since is None else int(np.searchsorted(steps, since, side="right"))
        end = length if until is None else max(start, int(np.searchsorted(steps, until, side="right")))
        odd = np.concatenate(self._odd) if self._odd else np.empty(0, dtype=np.int64)
        odd = odd[(odd >= start) & (odd < end)] - start
        part = slice(start, end)
        return series_from(
            key, steps[part], self._times[part], self._values[part], max_points=max_points, total=end - start, odd=odd
        )

    def _grow(self, capacity: int) -> None:
        self._steps = _enlarged(self._steps, capacity)
        self._times = _enlarged(self._times, capacity)
        self._values = _enlarged(self._values, capacity)


def series_from(
    key: Key,
    steps: NDArray[np.int64],
    times_us: NDArray[np.int64],
    values: NDArray[np.float64],
    *,
    max_points: int,
    total: int,
    odd: NDArray[np.int64] | None = None,
) -> Series:
    """Thinned to `max_points`. `odd`: the positions of NaN and Inf, where they are known."""
    kept = thin(values, max_points, odd)
    trial_id, group, name = key
    return Series(
        trial_id=trial_id,
        group=group,
        name=name,
        steps=steps[kept].tolist(),
        values=values[kept].tolist(),
        times=(times_us[kept] / 1e6).tolist(),
        total_points=total,
    )


def _enlarged(array: NDArray[N], capacity: int) -> NDArray[N]:
    larger = np.empty(capacity, dtype=array.dtype)
    larger[: len(array)] = array
    return larger


@dataclass(slots=True)
class Cached:
    """Points, and up to where in the database they go."""

    points: Points
    structure: Structure
    """What must not have changed if only new points are to be added."""
    last_chunk: int = 0
    last_id: int = 0

    @property
    def nbytes(self) -> int:
        return self.points.nbytes


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """Outlines of the chunks of a long series, by the chunks' ids. Replaced as a whole, never changed."""

    revisions: tuple[tuple[int, int], ...]
    """(run, revision) of its heads: a higher one says that a chunk was changed in place."""
    outlines: dict[int, Outline]

    @property
    def nbytes(self) -> int:
        return sum(_BYTES_PER_OUTLINE + outline.nbytes for outline in self.outlines.values())


Entry = Cached | OutlineEntry


class SeriesCache:
    """The series looked at last, within a budget of bytes. Thread-safe."""

    def __init__(self, budget: int = CACHE_BYTES) -> None:
        self._budget = budget
        self._entries: OrderedDict[Key, Entry] = OrderedDict()
        self._sizes: dict[Key, int] = {}
        """Bytes of each entry when it was last put; entries grow in place."""
        self._size = 0
        self._guard = threading.Lock()
        self._loading = [threading.Lock() for _ in range(16)]

    def loading(self, key: Key) -> threading.Lock:
        """To be held while `key` is loaded or extended, so that two askers do not load it twice."""
        return self._loading[hash(key) % len(self._loading)]

    def get(self, key: Key) -> Entry | None:
        with self._guard:
            entry = self._entries.get(key)
            if entry is not None:
                self._entries.move_to_end(key)
            return entry

    def put(self, key: Key, entry: Entry) -> None:
        """Keep it, and let go of the ones not looked at for longest."""
        with self._guard:
            self._entries[key] = entry
            self._entries.move_to_end(key)
            size = entry.nbytes
            self._size += size - self._sizes.get(key, 0)
            self._sizes[key] = size
            while self._size > self._budget:
                oldest, _ = self._entries.popitem(last=False)
                self._size -= self._sizes.pop(oldest)

    def __len__(self) -> int:
        return len(self._entries)
