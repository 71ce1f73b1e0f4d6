"""Where model processes come from: a fresh interpreter, or a fork made while this process was still young.

A replica that the platform starts warm has torch in memory already; a fresh interpreter would load it all over again,
which takes longer than most models do. So the first model processes are forked before the server has an event loop or
threads. Those that come after a crash are fresh ones.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, Protocol

from resolute.serving import worker_main
from resolute.serving.confinement.enter import enter
from resolute.serving.confinement.policy import Confinement, confinement_of
from resolute.serving.settings import ModelSettings

_WORTH_KEEPING = "torch"
_LOOK_S = 0.01


class Child(Protocol):
    """As much of `subprocess.Popen` as a model process needs."""

    def wait(self, timeout: float | None = None) -> int:
        """Exit code, or minus the signal. Raises subprocess.TimeoutExpired."""

    def kill(self) -> None: ...


MakeChild = Callable[[ModelSettings], tuple[Child, socket.socket]]


def fresh_child(settings: ModelSettings) -> tuple[Child, socket.socket]:
    """A new interpreter, confined, and our end of its socket."""
    confinement = _confinement(settings)
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "resolute.serving.worker_start", str(theirs.fileno()), confinement.to_json()],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )
    return FreshChild(process, confinement.scratch), ours


def _confinement(settings: ModelSettings) -> Confinement:
    """With a scratch folder of its own, which goes when the process has gone."""
    scratch = Path(tempfile.mkdtemp(prefix="resolute-model-"))
    return confinement_of(settings.source, scratch, is_trusted=settings.is_trusted, memory_bytes=settings.memory_bytes)


class PreforkedChildren:
    """Forked children that wait for a model to load. Make it before any thread or event loop is there."""

    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings
        self._waiting: list[tuple[ForkedChild, socket.socket]] = []
        for _ in range(settings.workers if _is_worth_forking() else 0):
            self._waiting.append(self._fork())

    def make_child(self, settings: ModelSettings) -> tuple[Child, socket.socket]:
        """One that waits, or a fresh one when none is left."""
        return self._waiting.pop() if self._waiting and settings == self._settings else fresh_child(settings)

    def close(self) -> None:
        """Those that were never needed see their socket close, and leave."""
        while self._waiting:
            child, ours = self._waiting.pop()
            ours.close()
            child.wait()

    def _fork(self) -> "tuple[ForkedChild, socket.socket]":
        confinement = _confinement(self._settings)
        ours, theirs = socket.socketpair()
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            # An end that a sibling keeps open would never read as closed.
            for _, other in self._waiting:
                other.close()
            ours.close()
            _live(theirs.detach(), confinement)
        theirs.close()
        return ForkedChild(pid, confinement.scratch), ours


class FreshChild:
    def __init__(self, process: "subprocess.Popen[bytes]", scratch: str) -> None:
        self._process = process
        self._scratch = scratch

    def wait(self, timeout: float | None = None) -> int:
        code = self._process.wait(timeout)
        shutil.rmtree(self._scratch, ignore_errors=True)
        return code

    def kill(self) -> None:
        self._process.kill()


class ForkedChild:
    """A child without a Popen of its own."""

    def __init__(self, pid: int, scratch: str) -> None:
        self._pid = pid
        self._scratch = scratch
        self._code: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        ends_at = time.monotonic() + (float("inf") if timeout is None else timeout)
        while self._code is None:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                self._code = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > ends_at:
                raise subprocess.TimeoutExpired(f"model process {self._pid}", timeout or 0)
            else:
                time.sleep(_LOOK_S)
        shutil.rmtree(self._scratch, ignore_errors=True)
        return self._code

    def kill(self) -> None:
        if self._code is None:
            os.kill(self._pid, signal.SIGKILL)


def _is_worth_forking() -> bool:
    """There is something to keep, and no second thread whose locks a fork would freeze.

    numpy's pool of threads does not count: it ends itself before a fork and comes back after it.
    """
    return _WORTH_KEEPING in sys.modules and hasattr(os, "fork") and threading.active_count() == 1


def _live(descriptor: int, confinement: Confinement) -> NoReturn:
    code = 0
    try:
        worker_main.main(descriptor, str(enter(confinement)))
    except BaseException:  # noqa: BLE001, RUF100 - nothing of the parent's stack may run in the child
        traceback.print_exc()
        code = 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
