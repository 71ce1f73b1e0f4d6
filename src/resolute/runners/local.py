"""Runs gangs as processes of this machine. The gangs belong to their shepherds, not to this object: it may be
dropped, or die with the master, and another one finds them again by what they wrote into their run directories.

It holds no state that matters: every answer about a gang is read from `<home>/runs/<allocation id>/`.
"""

import contextlib
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from resolute.domain.errors import InvalidInput, Unavailable
from resolute.domain.node import Node
from resolute.engine.ports.runner import Gang, GangStatus
from resolute.host.process_identity import identity_of
from resolute.runners import environments
from resolute.runners.environments import Environment
from resolute.runners.process_env import process_env
from resolute.runners.rendering import render_gang, without_secrets
from resolute.runners.shepherd.entrypoint import plain_python
from resolute.runners.shepherd.orders import FORCE_SIGNAL
from resolute.runners.shepherd.run_directory import Exit, RunDirectory
from resolute.runners.slots import host_name, local_node
from resolute.runners.zygote import BOOT_SCRIPT, ZygotePool, spawn

WARM_MODULES = ("numpy.random", "torch", "httpcore", "resolute.training.core", "resolute.pytorch")
"""What trials are likely to import (`httpcore` on the first request); what an environment lacks is left out."""
_CAN_BE_WARM = sys.platform == "linux"
_LOST = GangStatus(
    is_lost=True,
    reason="Its processes are gone and left no exit code: they were killed together, or the machine was restarted.",
)


class LocalRunner:
    """`slots` None: one per CUDA device, else per core. `warm` False: every trial starts a fresh interpreter."""

    def __init__(self, *, home: Path, slots: int | None = None, node_id: str | None = None, warm: bool = True) -> None:
        home = home.absolute()
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

    def nodes(self) -> list[Node]:
        return [self._node]

    def render(self, gang: Gang) -> dict[str, Any]:
        rendered = render_gang(gang)
        environment = environments.resolve(gang.environment, envs=self._envs)
        rendered["env"] = without_secrets(self._env(gang, environment, {}))
        rendered["environment_directory"] = environment.build.directory if environment.build is not None else None
        rendered["run_directory"] = str(self._run(gang.allocation_id).path)
        return rendered

    def start(self, gang: Gang) -> str:
        handle = gang.allocation_id
        run = self._run(handle)
        if len(gang.shares) > 1:
            raise InvalidInput(
                f"Allocation {handle} spans {len(gang.shares)} nodes; the local runner has one. Ask for fewer slots."
            )
        with self._starting:
            if run.claimed_by() is not None or run.exit() is not None:
                return handle
            environment = environments.resolve(gang.environment, envs=self._envs)
            try:
                run.prepare(self._request(gang, environment), gang.context)
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

    def running(self) -> list[str]:
        handles = sorted(unquote(path.name) for path in self._runs.iterdir() if path.is_dir())
        return [handle for handle, status in self.poll(handles).items() if _is_running(status)]

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
        if _is_running(self._status(handle)):
            return
        shutil.rmtree(self._run(handle).path, ignore_errors=True)
        with self._lock:
            self._ended.pop(handle, None)

    def is_warm(self, python: str) -> bool:
        """Would a trial in this interpreter start warm now? Asking starts warming it up."""
        return self._zygotes is not None and self._zygotes.get(python).is_ready

    def _run(self, handle: str) -> RunDirectory:
        # Allocation ids become names of directories: a dot at the start or a slash must not mean anything.
        name = quote(handle, safe="")
        return RunDirectory(self._runs / (name if not name.startswith(".") else f"%2E{name[1:]}"))

    def _status(self, handle: str) -> GangStatus:
        known = self._ended.get(handle)
        if known is not None:
            return known
        run = self._run(handle)
        if not run.path.exists():
            return _LOST
        shepherd = run.claimed_by()
        # The claim is read first and the exit last: a gang that ends in between is seen as ended, never as lost.
        is_alive = shepherd.is_alive if shepherd is not None else self._is_starting(run)
        ended = run.exit()
        if ended is not None:
            status = GangStatus(exit_code=ended.code, reason=ended.reason, is_final=ended.is_final)
            with self._lock:
                self._ended[handle] = status
            return status
        if is_alive:
            return GangStatus()
        _kill_leftovers(run)
        return _LOST

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
            pid = spawn(arguments, os.environ, errors=run.path / "shepherd.err")
            with self._lock:
                self._spawned.add(pid)
        return pid

    def _launch_warm(self, run: RunDirectory, gang: Gang, environment: Environment) -> int | None:
        if self._zygotes is None:
            return None
        runs_in_it = environment.is_ready and environment.can_be_warm and plain_python(gang.entrypoint) is not None
        if runs_in_it and environment.python != sys.executable:
            pid = self._zygotes.get(environment.python).launch(run.path)
            if pid is not None:
                return pid
        # Also where nothing is run in it: forking a shepherd is cheaper than starting one.
        return self._zygotes.get(sys.executable).launch(run.path)

    def _reap(self) -> None:
        """Shepherds that this master executed itself are its children; their exit codes mean nothing."""
        with self._lock:
            for pid in list(self._spawned):
                with contextlib.suppress(ChildProcessError):
                    if os.waitpid(pid, os.WNOHANG)[0] == 0:
                        continue
                self._spawned.discard(pid)

    def _env(self, gang: Gang, environment: Environment, inherited: Mapping[str, str]) -> dict[str, str]:
        run = self._run(gang.allocation_id)
        return process_env(gang, environment, node=self._node, run=run, inherited=inherited)

    def _request(self, gang: Gang, environment: Environment) -> dict[str, Any]:
        return {
            "allocation_id": gang.allocation_id,
            "entrypoint": gang.entrypoint,
            "env": self._env(gang, environment, os.environ),
            "python": None if environment.is_found_as_python3 else environment.python,
            "build": environment.build.as_json() if environment.build is not None else None,
            "files": gang.files,
            "bind_mounts": gang.bind_mounts,
            "log_path": os.path.abspath(gang.log_path) if gang.log_path else "",
        }


def _is_running(status: GangStatus) -> bool:
    return status.exit_code is None and not status.is_lost


def _kill_leftovers(run: RunDirectory) -> None:
    """Its shepherd was killed: whoever is told that the gang is lost may start it again, so nothing of it may run."""
    entrypoint = run.entrypoint()
    if entrypoint.is_alive:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(entrypoint.pid, signal.SIGKILL)
