"""The table of a search's trials: their ids and how each stands, in columns that are quick to copy and to compare.

Inside a searcher a trial is its number in the table; request ids appear only in events and actions.
"""

from collections.abc import Mapping
from typing import Any

from resolute.search.tracked_list import TrackedList

RUNNING = "r"
"""Or waiting for slots, or for a higher target."""
STOPPING = "s"
CLOSED = "c"
FAILED = "f"
INVALID = "i"
CANCELED = "x"
_OPEN = frozenset({RUNNING, STOPPING})
_ALL = RUNNING + STOPPING + CLOSED + FAILED + INVALID + CANCELED


class TrialTable:
    def __init__(self) -> None:
        self.ids: TrackedList[str] = TrackedList()
        self.index: dict[str, int] = {}
        self.status = ""
        """A letter for each trial. A string: it is its own snapshot, and replacing a letter is quicker than joining."""
        self.open: set[int] = set()
        self.partial: dict[int, float] = {}
        """Share done of open trials."""
        self._counts: dict[str, int] = dict.fromkeys(_ALL, 0)

    def add(self, request_id: str) -> int:
        trial = len(self.ids)
        self.ids.append(request_id)
        self.index[request_id] = trial
        self.status += RUNNING
        self.open.add(trial)
        self._counts[RUNNING] += 1
        return trial

    def mark(self, trial: int, status: str) -> None:
        self._counts[self.status[trial]] -= 1
        self._counts[status] += 1
        self.status = self.status[:trial] + status + self.status[trial + 1 :]
        if status in _OPEN:
            self.open.add(trial)
            return
        self.open.discard(trial)
        self.partial.pop(trial, None)

    def count(self, status: str) -> int:
        return self._counts[status]

    def is_running(self, trial: int) -> bool:
        return self.status[trial] == RUNNING

    @property
    def counted(self) -> int:
        """Trials that use up `max_trials`: all but those with invalid hyperparameters."""
        return len(self.ids) - self._counts[INVALID]

    def snapshot(self) -> dict[str, Any]:
        return {
            "ids": self.ids.written(),
            "status": self.status,
            "partial": {str(trial): share for trial, share in self.partial.items()},
        }

    @classmethod
    def of_snapshot(cls, snapshot: Mapping[str, Any]) -> "TrialTable":
        # In bulk: one by one takes ten times as long.
        table = cls()
        table.ids = TrackedList(snapshot["ids"])
        table.index = {request_id: trial for trial, request_id in enumerate(table.ids)}
        table.status = snapshot["status"]
        table.open = {trial for trial, status in enumerate(table.status) if status in _OPEN}
        table._counts = {status: snapshot["status"].count(status) for status in _ALL}
        table.partial = {int(trial): share for trial, share in snapshot["partial"].items()}
        return table
