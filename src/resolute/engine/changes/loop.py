"""Threads around deliveries: one for each follower, so that a slow one holds up no other, and one that sweeps."""

import logging
import threading
from collections.abc import Callable

from resolute.domain.errors import ResoluteError
from resolute.engine.changes.delivery import Delivery
from resolute.engine.changes.sweep import Sweep
from resolute.engine.platform import Platform
from resolute.engine.ports.changes import Follower
from resolute.engine.unit_of_work import CHANGES

log = logging.getLogger(__name__)

GATHER_S = 0.05
"""Between passes of one follower: what changes meanwhile is delivered together, for one write."""
IDLE_WAIT_S = 5.0
"""A notice may be lost; so the outbox is looked at this often anyway."""
SWEEP_EVERY_S = 60.0
FAULT_PAUSE_S = 1.0


class DeliveryLoop:
    """Followers may come and go while it runs."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._runs: dict[str, _Run] = {}
        self._sweeper = threading.Thread(target=self._sweep, name="change-sweeper", daemon=True)

    def start(self) -> None:
        self._sweeper.start()

    def stop(self) -> None:
        """What a follower is just taking is waited for."""
        self._stopping.set()
        with self._lock:
            runs = list(self._runs.values())
        for run in runs:
            run.stop()
        self._sweeper.join(timeout=10)

    def follow(self, follower: Follower) -> None:
        """Deliver to it from where it was; to one that is new, from now on."""
        with self._lock:
            assert follower.name not in self._runs, f"two followers are called {follower.name}"
            run = self._runs[follower.name] = _Run(self._platform, follower)
        run.start()

    def unfollow(self, name: str) -> None:
        """For good: nothing is kept for it any more."""
        with self._lock:
            run = self._runs.pop(name, None)
        if run is not None:
            run.stop()
        with self._platform.store.write() as tx:
            tx.changes.forget_follower(name)

    def _sweep(self) -> None:
        sweep = Sweep(self._platform)
        while not self._stopping.wait(SWEEP_EVERY_S):
            try:
                while sweep.step() and not self._stopping.is_set():
                    pass
            except ResoluteError as error:
                log.warning("old changes could not be swept: %s", error)
            except Exception:
                log.exception("sweeping old changes failed; it goes on")


class _Run:
    """The thread of one follower."""

    def __init__(self, platform: Platform, follower: Follower) -> None:
        self._platform = platform
        self._delivery = Delivery(platform, follower)
        self._name = follower.name
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"follower-{follower.name}", daemon=True)
        self._unsubscribe: Callable[[], None] = lambda: None

    def start(self) -> None:
        # Its first pass says from where it follows; whoever called `follow` may count on what happens next.
        self._unsubscribe = self._platform.bus.subscribe(CHANGES, self._wake.set)
        self._delivery.begin()
        self._thread.start()

    def stop(self) -> None:
        self._unsubscribe()
        self._stopping.set()
        self._wake.set()
        self._thread.join(timeout=10)

    def _run(self) -> None:
        while not self._stopping.is_set():
            wait_s = IDLE_WAIT_S
            self._wake.clear()
            try:
                wait_s = self._pass()
            except ResoluteError as error:
                log.warning("changes could not be delivered to %s: %s", self._name, error)
                self._stopping.wait(FAULT_PAUSE_S)
            except Exception:
                log.exception("delivering changes to %s failed; it goes on", self._name)
                self._stopping.wait(FAULT_PAUSE_S)
            self._wake.wait(wait_s)
            self._stopping.wait(GATHER_S)

    def _pass(self) -> float:
        has_more, next_at = self._delivery.pass_once()
        if has_more:
            return 0.0
        if next_at is None:
            return IDLE_WAIT_S
        return min(IDLE_WAIT_S, max(0.0, (next_at - self._platform.clock()).total_seconds()))
