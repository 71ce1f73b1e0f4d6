"""When a trial should stop: asked by the master (pause, preemption, the searcher), by SIGTERM, or replaced.

`StopWatcher` is this process's own knowledge. `StopAgreement` makes all ranks say the same thing at the same call,
so that none of them is left waiting in a collective that the others skipped.
"""

import logging
import signal
import threading
import time
from types import FrameType
from typing import Any, Protocol

from resolute.domain.errors import NotFound, ResoluteError, Unavailable
from resolute.training.environment import Place
from resolute.training.master import Master

_log = logging.getLogger("resolute")

POLL_S = 60.0


class StopWatcher:
    """A flag that a background long poll, SIGTERM or `request` can raise. Reading it costs nothing."""

    def __init__(self, master: Master, *, poll_s: float = POLL_S, retry_s: float = 1.0) -> None:
        self._master = master
        self._poll_s = poll_s
        self._retry_s = retry_s
        self._closing = threading.Event()
        self._is_told = False
        """The master has asked; it is not asked again."""
        self._needs_ack = False
        self._previous_handler: Any = None
        self._has_handler = False
        self.requested = False
        """Plain attribute: the loop reads it at every step."""
        self.reason = ""
        self._thread = threading.Thread(target=self._run, name="resolute-stop", daemon=True)

    def watch_signals(self) -> None:
        """SIGTERM means: checkpoint, then exit. Only the main thread may listen; elsewhere this does nothing."""
        if threading.current_thread() is threading.main_thread():
            self._previous_handler = signal.signal(signal.SIGTERM, self._on_sigterm)
            self._has_handler = True

    def watch_master(self) -> None:
        self._thread.start()

    def request(self, reason: str) -> None:
        if not self.requested:
            self.reason = reason
            self.requested = True

    def look(self) -> None:
        """Ask the master now, beside the poll that goes on."""
        try:
            is_asked = not self._is_told and self._master.is_asked_to_stop()
        except ResoluteError as error:
            _log.debug("The master could not be asked: %s", error)
            return
        if is_asked:
            self._asked_by_master()

    def _asked_by_master(self) -> None:
        if self._is_told:
            return
        self._is_told = self._needs_ack = True
        _log.info("The master asks this trial to leave. It will, when the script next asks run.should_stop().")
        self.request("the master asked it to")

    def acknowledge(self) -> None:
        """Tell the master that its request was seen. Once, and only where it was the master who asked."""
        if not self._needs_ack:
            return
        self._needs_ack = False
        try:
            self._master.acknowledge_stop()
        except ResoluteError as error:
            _log.warning("Could not acknowledge the stop request: %s", error)

    def close(self) -> None:
        self._closing.set()
        self._master.break_off_wait()
        if self._thread.is_alive():
            self._thread.join(timeout=5.0)
        if self._has_handler and signal.getsignal(signal.SIGTERM) == self._on_sigterm:
            signal.signal(signal.SIGTERM, self._previous_handler or signal.SIG_DFL)
            self._has_handler = False

    def _run(self) -> None:
        timeout_s = 0.0  # The first answer comes at once, so a trial that starts stopped does no step.
        while not self._closing.is_set() and not self._is_told:
            try:
                if self._master.wait_for_stop(timeout_s):
                    self._asked_by_master()
                    return
                timeout_s = self._poll_s
            except Unavailable:
                self._closing.wait(self._retry_s)
            except NotFound as error:
                _log.warning("The master does not know this allocation; it cannot be asked to stop. %s", error)
                return
            except ResoluteError as error:
                self.request(f"the run was replaced ({error.code})")
                return

    def _on_sigterm(self, number: int, frame: FrameType | None) -> None:
        # Repeated signals change nothing: a launcher and its process group often both send one.
        self.request("SIGTERM")
        if callable(self._previous_handler):
            self._previous_handler(number, frame)


class FlagExchange(Protocol):
    """Joins one small pair of numbers over all ranks; every rank must call it the same number of times."""

    def highest(self, first: int, second: int) -> tuple[int, int]: ...


class StopAgreement:
    """Answers `should_stop` alike on every rank.

    The exchange costs one small all-reduce, so it runs at every `_interval`-th call only; the chief picks the interval
    so that exchanges are about `every_s` apart, and sends it along with the flag.
    """

    def __init__(self, watcher: StopWatcher, place: Place, *, every_s: float = 0.25) -> None:
        self._watcher = watcher
        self._place = place
        self._every_s = every_s
        self._exchange: FlagExchange | None = None
        self._interval = 1
        self._calls = 0
        self._last = time.monotonic()
        self.agreed = False

    def join(self, exchange: FlagExchange) -> None:
        self._exchange = exchange

    def ask_at_once(self) -> None:
        """The next `should_stop` joins all ranks. Every rank says so at the same place."""
        self._calls = max(self._calls, self._interval - 1)

    def should_stop(self) -> bool:
        if self.agreed:
            return True
        if self._exchange is None:
            self.agreed = self._watcher.requested
        else:
            self._calls += 1
            if self._calls >= self._interval:
                self._agree(self._exchange)
        if self.agreed and self._place.is_chief:
            self._watcher.acknowledge()
        return self.agreed

    def _agree(self, exchange: FlagExchange) -> None:
        now = time.monotonic()
        per_call_s = max((now - self._last) / max(self._calls, 1), 1e-7)
        wanted = max(1, min(10_000, round(self._every_s / per_call_s))) if self._place.is_chief else 0
        # Steps early in a run are slow (warm-up, compilation): grow the interval gradually.
        wanted = min(wanted, self._interval * 4)
        flag, interval = exchange.highest(int(self._watcher.requested), wanted)
        self.agreed = bool(flag)
        self._interval = max(interval, 1)
        self._calls, self._last = 0, now
