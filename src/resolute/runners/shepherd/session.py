"""From a request to an exit code: prepares the run directory, starts the entrypoint, reads its output, passes
signals on, and writes down how it ended. One process, one thread, no memory of the master.

SIGTERM is passed on to the gang. SIGUSR2 kills it. Nothing but its own SIGKILL ends a shepherd before its gang.
"""

import contextlib
import ctypes
import fcntl
import os
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from resolute.domain.errors import ResoluteError
from resolute.domain.log import LogLevel, LogStream
from resolute.runners.context import unpack_context
from resolute.runners.shepherd.entrypoint import PythonCommand, can_run_here, command_of, plain_python
from resolute.runners.shepherd.environment import build_from_json, ensure_built
from resolute.runners.shepherd.identity import identity_of
from resolute.runners.shepherd.mounts import mount
from resolute.runners.shepherd.run_directory import Exit, RunDirectory
from resolute.runners.shepherd.task_log import UNFINISHED_LINE_S, OutputStream, TaskLog, now_us

FORCE_SIGNAL = signal.SIGUSR2
_ORDERS = (signal.SIGTERM, FORCE_SIGNAL)
PREPARATION_FAILED = 125
COMMAND_NOT_FOUND = 127
_READ_BYTES = 256 * 1024
_PIPE_BYTES = 1024 * 1024
_MORE_THAN_ANY_DESCRIPTOR = 1 << 20
_PR_SET_CHILD_SUBREAPER = 36

InProcess = Callable[[PythonCommand, dict[str, str]], None]
"""Runs a Python command in this (just forked) process and never returns."""


class Stopped(Exception):
    """The gang was told to end before its entrypoint ran."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.exit_code = 128 + signal_number


def shepherd(run: RunDirectory, *, own_env: dict[str, str] | None = None, in_process: InProcess | None = None) -> None:
    """Take the gang in hand, or return at once when somebody else has. `in_process`: this is a warm process whose
    environment was `own_env` when its libraries were loaded."""
    signals = _Signals()
    if not run.claim(identity_of(os.getpid())):
        return
    request = run.take_request()
    log = TaskLog(request["log_path"] or os.devnull)
    try:
        ended = _Session(run, request, log, signals, own_env or {}, in_process).run()
    except Stopped as stop:
        ended = Exit(stop.exit_code, "Stopped before its entrypoint ran.")
    except ResoluteError as error:
        log.say(str(error), LogLevel.ERROR)
        ended = Exit(PREPARATION_FAILED, str(error))
    except Exception as error:  # a bug or a broken disk: the gang must end with a sentence, not vanish
        reason = f"The run could not be prepared: {type(error).__name__}: {error}"
        log.say(reason, LogLevel.ERROR)
        ended = Exit(PREPARATION_FAILED, reason)
    _record(run, ended)


def _record(run: RunDirectory, ended: Exit) -> None:
    while True:
        try:
            return run.record_exit(ended)
        except FileNotFoundError:
            return None  # the run directory was removed: nobody wants to know
        except OSError:
            time.sleep(1.0)  # no room: the master sees a running gang until there is some


class _Signals:
    """Signals as bytes in a pipe, so that one `select` waits for output, children and orders alike."""

    def __init__(self) -> None:
        self.wakeups, writer = os.pipe()
        for descriptor in (self.wakeups, writer):
            os.set_blocking(descriptor, False)
        self._received: list[int] = []
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        for number in _ORDERS:
            signal.signal(number, lambda number, _frame: self._received.append(number))
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            # Not SIG_IGN, which processes that are executed from here would inherit.
            signal.signal(number, lambda _number, _frame: None)

    def take(self) -> list[int]:
        with contextlib.suppress(BlockingIOError):
            while os.read(self.wakeups, 4096):
                pass
        received, self._received = self._received, []
        return received


class _Session:
    def __init__(
        self,
        run: RunDirectory,
        request: dict[str, Any],
        log: TaskLog,
        signals: _Signals,
        own_env: dict[str, str],
        in_process: InProcess | None,
    ) -> None:
        self._run = run
        self._request = request
        self._log = log
        self._signals = signals
        self._own_env = own_env
        self._in_process = in_process
        self._env: dict[str, str] = request["env"]

    def run(self) -> Exit:
        _adopt_orphans()
        self._run.work.mkdir(exist_ok=True)
        self._build_environment()
        self._name_interpreter()
        self._unpack()
        self._write_files()
        mount(self._request["bind_mounts"], work=self._run.work, say=self._log.say)
        hook = self._run.work / "startup-hook.sh"
        if hook.is_file():
            code = self._watch(self._execute(["sh", str(hook)]))
            if code != 0:
                reason = f"startup-hook.sh ended with exit code {code}; the entrypoint was not run."
                self._log.say(reason, LogLevel.ERROR)
                return Exit(code, reason)
        self._check_orders()
        return self._run_entrypoint()

    def _build_environment(self) -> None:
        if self._request["build"] is not None:
            build = build_from_json(self._request["build"])
            ensure_built(build, execute=self._execute_and_listen, say=self._log.say, wait=self._wait)

    def _execute_and_listen(self, argv: list[str]) -> tuple[int, str]:
        self._check_orders()
        heard: list[bytes] = []
        code = self._watch(self._execute(argv), heard=heard)
        if code in (128 + signal.SIGTERM, 128 + signal.SIGKILL):
            raise Stopped(code - 128)
        return code, b"".join(heard).decode(errors="replace")

    def _wait(self, seconds: float) -> None:
        select.select([self._signals.wakeups], [], [], seconds)
        self._check_orders()

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

    def _check_orders(self) -> None:
        for number in self._signals.take():
            raise Stopped(signal.SIGKILL if number == FORCE_SIGNAL else number)

    def _run_entrypoint(self) -> Exit:
        entrypoint = self._request["entrypoint"]
        try:
            code = self._watch(self._start(entrypoint))
        except OSError as error:
            reason = f"The entrypoint {entrypoint!r} could not be started: {error.strerror or error}."
            self._log.say(reason, LogLevel.ERROR)
            return Exit(COMMAND_NOT_FOUND, reason)
        return Exit(code, _explained(code))

    def _start(self, entrypoint: str | Sequence[str]) -> "_Child":
        command = plain_python(entrypoint)
        if (
            self._in_process is not None
            and command is not None
            and (command.is_module or (self._run.work / command.target).is_file())
            and can_run_here(command, self._env, executable=sys.executable, own_env=self._own_env)
        ):
            return self._fork(command, self._in_process)
        return self._execute(command_of(entrypoint))

    def _fork(self, command: PythonCommand, in_process: InProcess) -> "_Child":
        out, out_end = os.pipe()
        err, err_end = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.setsid()
            os.dup2(out_end, 1)
            os.dup2(err_end, 2)
            os.closerange(3, _MORE_THAN_ANY_DESCRIPTOR)
            os.chdir(self._run.work)
            in_process(command, self._env)
        os.close(out_end)
        os.close(err_end)
        return _Child(pid, out, err)

    def _execute(self, argv: list[str]) -> "_Child":
        process = subprocess.Popen(
            argv,
            env=self._env,
            cwd=self._run.work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        process.returncode = 0  # waited for here, not by the Popen object
        return _Child(process.pid, os.dup(process.stdout.fileno()), os.dup(process.stderr.fileno()))

    def _watch(self, child: "_Child", heard: list[bytes] | None = None) -> int:
        """Copy output and pass signals on until the process and everything it left behind are gone. What it writes
        to standard error is also added to `heard`."""
        streams = {child.out: OutputStream(LogStream.STDOUT), child.err: OutputStream(LogStream.STDERR)}
        with contextlib.suppress(OSError):  # a full disk
            self._run.note_entrypoint(identity_of(child.pid))
        for descriptor in streams:
            _widen(descriptor)
        exit_code: int | None = None
        while streams or exit_code is None:
            self._copy_output(streams, child.err, heard)
            for number in self._signals.take():
                _kill_group(child.pid, signal.SIGKILL if number == FORCE_SIGNAL else number)
                if number == FORCE_SIGNAL:
                    _kill_descendants()
            if exit_code is None:
                exit_code = _exit_code_of(child.pid)
                if exit_code is not None:
                    # As in a container: when the entrypoint is gone, so is all that it started.
                    _kill_group(child.pid, signal.SIGKILL)
                    _kill_descendants()
        return exit_code

    def _copy_output(self, streams: dict[int, OutputStream], err: int, heard: list[bytes] | None) -> None:
        waiting = any(stream.is_pending for stream in streams.values())
        timeout = UNFINISHED_LINE_S if waiting else 60.0
        ready, _, _ = select.select([*streams, self._signals.wakeups], [], [], timeout)
        timestamp_us, now = now_us(), time.monotonic()
        records = b""
        for descriptor, stream in list(streams.items()):
            if descriptor not in ready:
                records += stream.flush(timestamp_us=timestamp_us, now=now)
                continue
            chunk = os.read(descriptor, _READ_BYTES)
            if heard is not None and descriptor == err:
                heard.append(chunk)
            if chunk:
                records += stream.feed(chunk, timestamp_us=timestamp_us, now=now)
            else:
                records += stream.flush(timestamp_us=timestamp_us, now=now, is_end=True)
                os.close(descriptor)
                del streams[descriptor]
        if records:
            self._log.append(records)


class _Child:
    def __init__(self, pid: int, out: int, err: int) -> None:
        self.pid = pid
        self.out = out
        self.err = err


def _exit_code_of(pid: int) -> int | None:
    """None while it runs. Orphans that were adopted meanwhile are buried on the way."""
    code: int | None = None
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0] != 0:
            if ended[0] == pid:
                status = os.waitstatus_to_exitcode(ended[1])
                code = status if status >= 0 else 128 - status
    return code


def _explained(code: int) -> str:
    if code <= 128:
        return "" if code == 0 else f"The entrypoint ended with exit code {code}."
    with contextlib.suppress(ValueError):
        return f"The entrypoint was ended by {signal.Signals(code - 128).name}."
    return f"The entrypoint ended with exit code {code}."


def _kill_group(leader: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


def _kill_descendants() -> None:
    """Also those that made a session of their own. Repeats until no child is left that was not killed."""
    for pid in _descendants(os.getpid()):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += [int(child), *_descendants(int(child))]
    return found


def _adopt_orphans() -> None:
    """Processes whose parents die become our children, so that none is left behind. Linux only."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _widen(descriptor: int) -> None:
    """A larger pipe: fewer turns per megabyte of output."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
