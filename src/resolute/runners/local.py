"""Runs gangs as processes of this machine. The gangs belong to their shepherds, not to this object: it may be
dropped, or die with the master, and another one finds them again by what they wrote into their run directories.

It holds no state that matters: every answer about a gang is read from `<home>/runs/<allocation id>/`.
"""

import contextlib
import logging
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from resolute.domain.errors import InvalidInput, Unavailable
from resolute.domain.gang import Phase
from resolute.domain.node import DeviceType, Node, Pool
from resolute.engine.ports.runner import Gang, GangStatus
from resolute.host.process_identity import identity_of
from resolute.runners import environments
from resolute.runners.environments import Environment
from resolute.runners.node_request import node_request
from resolute.runners.preparation import run_directory, session_request
from resolute.runners.rendering import render_gang, unused_here, without_secrets
from resolute.runners.shepherd.cgroups import Cgroup, own_groups
from resolute.runners.shepherd.entrypoint import plain_python
from resolute.runners.shepherd.model_code import cached_code, keep_code
from resolute.runners.shepherd.orders import FORCE_SIGNAL
from resolute.runners.shepherd.ownership import MARK_VARIABLE, RunProcesses, inherited_mark, mark_of
from resolute.runners.shepherd.run_directory import Exit, RunDirectory
from resolute.runners.slots import host_name, local_node
from resolute.runners.zygote import BOOT_SCRIPT, ZygotePool, spawn

log = logging.getLogger(__name__)

WARM_MODULES = ("numpy.random", "torch", "httpcore", "resolute.training.core", "resolute.pytorch")
"""What trials are likely to import (`httpcore` on the first request); what an environment lacks is left out."""
_TELL_AFTER_S = 30.0
"""Between warnings about processes that were killed and do not die, because the kernel or a device holds them."""
_CAN_BE_WARM = sys.platform == "linux"
_LOST = GangStatus(
    phase=Phase.ENDED,
    is_lost=True,
    reason="Its processes are gone and left no exit code: they were killed together, or the machine was restarted.",
)


ReadCode = Callable[[str], bytes]


class LocalRunner:
    """`slots` None: one per CUDA device, else per core. `warm` False: every trial starts a fresh interpreter.
    `read_code`: a model definition by its content hash, for a runner that lives with its master; without it the
    supervisors fetch it themselves. `cgroups`: folders below which a run may have a control group, best first; None:
    those of this process."""

    def __init__(
        self,
        *,
        home: Path,
        slots: int | None = None,
        node_id: str | None = None,
        warm: bool = True,
        read_code: ReadCode | None = None,
        cgroups: Sequence[str] | None = None,
    ) -> None:
        home = home.absolute()
        self._read_code = read_code
        self._contexts = home / "contexts"
        self._runs = home / "runs"
        self._runs.mkdir(parents=True, exist_ok=True)
        self._envs = home / "envs"
        self._node = local_node(node_id or host_name(), slots, os.environ)
        self._zygotes = ZygotePool(modules=WARM_MODULES, env=os.environ, home=home) if warm and _CAN_BE_WARM else None
        if self._zygotes is not None:
            self._zygotes.get(sys.executable)
        self._starting = threading.Lock()
        self._lock = threading.Lock()
        self._spawned: set[int] = set()
        self._ended: dict[str, GangStatus] = {}
        self._cgroups = own_groups() if cgroups is None else tuple(cgroups)
        self._dying_since: dict[str, float] = {}
        """Lost gangs whose processes were killed and are not all dead yet, by handle."""

    def pools(self) -> list[Pool]:
        return [Pool(self._node.resource_pool, self._node.slots[0].type if self._node.slots else DeviceType.CPU)]

    def nodes(self) -> list[Node]:
        return [self._node]

    def render(self, gang: Gang) -> dict[str, object]:
        rendered = render_gang(gang)
        environment = environments.resolve(gang.environment, envs=self._envs)
        rendered["env"] = without_secrets(self._request_in(gang, environment, {})["env"])
        rendered["environment_directory"] = environment.build.directory if environment.build is not None else None
        rendered["run_directory"] = str(self._run(gang.allocation_id).path)
        return rendered

    def start(self, gang: Gang) -> str:
        handle = gang.allocation_id
        run = self._run(handle)
        if len(gang.nodes) != 1:
            raise InvalidInput(
                f"Allocation {handle} spans {len(gang.nodes)} nodes; the local runner has one. Ask for fewer slots."
            )
        with self._starting:
            if run.claimed_by() is not None or run.exit() is not None:
                return handle
            self._ended.pop(handle, None)
            environment = environments.resolve(gang.environment, envs=self._envs)
            try:
                self._fetch_code(gang.context_id)
                run.prepare(self._session_request(gang, environment))
                run.note_launch(identity_of(self._launch(run, gang, environment)))
            except OSError as error:
                why = error.strerror or error
                raise Unavailable(f"Allocation {handle} cannot be started in {run.path}: {why}.") from error
        return handle

    def poll(self, handles: Sequence[str]) -> dict[str, GangStatus]:
        self._reap()
        return {handle: self._status(handle) for handle in handles}

    def stop(self, handle: str, *, force: bool) -> None:
        run = self._run(handle)
        if not run.path.exists() or run.exit() is not None:
            return
        with self._starting:
            if run.give_up():
                number = signal.SIGKILL if force else signal.SIGTERM
                run.record_exit(Exit(128 + number, "Stopped before it started."))
                return
        shepherd = run.claimed_by()
        if shepherd is not None and shepherd.is_alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(shepherd.pid, FORCE_SIGNAL if force else signal.SIGTERM)
                if force:
                    os.kill(shepherd.pid, signal.SIGCONT)  # a stopped process takes no orders

    def running(self) -> list[str]:
        handles = sorted(unquote(path.name) for path in self._runs.iterdir() if path.is_dir())
        return [handle for handle, status in self.poll(handles).items() if not status.is_over]

    def close(self, *, stop_gangs: bool) -> None:
        if stop_gangs:
            self._stop_all()
        if self._zygotes is not None:
            self._zygotes.close()
        self._reap()

    def _stop_all(self) -> None:
        for handle in self.running():
            self.stop(handle, force=True)
        deadline = time.monotonic() + 10.0
        while self.running() and time.monotonic() < deadline:
            time.sleep(0.01)

    def forget(self, handle: str) -> None:
        """Remove the run directory of a gang that has ended. Unknown or running handles are ignored."""
        if not self._status(handle).is_over:
            return
        run = self._run(handle)
        cgroup = run.cgroup()
        if cgroup is not None:
            Cgroup(cgroup).remove()
        shutil.rmtree(run.path, ignore_errors=True)
        with self._lock:
            self._ended.pop(handle, None)

    def is_warm(self, python: str) -> bool:
        """Would a trial in this interpreter start warm now? Asking starts warming it up."""
        return self._zygotes is not None and self._zygotes.get(python).is_ready

    def _run(self, handle: str) -> RunDirectory:
        return run_directory(self._runs, handle)

    def _fetch_code(self, context_id: str | None) -> None:
        """Before the supervisor asks for it: here it is one read of the store for all runs of an experiment."""
        if context_id and self._read_code is not None and cached_code(self._contexts, context_id) is None:
            keep_code(self._contexts, context_id, self._read_code(context_id))

    def _status(self, handle: str) -> GangStatus:
        known = self._ended.get(handle)
        if known is not None:
            return known
        run = self._run(handle)
        if not run.path.exists():
            return self._lost(handle, run)
        shepherd = run.claimed_by()
        # The claim is read first and the exit last: a gang that ends in between is seen as ended, never as lost.
        is_alive = shepherd.is_alive if shepherd is not None else self._is_starting(run)
        ended = run.exit()
        if ended is not None:
            status = GangStatus(phase=Phase.ENDED, exit_code=ended.code, reason=ended.reason, is_final=ended.is_final)
            with self._lock:
                self._ended[handle] = status
            return status
        if is_alive:
            return GangStatus(phase=run.phase())
        return self._lost(handle, run)

    def _lost(self, handle: str, run: RunDirectory) -> GangStatus:
        """Whoever is told that a gang is lost may start it again, so nothing of it may run: until all of its processes
        are dead it counts as running."""
        living = _kill_leftovers(run)
        with self._lock:
            if not living:
                self._dying_since.pop(handle, None)
                self._ended[handle] = _LOST
                return _LOST
            if handle not in self._dying_since:
                self._dying_since[handle] = time.monotonic()
            elif time.monotonic() - self._dying_since[handle] > _TELL_AFTER_S:
                self._dying_since[handle] = time.monotonic()
                log.warning(
                    "The supervisor of %s is gone and its processes %s do not die; its slots stay taken until they do.",
                    handle,
                    ", ".join(map(str, sorted(living))),
                )
        return GangStatus(phase=run.phase())

    def _is_starting(self, run: RunDirectory) -> bool:
        """Not claimed yet. When the process that should claim it is not there, the gang is given up for good, so that
        it cannot start behind the back of whoever is told that it is lost."""
        with self._starting:
            return run.launched().is_alive or not run.give_up()

    def _launch(self, run: RunDirectory, gang: Gang, environment: Environment) -> int:
        pid = self._launch_warm(run, gang, environment)
        if pid is None:
            # Neither site-packages nor the caller's PYTHON* variables concern a shepherd that starts others.
            arguments = [sys.executable, "-I", "-S", str(BOOT_SCRIPT), "shepherd", str(run.path)]
            env = {**os.environ, MARK_VARIABLE: inherited_mark(mark_of(run.path), os.environ.get(MARK_VARIABLE, ""))}
            pid = spawn(arguments, env, errors=run.path / "shepherd.err")
            with self._lock:
                self._spawned.add(pid)
        return pid

    def _launch_warm(self, run: RunDirectory, gang: Gang, environment: Environment) -> int | None:
        if self._zygotes is None:
            return None
        runs_in_it = environment.is_ready and environment.can_be_warm and plain_python(gang.entrypoint) is not None
        if runs_in_it and environment.python != sys.executable:
            pid = self._zygotes.get(environment.python).launch(run.path, mark_of(run.path))
            if pid is not None:
                return pid
        # Also where nothing is run in it: forking a shepherd is cheaper than starting one.
        return self._zygotes.get(sys.executable).launch(run.path, mark_of(run.path))

    def _reap(self) -> None:
        """Shepherds that this master executed itself are its children; their exit codes mean nothing."""
        with self._lock:
            for pid in list(self._spawned):
                with contextlib.suppress(ChildProcessError):
                    if os.waitpid(pid, os.WNOHANG)[0] == 0:
                        continue
                self._spawned.discard(pid)

    def _session_request(self, gang: Gang, environment: Environment) -> dict[str, Any]:
        return self._request_in(gang, environment, os.environ)

    def _request_in(self, gang: Gang, environment: Environment, inherited: Mapping[str, str]) -> dict[str, Any]:
        run = self._run(gang.allocation_id)
        return session_request(
            node_request(gang, gang.nodes[0], is_remote=False, notes=unused_here(gang)),
            environment,
            node=self._node,
            run=run,
            contexts=self._contexts,
            inherited=inherited,
            cgroups=self._cgroups,
        )


def _kill_leftovers(run: RunDirectory) -> set[int]:
    """Those that are not dead yet."""
    cgroup = run.cgroup()
    return RunProcesses(mark_of(run.path), run.entrypoint(), Cgroup(cgroup) if cgroup is not None else None).end()
