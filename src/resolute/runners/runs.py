"""The runs of one machine, as their directories tell of them: which are alive, how they ended, how they are told to.

Holds nothing that matters: another object over the same folder gives the same answers.
"""

import contextlib
import logging
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Collection
from pathlib import Path
from urllib.parse import unquote

from resolute.domain.gang import Phase
from resolute.engine.ports.runner import GangStatus
from resolute.host.process_identity import ProcessIdentity, identity_of
from resolute.runners.preparation import run_directory
from resolute.runners.shepherd.cgroups import Cgroup
from resolute.runners.shepherd.orders import FORCE_SIGNAL
from resolute.runners.shepherd.ownership import RunProcesses, mark_of
from resolute.runners.shepherd.run_directory import Exit, RunDirectory

log = logging.getLogger(__name__)

_TELL_AFTER_S = 30.0
"""Between warnings about processes that were killed and do not die, because the kernel or a device holds them."""
_LOST = GangStatus(
    phase=Phase.ENDED,
    is_lost=True,
    reason="Its processes are gone and left no exit code: they were killed together, or the machine was restarted.",
)


class Runs:
    """Thread-safe. A run that nobody has heard of is lost."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._folder.mkdir(parents=True, exist_ok=True)
        self._starting = threading.Lock()
        self._lock = threading.Lock()
        self._ended: dict[str, GangStatus] = {}
        self._dying_since: dict[str, float] = {}
        """Lost runs whose processes were killed and are not all dead yet, by name."""

    def directory(self, name: str) -> RunDirectory:
        return run_directory(self._folder, name)

    def names(self) -> list[str]:
        return sorted(unquote(path.name) for path in self._folder.iterdir() if path.is_dir())

    def start(self, name: str, launch: Callable[[RunDirectory], int]) -> None:
        """`launch` starts the process that will claim the run, and returns its pid. It is not called for a run that
        has been claimed or is about to be: nothing starts twice."""
        run = self.directory(name)
        with self._starting:
            if run.claimed_by() is not None or run.exit() is not None or run.launched().is_alive:
                return
            self._ended.pop(name, None)
            run.note_launch(identity_of(launch(run)))

    def status(self, name: str) -> GangStatus:
        known = self._ended.get(name)
        if known is not None:
            return known
        run = self.directory(name)
        if not run.path.exists():
            return self._lost(name, run)
        shepherd = run.claimed_by()
        # The claim is read first and the exit last: a run that ends in between is seen as ended, never as lost.
        is_alive = shepherd.is_alive if shepherd is not None else self._is_starting(run)
        ended = run.exit()
        if ended is not None:
            status = GangStatus(phase=Phase.ENDED, exit_code=ended.code, reason=ended.reason, is_final=ended.is_final)
            with self._lock:
                self._ended[name] = status
            return status
        if is_alive:
            return GangStatus(phase=run.phase())
        return self._lost(name, run)

    def stop(self, name: str, *, force: bool) -> None:
        run = self.directory(name)
        if not run.path.exists() or run.exit() is not None:
            return
        with self._starting:
            if run.give_up():
                _kill(run.launched())  # it would find the directory gone, once it is forgotten
                number = signal.SIGKILL if force else signal.SIGTERM
                run.record_exit(Exit(128 + number, "Stopped before it started."))
                return
        shepherd = run.claimed_by()
        if shepherd is not None and shepherd.is_alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(shepherd.pid, FORCE_SIGNAL if force else signal.SIGTERM)
                if force:
                    os.kill(shepherd.pid, signal.SIGCONT)  # a stopped process takes no orders

    def forget(self, name: str) -> None:
        """Remove the directory of a run that has ended. Unknown or running ones are ignored."""
        if not self.status(name).is_over:
            return
        run = self.directory(name)
        cgroup = run.cgroup()
        if cgroup is not None:
            Cgroup(cgroup).remove()
        shutil.rmtree(run.path, ignore_errors=True)
        with self._lock:
            self._ended.pop(name, None)

    def sweep(self, live: Collection[str]) -> int:
        """Forget those that have ended and are not among `live`. Returns how many."""
        gone = [name for name in self.names() if name not in live and self.status(name).is_over]
        for name in gone:
            self.forget(name)
        return len(gone)

    def _lost(self, name: str, run: RunDirectory) -> GangStatus:
        """Whoever is told that a run is lost may start it again, so nothing of it may run: until all of its processes
        are dead it counts as running."""
        living = _kill_leftovers(run)
        with self._lock:
            if not living:
                self._dying_since.pop(name, None)
                self._ended[name] = _LOST
                return _LOST
            if name not in self._dying_since:
                self._dying_since[name] = time.monotonic()
            elif time.monotonic() - self._dying_since[name] > _TELL_AFTER_S:
                self._dying_since[name] = time.monotonic()
                log.warning(
                    "The supervisor of %s is gone and its processes %s do not die; its slots stay taken until they do.",
                    name,
                    ", ".join(map(str, sorted(living))),
                )
        return GangStatus(phase=run.phase())

    def _is_starting(self, run: RunDirectory) -> bool:
        """Not claimed yet. When the process that should claim it is not there, the run is given up for good, so that
        it cannot start behind the back of whoever is told that it is lost."""
        with self._starting:
            return run.launched().is_alive or not run.give_up()


def _kill(process: ProcessIdentity) -> None:
    if process.is_alive:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)


def _kill_leftovers(run: RunDirectory) -> set[int]:
    """Those that are not dead yet."""
    cgroup = run.cgroup()
    return RunProcesses(mark_of(run.path), run.entrypoint(), Cgroup(cgroup) if cgroup is not None else None).end()
