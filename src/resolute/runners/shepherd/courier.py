"""Brings log lines and phases from a node to the master: in order, each once, whatever happens in between.

Batches are numbered, and the master takes number n+1 only after n, so that a batch sent again after a lost answer is
known. What waits is bounded: when the master is away for long, lines are lost and counted, and the count stands where
they would have been. One thread; whoever has something to send never waits for it.
"""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from resolute.domain.errors import ResoluteError, Unavailable
from resolute.domain.gang import Phase
from resolute.runners.shepherd.master_link import MasterLink, Replaced

LARGEST_BACKLOG_BYTES = 16 << 20
LARGEST_BATCH_BYTES = 512 << 10
_GATHER_S = 0.1
"""Lines that come within this time travel together."""
_PAUSES_S = (0.1, 0.2, 0.5, 1.0, 2.0)


@dataclass(frozen=True, slots=True)
class _Report:
    phase: Phase
    exit_code: int | None
    reason: str


class Courier:
    """`path`: `/api/v1/allocations/<id>/resources/<id>`. `on_replaced` is called, from any thread, when the master says
    that the allocation is over."""

    def __init__(
        self,
        link: MasterLink,
        path: str,
        *,
        on_replaced: Callable[[], None],
        backlog_bytes: int = LARGEST_BACKLOG_BYTES,
    ) -> None:
        self._link = link
        self._path = path
        self._on_replaced = on_replaced
        self._backlog_bytes = backlog_bytes
        self._waiting: deque[bytes | _Report] = deque()
        self._waiting_bytes = 0
        self._sequence = 0
        self._is_refused = False
        self._is_closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="courier", daemon=True)
        self._thread.start()

    def write(self, records: bytes) -> int:
        """Whole records of `domain.log`. Raises OSError when too much is waiting; they are not taken then."""
        with self._changed:
            if self._is_refused:
                return len(records)
            if self._waiting_bytes + len(records) > self._backlog_bytes:
                raise OSError(f"{self._waiting_bytes} bytes of output are waiting for the master")
            self._waiting.append(bytes(records))
            self._waiting_bytes += len(records)
            self._changed.notify_all()
        return len(records)

    def report(self, phase: Phase, exit_code: int | None = None, reason: str = "") -> None:
        with self._changed:
            self._waiting.append(_Report(phase, exit_code, reason))
            self._changed.notify_all()

    @property
    def is_idle(self) -> bool:
        """Everything has arrived, or will not be taken."""
        with self._changed:
            return self._is_refused or not self._waiting

    def close(self) -> None:
        """Nothing more is sent after this, not even what waits: ask `is_idle` before."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    # ------------------------------------------------------------------------------------------------- its thread

    def _run(self) -> None:
        while (item := self._next()) is not None:
            self._deliver(item)

    def _next(self) -> bytes | _Report | None:
        """The next report, or as many lines as may travel together; they stay in the queue until they have arrived.
        None: closed."""
        with self._changed:
            while not self._waiting and not self._is_closed:
                self._changed.wait()
            if self._is_closed:
                return None
            first = self._waiting[0]
            if isinstance(first, _Report):
                return first
            self._changed.wait_for(lambda: self._waiting_bytes >= LARGEST_BATCH_BYTES or self._is_closed, _GATHER_S)
            return self._batch()

    def _batch(self) -> bytes:
        """Never part of what was written at once: lines of one moment stay together."""
        batch = b""
        while self._waiting:
            item = self._waiting[0]
            if isinstance(item, _Report) or (batch and len(batch) + len(item) > LARGEST_BATCH_BYTES):
                break
            batch += item
            self._waiting.popleft()
        self._waiting.appendleft(batch)
        return batch

    def _deliver(self, item: bytes | _Report) -> None:
        if isinstance(item, bytes):
            self._sequence += 1
        turn = 0
        while not self._is_closed:
            try:
                self._send(item)
                break
            except Unavailable:
                self._pause(_PAUSES_S[min(turn, len(_PAUSES_S) - 1)])
                turn += 1
            except ResoluteError as error:
                self._refuse()
                if isinstance(error, Replaced):
                    self._on_replaced()
                return
        with self._changed:
            if self._waiting:
                self._waiting.popleft()
            self._waiting_bytes -= len(item) if isinstance(item, bytes) else 0
            self._changed.notify_all()

    def _send(self, item: bytes | _Report) -> None:
        if isinstance(item, bytes):
            self._link.post(f"{self._path}/logs?sequence={self._sequence}", item)
        else:
            body = {"phase": item.phase, "exitCode": item.exit_code, "reason": item.reason}
            self._link.post_json(f"{self._path}/phase", body)

    def _pause(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed, seconds)

    def _refuse(self) -> None:
        """The allocation is over for the master: nothing that comes from here will be taken any more."""
        with self._changed:
            self._is_refused = True
            self._waiting.clear()
            self._waiting_bytes = 0
            self._changed.notify_all()
