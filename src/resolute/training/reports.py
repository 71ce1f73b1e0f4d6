"""The queue between `run.report` and the master.

A call appends to a deque and returns; one background thread sends in order, in batches, and keeps trying while the
master is away. It never raises into training: what cannot be sent is warned about.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from resolute.domain.errors import Fenced, Forbidden, ResoluteError, Unauthenticated, Unavailable
from resolute.training.master import Master, Report
from resolute.training.metrics import wire_metrics

_log = logging.getLogger("resolute")

BATCH = 5_000
"""Reports in one request: about 1 MB of JSON."""
CAPACITY = 2_000_000
"""Reports held while the master is away: hours of an outage at a thousand a second."""
RETRY_MAX_S = 2.0
_REPLACED = (Fenced, Forbidden, Unauthenticated)


class ReportQueue:
    """Ordered, batched, retried. `on_replaced` is called when the master says another run has taken over."""

    def __init__(
        self,
        master: Master,
        *,
        interval_s: float = 0.2,
        on_replaced: Callable[[ResoluteError], None] = lambda error: None,
        capacity: int = CAPACITY,
    ) -> None:
        self._master = master
        self._interval_s = interval_s
        self._on_replaced = on_replaced
        self._waiting: deque[tuple[str, int, float, Mapping[str, Any]]] = deque(maxlen=capacity)
        self._wake = threading.Event()
        self._ended = threading.Event()
        self._retry_s = interval_s
        self._idle = threading.Condition()
        self._sending: list[Report] = []
        self._closing = False
        self._replaced: ResoluteError | None = None
        self._away_since: float | None = None
        self._dropped = 0
        self._progress: float | None = None
        self.put = self._waiting.append
        """Takes (group, steps, unix seconds, checked metrics). Nothing but a deque's append, on purpose."""
        self._thread = threading.Thread(target=self._run, name="resolute-reports", daemon=True)
        self._thread.start()

    def put_progress(self, progress: float) -> None:
        """Only the newest matters, so it is a slot and not a queue."""
        self._progress = progress

    @property
    def is_away(self) -> bool:
        """The master did not answer the last time."""
        return self._away_since is not None

    @property
    def backlog(self) -> int:
        return len(self._waiting) + len(self._sending)

    def flush(self, timeout_s: float) -> bool:
        """Wait until all that was put so far is acknowledged. False when time ran out first."""
        deadline = time.monotonic() + timeout_s
        self._wake.set()
        with self._idle:
            while not self._is_empty() and self._replaced is None and self._thread.is_alive():
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    return False
                self._idle.wait(min(remaining, 1.0))
        return self._is_empty()

    def close(self, timeout_s: float) -> bool:
        """Flush, then end the thread. Warns about what is lost."""
        is_flushed = self.flush(timeout_s)
        self._closing = True
        self._wake.set()
        self._ended.set()
        self._thread.join(timeout=5.0)
        if not is_flushed:
            _log.warning("%d metric reports could not be sent to the master and are lost.", self.backlog)
        return is_flushed

    def _is_empty(self) -> bool:
        return not self._waiting and not self._sending and self._progress is None

    def _run(self) -> None:
        while not self._closing:
            self._wake.wait(self._interval_s)
            self._wake.clear()
            while not self._closing and not self._is_empty():
                if not self._send_some():
                    # A pause that no flush can shorten: a master that is away must not be hammered.
                    self._ended.wait(self._retry_s)
                    self._retry_s = min(self._retry_s * 1.5, RETRY_MAX_S)
            self._retry_s = self._interval_s
            with self._idle:
                self._idle.notify_all()

    def _send_some(self) -> bool:
        """Send one batch; False when it is time to wait before the next try."""
        self._sending = self._sending or self._take()
        try:
            if self._sending:
                self._master.send_reports(self._sending)
                self._sending = []
            self._send_progress()
        except Unavailable as error:
            self._note_outage(error)
            return False
        except _REPLACED as error:
            self._give_up(error)
            return False
        except ResoluteError as error:
            _log.error("The master refused %d metric reports, which are dropped: %s", len(self._sending), error)
            self._sending = []
        self._note_recovery()
        return True

    def _take(self) -> list[Report]:
        taken: list[Report] = []
        while self._waiting and len(taken) < BATCH:
            group, steps, time_s, metrics = self._waiting.popleft()
            taken.append(Report(group, steps, time_s, wire_metrics(metrics)))
        return taken

    def _send_progress(self) -> None:
        progress = self._progress
        if progress is None:
            return
        self._master.send_progress(progress)
        if self._progress == progress:
            self._progress = None

    def _note_outage(self, error: ResoluteError) -> None:
        if self._away_since is None:
            self._away_since = time.monotonic()
            _log.warning("%s Training goes on; metrics are kept and sent when it is back.", error)
        if len(self._waiting) == self._waiting.maxlen:
            _log.warning("The master has been away so long that the oldest metrics are being dropped.")

    def _note_recovery(self) -> None:
        if self._away_since is None:
            return
        _log.warning("The master is back after %.0f s; nothing was lost.", time.monotonic() - self._away_since)
        self._away_since = None

    def _give_up(self, error: ResoluteError) -> None:
        self._replaced = error
        self._sending = []
        self._waiting.clear()
        self._progress = None
        self._closing = True
        _log.error("This run of the trial has been replaced or ended by the master; it must stop. %s", error)
        self._on_replaced(error)
