"""A runner that is slow to ask, answered from memory: one thread asks it, and nobody waits for it but that thread."""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from resolute.domain.errors import ResoluteError
from resolute.domain.gang import Phase
from resolute.domain.node import Node, Pool
from resolute.engine.ports.runner import Forgets, Gang, GangStatus, Runner

log = logging.getLogger(__name__)

DEFAULT_INTERVAL_S = 2.0


class PolledRunner:
    """`interval_s`: from one question to the next; a start or a stop asks at once. `start` is passed on as it is, since
    the engine starts gangs side by side."""

    def __init__(self, runner: Runner, *, interval_s: float = DEFAULT_INTERVAL_S) -> None:
        self._runner = runner
        self._interval_s = interval_s
        self._lock = threading.Lock()
        self._due = threading.Event()
        self._is_closing = False
        self._pools: list[Pool] = []
        self._nodes: list[Node] = []
        self._problem = ""
        self._statuses: dict[str, GangStatus] = {}
        self._asked: set[str] = set()
        """Handles that somebody wants to know about."""
        self._stops: dict[str, bool] = {}
        """Handles to stop, and whether by force."""
        self._watchers: list[Callable[[], None]] = []
        self._thread = threading.Thread(target=self._run, name="runner poll", daemon=True)
        self._thread.start()

    def pools(self) -> list[Pool]:
        with self._lock:
            return [replace(pool, problem=self._problem) for pool in self._pools]

    def nodes(self) -> list[Node]:
        with self._lock:
            return list(self._nodes)

    def render(self, gang: Gang) -> dict[str, object]:
        return self._runner.render(gang)

    def start(self, gang: Gang) -> str:
        handle = self._runner.start(gang)
        with self._lock:
            self._statuses.setdefault(handle, GangStatus(phase=Phase.PENDING))
            self._asked.add(handle)
        self._due.set()
        return handle

    def poll(self, handles: Sequence[str]) -> dict[str, GangStatus]:
        """Handles that the engine has not been asked about yet are left out."""
        with self._lock:
            if not self._asked.issuperset(handles):
                self._asked.update(handles)
                self._due.set()
            return {handle: self._statuses[handle] for handle in handles if handle in self._statuses}

    def stop(self, handle: str, *, force: bool) -> None:
        """Written down; the thread does it. A second call with force wins."""
        with self._lock:
            self._asked.add(handle)
            is_new = handle not in self._stops or force > self._stops[handle]
            self._stops[handle] = force or self._stops.get(handle, False)
        if is_new:
            self._due.set()

    def running(self) -> list[str]:
        return self._runner.running()

    def close(self, *, stop_gangs: bool) -> None:
        self._is_closing = True
        self._due.set()
        self._thread.join(timeout=5)
        self._runner.close(stop_gangs=stop_gangs)

    def forget(self, handle: str) -> None:
        with self._lock:
            status = self._statuses.get(handle)
            if status is not None and not status.is_over:
                return
            self._asked.discard(handle)
            self._statuses.pop(handle, None)
            self._stops.pop(handle, None)
        if isinstance(self._runner, Forgets):
            self._runner.forget(handle)

    def watch(self, on_change: Callable[[], None]) -> None:
        self._watchers.append(on_change)

    # ------------------------------------------------------------------------------------------------- the one thread

    def _run(self) -> None:
        while not self._is_closing:
            self._due.clear()
            try:
                has_changed = self.refresh()
            except ResoluteError as error:
                has_changed = self._fail(str(error))
            except Exception as error:
                has_changed = self._fail(f"{type(error).__name__}: {error}")
            if has_changed:
                self._tell()
            self._due.wait(self._interval_s)

    def refresh(self) -> bool:
        """Ask everything once. True when something is different from before."""
        self._carry_out_stops()
        pools, nodes = self._runner.pools(), self._runner.nodes()
        with self._lock:
            asked = sorted(self._asked)
        statuses = self._runner.poll(asked)
        with self._lock:
            known = {**self._statuses, **{h: s for h, s in statuses.items() if h in self._asked}}
            before = (self._pools, self._nodes, self._statuses, self._problem)
            self._pools, self._nodes, self._statuses, self._problem = pools, nodes, known, ""
            return before != (pools, nodes, known, "")

    def _carry_out_stops(self) -> None:
        """One that fails is tried again with the next question."""
        with self._lock:
            stops = dict(self._stops)
        for handle, force in stops.items():
            try:
                self._runner.stop(handle, force=force)
            except Exception as error:
                log.warning("gang %s cannot be stopped now: %s", handle, error)
                continue
            with self._lock:
                if self._stops.get(handle) == force:
                    del self._stops[handle]

    def _fail(self, why: str) -> bool:
        """What was known stays: an engine that is away has lost nothing."""
        with self._lock:
            is_new, self._problem = self._problem != why, why
        if is_new:
            log.warning("a runner does not answer: %s", why)
        return is_new

    def _tell(self) -> None:
        for tell in list(self._watchers):
            tell()
