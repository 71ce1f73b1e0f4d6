"""One rung of successive halving: results at one training length, best first; and which trials are spared there.

A rung changes through its methods alone, and remembers its snapshot until the next change: most events touch one rung,
and what is the same object as before needs no comparison.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from typing import Any

from resolute.domain.errors import InvalidConfig
from resolute.search.pareto import best_first
from resolute.search.tracked_list import TrackedList


class Rung:
    __slots__ = ("_written", "losses", "order", "outstanding", "promoted", "units", "vectors")

    def __init__(self, units: int) -> None:
        self.units = units
        self.order: TrackedList[int] = TrackedList()
        """Trials, best first."""
        self.losses: TrackedList[float] = TrackedList()
        """Of one objective, beside `order`."""
        self.vectors: list[tuple[float, ...]] = []
        """Of several objectives, beside `order`; empty with one."""
        self.promoted: set[int] = set()
        self.outstanding = 0
        """Trials on their way to this rung (promotion style)."""
        self._written: dict[str, Any] | None = None

    def quota(self, divisor: float) -> int:
        """How many of the results so far may go on, at least one."""
        return max(int(len(self.order) / divisor), 1)

    def expect(self, trials: int = 1) -> None:
        """So many more are on their way here; fewer, if negative."""
        self._written = None
        self.outstanding += trials

    def promote(self, trial: int) -> None:
        self._written = None
        self.promoted.add(trial)

    def insert(self, trial: int, losses: tuple[float, ...], *, newest_first: bool) -> int:
        """Add a result and say at which place it came in. Ties: the newest goes before its equals, or after."""
        self._written = None
        if len(losses) > 1:
            return self._insert_vector(trial, losses)
        find = bisect_left if newest_first else bisect_right
        at = find(self.losses, losses[0])
        self.losses.insert(at, losses[0])
        self.order.insert(at, trial)
        return at

    def remove(self, trial: int) -> None:
        if trial not in self.order:
            return
        self._written = None
        at = self.order.index(trial)
        self.order.pop(at)
        self.promoted.discard(trial)
        if self.vectors:
            self.vectors.pop(at)
        else:
            self.losses.pop(at)

    def _insert_vector(self, trial: int, losses: tuple[float, ...]) -> int:
        trials, vectors = [*self.order, trial], [*self.vectors, losses]
        ranking = best_first(vectors)
        self.order = TrackedList(trials[at] for at in ranking)
        self.vectors = [vectors[at] for at in ranking]
        return ranking.index(len(vectors) - 1)

    def snapshot(self) -> dict[str, Any]:
        """The same object until something changes; not for changing by the caller."""
        if self._written is None:
            self._written = {
                "units": self.units,
                "order": self.order.written(),
                "losses": self.losses.written(),
                "vectors": [list(vector) for vector in self.vectors],
                "promoted": sorted(self.promoted),
                "outstanding": self.outstanding,
            }
        return self._written

    @classmethod
    def of_snapshot(cls, snapshot: Mapping[str, Any]) -> "Rung":
        rung = cls(snapshot["units"])
        rung.order = TrackedList(snapshot["order"])
        rung.losses = TrackedList(snapshot["losses"])
        rung.vectors = [tuple(vector) for vector in snapshot["vectors"]]
        rung.promoted = set(snapshot["promoted"])
        rung.outstanding = snapshot["outstanding"]
        return rung


class Patience:
    """`patience: 2` spares a trial at the first two rungs; `patience: {epochs: 10}` (any unit) below that length."""

    def __init__(self, patience: Any) -> None:
        self._rungs = 0
        self._units = 0.0
        if isinstance(patience, Mapping):
            given = {str(key): float(value) for key, value in patience.items() if value is not None}
            self._rungs = int(given.pop("rungs", 0))
            self._units = max(given.values(), default=0.0)
        elif patience is not None:
            self._rungs = int(patience)
        if self._rungs < 0 or self._units < 0:
            raise InvalidConfig([f"searcher.patience is {patience!r}; it cannot be negative."])

    def spares(self, rung: int, units: float) -> bool:
        return rung < self._rungs or units < self._units
