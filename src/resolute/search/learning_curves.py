"""Every trial's learning curve, kept in at most `MOST_REPORTS` averages however often it reports. One objective only.

Lists are replaced, never changed, so that a snapshot may share them.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from resolute.search.objective import WORST
from resolute.search.tracked_list import TrackedList

MOST_REPORTS = 64
DENSE = 6
"""Reports in a full training, evenly spread, from which on a curve has a shape to speak of."""
_MOST_UNSEEN = 0.1
"""Of all training, so much may lie in wide gaps: a report that is lost now and then."""


class LearningCurves:
    def __init__(self) -> None:
        self.shares: dict[int, list[float]] = {}
        """Of the full length, one for each average."""
        self.losses: dict[int, list[float]] = {}
        self.counts: dict[int, list[float]] = {}
        """Reports in each average."""
        self.best: dict[int, float] = {}
        self.lost: set[int] = set()
        """Trials that reported something that is not finite."""
        self._trained = 0.0
        """Full trainings that all curves together make."""
        self._unseen = 0.0
        """The part of them that lies in gaps too wide for a curve to have a shape there."""
        self._place: dict[int, int] = {}
        self._written: TrackedList[dict[str, Any]] = TrackedList()
        """The same curves as a snapshot has them, by place."""

    def add(self, trial: int, share: float, loss: float) -> None:
        if abs(loss) >= WORST / 4:
            self.lost.add(trial)
            return
        shares, losses = self.shares.get(trial, []), self.losses.get(trial, [])
        counts = self.counts.get(trial, [])
        before = shares[-1] if shares else 0.0
        self.best[trial] = min(loss, self.best.get(trial, loss))
        count = 1.0
        if shares and _slot(before) == _slot(share):
            count += counts[-1]
            share, loss = before + (share - before) / count, losses[-1] + (loss - losses[-1]) / count
            shares, losses, counts = shares[:-1], losses[:-1], counts[:-1]
        self._trained += share - before
        self._unseen += _unseen(share - before)
        self._set(trial, [*shares, share], [*losses, loss], [*counts, count])

    def _set(self, trial: int, shares: list[float], losses: list[float], counts: list[float]) -> None:
        self.shares[trial], self.losses[trial], self.counts[trial] = shares, losses, counts
        curve = {"trial": trial, "shares": shares, "losses": losses, "counts": counts, "best": self.best[trial]}
        place = self._place.setdefault(trial, len(self._written))
        if place == len(self._written):
            self._written.append(curve)
        else:
            self._written[place] = curve

    def is_dense(self) -> bool:
        """Reports at 1, 4, 16 and 64 epochs are dense at first and then are not; a lost report changes nothing."""
        return self._trained > 0.0 and self._unseen <= _MOST_UNSEEN * self._trained

    def snapshot(self) -> dict[str, Any]:
        return {
            "curves": self._written.written(),
            "lost": sorted(self.lost),
            "trained": self._trained,
            "unseen": self._unseen,
        }

    @classmethod
    def of_snapshot(cls, snapshot: Mapping[str, Any]) -> "LearningCurves":
        curves = cls()
        for curve in snapshot["curves"] if "curves" in snapshot else _of_columns(snapshot):
            trial = curve["trial"]
            curves.best[trial] = curve["best"]
            curves._set(trial, list(curve["shares"]), list(curve["losses"]), list(curve["counts"]))
        curves.lost = set(snapshot["lost"])
        curves._trained = snapshot["trained"]
        # Earlier versions did not keep it.
        gaps = (_unseen(gap) for shares in curves.shares.values() for gap in _gaps(shares))
        curves._unseen = snapshot["unseen"] if "unseen" in snapshot else sum(gaps)
        return curves


def _of_columns(snapshot: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """As earlier versions kept it: a list for all shares, one for all losses."""
    names = ("trial", "shares", "losses", "counts", "best")
    columns = (snapshot[name] for name in ("trials", *names[1:]))
    for values in zip(*columns, strict=True):
        yield dict(zip(names, values, strict=True))


def _gaps(shares: Sequence[float]) -> Iterator[float]:
    return (after - before for before, after in pairwise((0.0, *shares)))


def _unseen(gap: float) -> float:
    return gap if gap * DENSE > 1.0 + 1e-6 else 0.0


def _slot(share: float) -> int:
    return min(int(share * MOST_REPORTS + 1e-9), MOST_REPORTS)
