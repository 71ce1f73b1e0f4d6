"""The engine's thread: schedule, reap, collect, over and over. It thinks nothing itself; the passes do."""

import logging
import secrets
import threading
import time
from dataclasses import dataclass
from datetime import datetime

from resolute.domain.allocation import Allocation
from resolute.domain.errors import ResoluteError
from resolute.engine.experiments.collection import ask_after_restart, collect_pending
from resolute.engine.housekeeping import Housekeeping
from resolute.engine.jobs.fencing import SECRET_KEY
from resolute.engine.jobs.reaping import reap
from resolute.engine.jobs.scheduling import schedule
from resolute.engine.jobs.starting import InTurn, SideBySide, Starter, start_placed
from resolute.engine.platform import Platform
from resolute.engine.ports.database import ReleasesSpace
from resolute.engine.ports.runner import Watches

log = logging.getLogger(__name__)

BUSY_WAIT_S = 0.01
"""Between looks at running gangs while something started or ended a moment ago: short trials end soon."""
IDLE_WAIT_S = 0.2
"""Between passes when nobody calls for one: what must happen by the clock is not later than this."""
BUSY_FOR_S = 3.0


class EngineLoop:
    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._since = platform.clock()
        self._starter = SideBySide()
        self._busy_until = 0.0
        self._handles: list[str] = []
        """Of the gangs that ran in the last pass. One that starts later calls for another pass."""
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._collector = threading.Thread(target=self._collect, name="collector", daemon=True)

    def start(self) -> None:
        """Take up what an earlier master left: the first pass polls its gangs and starts those that it did not."""
        prepare(self._platform)
        self._platform.bus.subscribe("engine", self._wake.set)
        if isinstance(self._platform.runner, Watches):
            self._platform.runner.watch(self._wake.set)
        self._thread.start()
        self._collector.start()

    def stop(self) -> None:
        """Finish the pass under way. Gangs are left alone."""
        self._stopping.set()
        self._wake.set()
        self._thread.join(timeout=10)
        self._collector.join(timeout=10)

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                passed = tick(self._platform, since=self._since, starter=self._starter)
                if passed.is_busy:
                    self._busy_until = time.monotonic() + BUSY_FOR_S
                self._handles = passed.handles
            except ResoluteError as error:
                log.warning("the engine could not finish a pass: %s", error)
            except Exception:
                log.exception("the engine failed in a pass; it goes on")
                self._stopping.wait(0.5)
            self._wait()

    def _wait(self) -> None:
        """Until somebody calls, a gang has ended, or it is time: a pass reads the database, a look does not."""
        ends_at = time.monotonic() + IDLE_WAIT_S
        is_busy = time.monotonic() < self._busy_until
        while not self._wake.wait(BUSY_WAIT_S if is_busy else IDLE_WAIT_S):
            if time.monotonic() >= ends_at or self._has_ended():
                return
        self._wake.clear()

    def _has_ended(self) -> bool:
        if not self._handles:
            return False
        statuses = self._platform.runner.poll(self._handles).values()
        return any(status.exit_code is not None or status.is_lost for status in statuses)

    def _collect(self) -> None:
        """On a thread of its own: deleting from an object store may take long."""
        housekeeping = Housekeeping(self._platform)
        while not self._stopping.wait(0.5):
            try:
                collect_pending(self._platform)
                self._release_space()
                housekeeping.tick()
            except Exception:
                log.exception("collecting checkpoints or keeping house failed; it goes on")

    def _release_space(self) -> None:
        store = self._platform.store
        while isinstance(store, ReleasesSpace) and not self._stopping.is_set() and store.release_space():
            pass


def prepare(platform: Platform) -> None:
    with platform.store.write() as tx:
        if tx.settings.get(SECRET_KEY) is None:
            tx.settings.put(SECRET_KEY, secrets.token_hex(32))
    ask_after_restart(platform)


_IN_TURN = InTurn()


@dataclass(frozen=True, slots=True)
class Passed:
    is_busy: bool
    """Something started or ended."""
    handles: list[str]
    """Of the gangs that ran."""


def tick(platform: Platform, *, since: datetime, starter: Starter = _IN_TURN) -> Passed:
    """One pass. What is live is read once, and again after a step that changed it."""
    live = _live(platform)
    has_ended = reap(platform, live, since=since)
    if has_ended:
        live = _live(platform)
    if schedule(platform, live):
        live = _live(platform)
    has_started = start_placed(platform, live, starter)
    handles = [allocation.handle for allocation in live if allocation.handle is not None]
    return Passed(has_ended or has_started, handles)


def _live(platform: Platform) -> list[Allocation]:
    with platform.store.read() as tx:
        return tx.allocations.live()
