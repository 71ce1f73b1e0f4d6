"""Every trial's learning curve, kept in at most `MOST_REPORTS` averages however often it reports. One objective only.

Lists are replaced, never changed, so that a snapshot may share them.
"""

from collections.abc import Mapping
from typing import Any

from resolute.search.objective import WORST

MOST_REPORTS = 64
DENSE = 16
"""Reports in a full training from which on a curve has a shape to speak of."""


class Logbook:
    def __init__(self) -> None:
        self.shares: dict[int, list[float]] = {}
        """Of the full length, one for each average."""
        self.losses: dict[int, list[float]] = {}
        self.counts: dict[int, list[float]] = {}
        """Reports in each average."""
        self.best: dict[int, float] = {}
        self.lost: set[int] = set()
        """Trials that reported something that is not finite."""
        self._averages = 0
        self._trained = 0.0
        """Full trainings that all curves together make."""

    def add(self, trial: int, share: float, loss: float) -> None:
        if abs(loss) >= WORST / 4:
            self.lost.add(trial)
            return
        shares, losses = self.shares.get(trial, []), self.losses.get(trial, [])
        counts = self.counts.get(trial, [])
        if shares and _slot(shares[-1]) == _slot(share):
            count = counts[-1] + 1.0
            share, loss_here = shares[-1] + (share - shares[-1]) / count, losses[-1] + (loss - losses[-1]) / count
            shares, losses, counts = shares[:-1], losses[:-1], counts[:-1]
        else:
            count, loss_here = 1.0, loss
        before = self.shares[trial][-1] if trial in self.shares else 0.0
        self._trained += share - before
        self._averages += len(shares) + 1 - len(self.shares.get(trial, ()))
        self.shares[trial], self.losses[trial] = [*shares, share], [*losses, loss_here]
        self.counts[trial] = [*counts, count]
        self.best[trial] = min(loss, self.best.get(trial, loss))

    def is_dense(self) -> bool:
        return self._averages > 0 and self._averages >= DENSE * self._trained

    def snapshot(self) -> dict[str, Any]:
        return {
            "trials": list(self.shares),
            "shares": list(self.shares.values()),
            "losses": list(self.losses.values()),
            "counts": list(self.counts.values()),
            "best": list(self.best.values()),
            "lost": sorted(self.lost),
            "trained": self._trained,
        }

    @classmethod
    def of_snapshot(cls, snapshot: Mapping[str, Any]) -> "Logbook":
        logbook, trials = cls(), snapshot["trials"]
        logbook.shares = dict(zip(trials, map(list, snapshot["shares"]), strict=True))
        logbook.losses = dict(zip(trials, map(list, snapshot["losses"]), strict=True))
        logbook.counts = dict(zip(trials, map(list, snapshot["counts"]), strict=True))
        logbook.best = dict(zip(trials, snapshot["best"], strict=True))
        logbook.lost = set(snapshot["lost"])
        logbook._averages = sum(map(len, logbook.shares.values()))
        logbook._trained = snapshot["trained"]
        return logbook


def _slot(share: float) -> int:
    return min(int(share * MOST_REPORTS + 1e-9), MOST_REPORTS)
