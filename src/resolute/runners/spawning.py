"""Processes that outlive whoever starts them: in sessions of their own, with nothing but what they are given."""

import contextlib
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def spawn(
    arguments: list[str],
    env: Mapping[str, str],
    *,
    errors: Path,
    socket_as_3: int | None = None,
) -> int:
    """The new process's pid. What it complains about is appended to the file `errors`."""
    descriptor = os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        actions: list[tuple[Any, ...]] = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_DUP2, descriptor, 2),
        ]
        if socket_as_3 is not None:
            actions.append((os.POSIX_SPAWN_DUP2, socket_as_3, 3))
        return os.posix_spawn(arguments[0], arguments, env, setsid=True, file_actions=actions)
    finally:
        os.close(descriptor)


class Children:
    """Those that this process started itself and has to bury; their exit codes mean nothing. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pids: set[int] = set()

    def start(self, arguments: list[str], env: Mapping[str, str], *, errors: Path) -> int:
        pid = spawn(arguments, env, errors=errors)
        with self._lock:
            self._pids.add(pid)
        return pid

    def reap(self) -> None:
        with self._lock:
            for pid in list(self._pids):
                with contextlib.suppress(ChildProcessError):
                    if os.waitpid(pid, os.WNOHANG)[0] == 0:
                        continue
                self._pids.discard(pid)
