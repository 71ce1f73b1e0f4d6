"""Forks one process per slot from a process that has torch loaded, and looks after them.

torchrun starts a fresh interpreter per rank, each of which loads torch again; forking loads it once. That is safe
because this process has a single thread and has run no tensor operation.
"""

import atexit
import contextlib
import ctypes
import os
import selectors
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import FrameType

_GRACE_S = 0.3
_PR_SET_PDEATHSIG = 1


@dataclass(slots=True)
class Rank:
    number: int
    pid: int
    pipes: dict[int, bytes] = field(default_factory=dict)
    """Read end of standard output and error, each with the unfinished line read so far."""
    exit_code: int | None = None


class Gang:
    """The ranks of this host. `run` returns the exit code of the whole: 0, or that of the first that failed."""

    def __init__(self, environments: Mapping[int, Mapping[str, str]], work: Callable[[], None]) -> None:
        self._environments = environments
        self._work = work
        self._ranks: list[Rank] = []
        self._selector = selectors.DefaultSelector()
        self._is_terminating = False
        self.killed_by: int | None = None
        """The signal that ended the first rank that failed, if it was one."""

    def run(self) -> int:
        previous = signal.signal(signal.SIGTERM, self._on_sigterm)
        try:
            for number, environment in self._environments.items():
                self._ranks.append(self._fork(number, environment))
            return self._watch()
        finally:
            signal.signal(signal.SIGTERM, previous)
            self._selector.close()

    @property
    def is_terminating(self) -> bool:
        return self._is_terminating

    def _on_sigterm(self, number: int, frame: FrameType | None) -> None:
        """The ranks checkpoint and leave by themselves; whoever is impatient sends SIGKILL."""
        self._is_terminating = True
        self._signal_all(signal.SIGTERM)

    def _fork(self, number: int, environment: Mapping[str, str]) -> Rank:
        sys.stdout.flush()
        sys.stderr.flush()
        out_read, out_write = os.pipe()
        error_read, error_write = os.pipe()
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            _become_rank(parent, out_write, error_write, environment)
            _leave_with(self._work)
        os.close(out_write)
        os.close(error_write)
        rank = Rank(number, pid, {out_read: b"", error_read: b""})
        for descriptor, stream in ((out_read, 1), (error_read, 2)):
            os.set_blocking(descriptor, False)
            self._selector.register(descriptor, selectors.EVENT_READ, (rank, stream))
        return rank

    def _watch(self) -> int:
        failed: Rank | None = None
        killing_since: float | None = None
        while any(rank.exit_code is None for rank in self._ranks):
            self._pump(0.05)
            self._reap()
            if failed is None:
                failed = next((rank for rank in self._ranks if rank.exit_code), None)
                if failed is not None:
                    _note(f"Rank {failed.number} {_how(failed.exit_code or 0)}; the other ranks are stopped.")
                    killing_since = time.monotonic()
            elif killing_since is not None and time.monotonic() - killing_since > _GRACE_S:
                # The others wait in a collective that will never complete: only SIGKILL reaches them.
                self._signal_all(signal.SIGKILL)
                killing_since = None
        self._drain()
        if failed is None:
            return 0
        code = failed.exit_code or 0
        self.killed_by = -code if code < 0 else None
        return 128 - code if code < 0 else code

    def _pump(self, timeout_s: float) -> None:
        for key, _ in self._selector.select(timeout_s):
            rank, stream = key.data
            self._read(rank, key.fd, stream)

    def _read(self, rank: Rank, descriptor: int, stream: int) -> None:
        try:
            content = os.read(descriptor, 1 << 16)
        except BlockingIOError:
            return
        if not content:
            self._finish_pipe(rank, descriptor, stream)
            return
        *lines, rest = (rank.pipes[descriptor] + content).split(b"\n")
        rank.pipes[descriptor] = rest
        if lines:
            prefix = b"[rank=%d] " % rank.number
            _write(stream, b"".join(prefix + line + b"\n" for line in lines))

    def _finish_pipe(self, rank: Rank, descriptor: int, stream: int) -> None:
        self._selector.unregister(descriptor)
        os.close(descriptor)
        if rest := rank.pipes.pop(descriptor):
            _write(stream, b"[rank=%d] %s\n" % (rank.number, rest))

    def _drain(self) -> None:
        """What was written before the end is shown; a grandchild that keeps a pipe open is not waited for."""
        deadline = time.monotonic() + 1.0
        while self._selector.get_map() and time.monotonic() < deadline:
            self._pump(0.02)
        for key in list(self._selector.get_map().values()):
            rank, stream = key.data
            self._finish_pipe(rank, key.fd, stream)

    def _reap(self) -> None:
        for rank in self._ranks:
            if rank.exit_code is None:
                pid, status = os.waitpid(rank.pid, os.WNOHANG)
                if pid:
                    rank.exit_code = os.waitstatus_to_exitcode(status)

    def _signal_all(self, number: int) -> None:
        for rank in self._ranks:
            if rank.exit_code is None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(rank.pid, number)


def _become_rank(parent: int, out: int, error: int, environment: Mapping[str, str]) -> None:
    """In the child: die with the launcher, own the streams, see the rank's environment."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.dup2(out, 1)
    os.dup2(error, 2)
    os.close(out)
    os.close(error)
    os.environ.clear()
    os.environ.update(environment)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(int(environment.get("OMP_NUM_THREADS") or 1))


def _leave_with(work: Callable[[], None]) -> None:
    """Run the rank's work and end the process as an interpreter would, without unwinding the launcher's frames."""
    code = 0
    try:
        work()
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 0 if leaving.code is None else 1
        if code == 1 and isinstance(leaving.code, str):
            print(leaving.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        code = 1
    for step in (threading._shutdown, atexit._run_exitfuncs):  # type: ignore[attr-defined]
        try:
            step()
        except BaseException:
            traceback.print_exc()
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _write(stream: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(stream, view) :]


def _note(text: str) -> None:
    _write(2, f"ERROR: {text}\n".encode())


def _how(code: int) -> str:
    if code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"
