"""Who uses a task through the proxy, and when somebody last did: what an `idle_timeout` is measured by.

In memory, because it is about now: after a restart of the master nothing is known of what was before it. Thread-safe.

`platform.visits.last_activity(task_id)` is None until somebody came; `platform.visits.open_connections(task_id)` counts
requests under way and open websockets. A page that is open and silent holds a connection and makes no activity.
"""

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime


@dataclass(slots=True)
class _Task:
    last: datetime
    open: int = 0


class Visits:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tasks: dict[str, _Task] = {}

    def last_activity(self, task_id: str) -> datetime | None:
        """When a request began, or a message went to the task. None: never since the master started."""
        known = self._tasks.get(task_id)
        return None if known is None else known.last

    def open_connections(self, task_id: str) -> int:
        known = self._tasks.get(task_id)
        return 0 if known is None else known.open

    def active(self, task_id: str, now: datetime) -> None:
        """Somebody has sent something to it."""
        with self._lock:
            known = self._tasks.setdefault(task_id, _Task(now))
            known.last = max(known.last, now)

    @contextlib.contextmanager
    def connection(self, task_id: str, now: datetime) -> Iterator[None]:
        """One request, or one websocket, for as long as it lasts."""
        self.active(task_id, now)
        with self._lock:
            self._tasks[task_id].open += 1
        try:
            yield
        finally:
            with self._lock:
                known = self._tasks.get(task_id)
                if known is not None:
                    known.open -= 1

    def forget(self, task_id: str) -> None:
        """It has ended. What is still open ends by itself."""
        with self._lock:
            self._tasks.pop(task_id, None)
