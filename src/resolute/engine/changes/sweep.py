"""The sweep of the outbox: little at a time, so that no writer waits for it."""

from resolute.domain.change_retention import to_sweep
from resolute.engine.platform import Platform

_AT_ONCE = 1000


class Sweep:
    """Goes round over the whole table, a stretch a call; what people did stays behind until it is old."""

    def __init__(self, platform: Platform, *, at_once: int = _AT_ONCE) -> None:
        self._platform = platform
        self._at_once = at_once
        self._position = 0

    def step(self) -> bool:
        """Look at the next stretch. False: it was the last one, and the next call begins at the oldest again."""
        with self._platform.store.read() as tx:
            stretch = tx.changes.oldest(after=self._position, limit=self._at_once)
            readers = [progress.done for progress in tx.changes.progress().values()]
            newest = tx.changes.newest()
        gone = to_sweep(
            stretch,
            read_by_all=min(readers, default=newest),
            policy=self._platform.config.change_retention,
            now=self._platform.clock(),
        )
        if gone:
            with self._platform.store.write() as tx:
                tx.changes.remove(gone)
        is_last = len(stretch) < self._at_once
        self._position = 0 if is_last else stretch[-1][0]
        return not is_last
