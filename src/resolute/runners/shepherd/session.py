"""From a request to an exit code: prepares the run directory, starts the entrypoint, follows it, and writes down how
it ended. One process, one thread, no memory of the master. Nothing but its own SIGKILL ends it before its gang.
"""

import contextlib
import functools
import os
import select
import shlex
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from resolute.domain.errors import ResoluteError, Unavailable
from resolute.domain.log import LogLevel
from resolute.host.process_identity import identity_of
from resolute.runners.context import unpack_context
from resolute.runners.shepherd.entrypoint import PythonCommand, can_run_here, command_of, plain_python
from resolute.runners.shepherd.environment import build_from_json, ensure_built
from resolute.runners.shepherd.mounts import mount
from resolute.runners.shepherd.orders import Orders, Stopped
from resolute.runners.shepherd.output import follow
from resolute.runners.shepherd.processes import Child, adopt_orphans, execute, explained, fork
from resolute.runners.shepherd.run_directory import Exit, RunDirectory
from resolute.runners.shepherd.task_log import TaskLog

PREPARATION_FAILED = 125
COMMAND_NOT_FOUND = 127
_RETRY_S = 1.0


@dataclass(frozen=True, slots=True)
class Warmth:
    """This process has libraries loaded, and can become a Python command itself."""

    own_env: dict[str, str]
    """Its environment when the libraries were loaded."""
    become: Callable[[PythonCommand, dict[str, str]], NoReturn]


def shepherd(run: RunDirectory, warmth: Warmth | None = None) -> None:
    """Take the gang in hand until it has ended, or return at once when somebody else has it."""
    orders = Orders()
    if not run.claim(identity_of(os.getpid())):
        return
    request = run.take_request()
    log = TaskLog(request["log_path"] or os.devnull)
    try:
        ended = _Session(run, request, log, orders, warmth).run()
    except Stopped as stop:
        ended = Exit(stop.exit_code, "Stopped before its entrypoint ran.")
    except ResoluteError as error:
        ended = Exit(PREPARATION_FAILED, str(error), is_final=not isinstance(error, Unavailable))
    except Exception as error:  # a bug or a broken disk: the gang must end with a sentence, not vanish
        ended = Exit(PREPARATION_FAILED, f"The run could not be prepared: {type(error).__name__}: {error}")
    if ended.code in (PREPARATION_FAILED, COMMAND_NOT_FOUND) and ended.reason:
        log.say(ended.reason, LogLevel.ERROR)
    _record(run, ended)


def _record(run: RunDirectory, ended: Exit) -> None:
    while True:
        try:
            return run.record_exit(ended)
        except FileNotFoundError:
            return None  # the run directory was removed: nobody wants to know
        except OSError:
            time.sleep(_RETRY_S)  # no room: the master sees a running gang until there is some


@dataclass(frozen=True, slots=True)
class _Session:
    _run: RunDirectory
    _request: dict[str, Any]
    _log: TaskLog
    _orders: Orders
    _warmth: Warmth | None

    def run(self) -> Exit:
        adopt_orphans()
        self._run.work.mkdir(exist_ok=True)
        self._build_environment()
        self._name_interpreter()
        self._unpack()
        self._write_files()
        mount(self._request["bind_mounts"], work=self._run.work, say=self._log.say)
        return self._run_startup_hook() or self._run_entrypoint()

    def _build_environment(self) -> None:
        if self._request["build"] is not None:
            build = build_from_json(self._request["build"])
            ensure_built(build, execute=self._execute_and_listen, say=self._log.say, wait=self._wait)

    def _execute_and_listen(self, argv: list[str]) -> tuple[int, str]:
        self._orders.check()
        heard: list[bytes] = []
        code = self._follow(self._execute(argv), heard)
        if code in (128 + signal.SIGTERM, 128 + signal.SIGKILL):
            raise Stopped(code - 128)
        return code, b"".join(heard).decode(errors="replace")

    def _wait(self, seconds: float) -> None:
        select.select([self._orders.wakeups], [], [], seconds)
        self._orders.check()

    def _name_interpreter(self) -> None:
        python = self._request["python"]
        for name in ("python", "python3") if python is not None else ():
            self._run.bin.mkdir(exist_ok=True)
            wrapper = self._run.bin / name
            # Not a link: through one, an interpreter would look for its environment in the wrong place.
            wrapper.write_text(f'#!/bin/sh\nexec {shlex.quote(python)} "$@"\n')
            wrapper.chmod(0o755)

    def _unpack(self) -> None:
        if self._run.context.exists():
            unpack_context(self._run.context, self._run.work)
            self._run.context.unlink()

    def _write_files(self) -> None:
        for name, content in self._request["files"].items():
            path = self._run.files / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)

    def _run_startup_hook(self) -> Exit | None:
        """None: there is none, or it went well."""
        hook = self._run.work / "startup-hook.sh"
        code = self._follow(self._execute(["sh", str(hook)])) if hook.is_file() else 0
        if code == 0:
            return None
        reason = f"startup-hook.sh ended with exit code {code}; the entrypoint was not run."
        self._log.say(reason, LogLevel.ERROR)
        return Exit(code, reason)

    def _run_entrypoint(self) -> Exit:
        self._orders.check()
        entrypoint = self._request["entrypoint"]
        try:
            child = self._start(entrypoint)
        except OSError as error:
            reason = f"The entrypoint {entrypoint!r} could not be started: {error.strerror or error}."
            return Exit(COMMAND_NOT_FOUND, reason, is_final=isinstance(error, FileNotFoundError | PermissionError))
        code = self._follow(child)
        return Exit(code, explained(code))

    def _start(self, entrypoint: str | Sequence[str]) -> Child:
        command = plain_python(entrypoint)
        if self._warmth is None or command is None or not self._is_fit_for(command, self._warmth):
            return self._execute(command_of(entrypoint))
        become = functools.partial(self._warmth.become, command, self._request["env"])
        return fork(become, cwd=self._run.work)

    def _is_fit_for(self, command: PythonCommand, warmth: Warmth) -> bool:
        is_there = command.is_module or (self._run.work / command.target).is_file()
        env = self._request["env"]
        return is_there and can_run_here(command, env, executable=sys.executable, own_env=warmth.own_env)

    def _execute(self, argv: list[str]) -> Child:
        return execute(argv, env=self._request["env"], cwd=self._run.work)

    def _follow(self, child: Child, heard: list[bytes] | None = None) -> int:
        with contextlib.suppress(OSError):  # a full disk
            self._run.note_entrypoint(identity_of(child.pid))
        return follow(child, log=self._log, orders=self._orders, heard=heard)
