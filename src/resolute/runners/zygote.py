"""The master's side of warm processes: one per Python environment, started in the background, asked to fork.

A zygote is a convenience. When it is not ready, dead or slow to answer, the caller starts its shepherd cold; when it
does answer later after all, the run directory's claim keeps the gang from starting twice.
"""

import contextlib
import json
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from resolute.runners.clearing import shorten_log
from resolute.runners.shepherd.ownership import MARK_VARIABLE, NO_MARK, inherited_mark
from resolute.runners.spawning import spawn

BOOT_SCRIPT = Path(__file__).parent / "zygote_main.py"
MOST_ZYGOTES = 4
_ANSWER_TIMEOUT_S = 5.0
_RESTART_PAUSE_S = 30.0
_LONGEST_MESSAGE = 64 * 1024
# Handed to each child by itself, or decided by the zygote: they must not shape the process all children come from.
_NOT_FOR_ZYGOTES = frozenset({"PYTHONPATH", "PYTHONUNBUFFERED", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"})

log = logging.getLogger(__name__)


class Zygote:
    """One warm process. Thread-safe."""

    def __init__(self, python: str, *, modules: Sequence[str], env: Mapping[str, str], errors: Path) -> None:
        self.started_at = time.monotonic()
        self.facts: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._is_ready = False
        self._is_dead = False
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        own_env = {name: value for name, value in env.items() if _concerns_zygotes(name)}
        own_env["OMP_NUM_THREADS"] = "1"
        own_env[MARK_VARIABLE] = inherited_mark(NO_MARK, env.get(MARK_VARIABLE, ""))
        with theirs:
            # Descriptor 3 there; everything else of the master is closed on exec.
            arguments = [python, str(BOOT_SCRIPT), "serve", "3", ",".join(modules)]
            self.pid = spawn(arguments, own_env, errors=errors, socket_as_3=theirs.fileno())

    @property
    def is_ready(self) -> bool:
        with self._lock:
            if not self._is_ready and not self._is_dead:
                self._take_greeting()
            return self._is_ready and not self._is_dead

    @property
    def is_dead(self) -> bool:
        return self._is_dead

    def launch(self, run: Path, mark: str) -> int | None:
        """Pid of a new shepherd for this run directory, its processes marked with `mark`; None when the zygote cannot
        be used."""
        if not self.is_ready:
            return None
        with self._lock:
            try:
                self._channel.settimeout(_ANSWER_TIMEOUT_S)
                self._channel.send(f"{mark} {run}".encode())
                answer = self._channel.recv(_LONGEST_MESSAGE)
            except OSError as error:
                log.warning("the warm process %d does not answer (%s); it is replaced", self.pid, error)
                answer = b""
            if not answer:
                self._is_dead = True
                return None
        return int(answer)

    def close(self) -> None:
        """End the process; its shepherds have sessions and parents of their own and do not notice."""
        with self._lock:
            self._is_dead = True
            self._channel.close()
        with contextlib.suppress(ChildProcessError, ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)

    def _take_greeting(self) -> None:
        self._channel.setblocking(False)
        try:
            greeting = self._channel.recv(_LONGEST_MESSAGE)
        except BlockingIOError:
            return
        except OSError:
            greeting = b""
        if not greeting:
            self._is_dead = True
            return
        self.facts = json.loads(greeting)
        # With a second thread a fork may hang on a lock that nobody is left to release.
        self._is_dead = self.facts["threads"] != 1
        self._is_ready = not self._is_dead
        if self._is_dead:
            log.warning("%d is not used to start trials: its libraries run %d threads", self.pid, self.facts["threads"])


class ZygotePool:
    """Zygotes by interpreter. The least recently used one goes when there are too many."""

    def __init__(self, *, modules: Sequence[str], env: Mapping[str, str], home: Path) -> None:
        self._modules = modules
        self._env = dict(env)
        self._errors = home / "zygote.err"
        shorten_log(self._errors)
        self._lock = threading.Lock()
        self._zygotes: dict[str, Zygote] = {}

    def get(self, python: str) -> Zygote:
        """The zygote of this interpreter: started in the background when there is none, replaced when it died."""
        with self._lock:
            zygote = self._zygotes.pop(python, None)
            if zygote is not None and zygote.is_dead and time.monotonic() - zygote.started_at > _RESTART_PAUSE_S:
                zygote.close()
                zygote = None
            if zygote is None:
                zygote = Zygote(python, modules=self._modules, env=self._env, errors=self._errors)
            self._zygotes[python] = zygote
            while len(self._zygotes) > MOST_ZYGOTES:
                self._zygotes.pop(next(iter(self._zygotes))).close()
            return zygote

    def close(self) -> None:
        with self._lock:
            for zygote in self._zygotes.values():
                zygote.close()
            self._zygotes.clear()


def _concerns_zygotes(name: str) -> bool:
    """Trials can read the environment of the process that they were forked from: the master's own settings and
    passwords are none of their business."""
    return name not in _NOT_FOR_ZYGOTES and not name.startswith(("RESOLUTE_", "DET_"))
