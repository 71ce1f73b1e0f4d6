"""Makes commits to an SQLite database survive a power cut, many at a time.

With `synchronous = NORMAL` a commit is in the write-ahead log but not yet on the disk. Whoever committed waits here
for one `fdatasync` of the log; all that committed meanwhile share the next one. The writer's turn is over before
the wait begins, so a slow disk costs latency, not throughput.
"""

import os
import threading
from pathlib import Path

from resolute.domain.errors import Unavailable


class WalSync:
    """Thread-safe. Numbers grow with every commit; `wait(n)` returns once commit n is on the disk."""

    def __init__(self, database: Path) -> None:
        self._path = Path(f"{database}-wal")
        self._turn = threading.Condition()
        self._committed = 0
        self._synced = 0
        self._is_syncing = False
        self._handle = -1

    def committed(self) -> int:
        """Number of the commit that was just made. Called by the one writer, before its turn ends."""
        with self._turn:
            self._committed += 1
            return self._committed

    def wait(self, number: int) -> None:
        """Raises Unavailable when the disk refuses."""
        with self._turn:
            while self._is_syncing and self._synced < number:
                self._turn.wait()
            if self._synced >= number:
                return
            self._is_syncing = True
            goal = self._committed
        try:
            self._sync()
        except OSError as error:
            goal = 0
            raise Unavailable(
                f"{self._path} could not be written to the disk ({error}). Check the disk; the last change may be lost."
            ) from error
        finally:
            with self._turn:
                self._synced = max(self._synced, goal)
                self._is_syncing = False
                self._turn.notify_all()

    def close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _sync(self) -> None:
        """Only one thread at a time is in here."""
        if self._handle < 0 or not self._is_current():
            self.close()
            self._handle = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
            _sync_folder(self._path.parent)
        os.fdatasync(self._handle)

    def _is_current(self) -> bool:
        """SQLite makes a new log when the last connection was closed in between."""
        held, there = os.fstat(self._handle), os.stat(self._path)
        return (held.st_ino, held.st_dev) == (there.st_ino, there.st_dev)


def _sync_folder(folder: Path) -> None:
    """A new file is found again after a power cut only if its folder is on the disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
