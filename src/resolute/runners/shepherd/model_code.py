"""The model definition of a gang, by its content hash: fetched from the master once per node and kept for later runs.

A file in the cache is whole and has the content that its name says; fetchers of one file wait for each other through a
lock that the kernel drops when its holder dies.
"""

import contextlib
import fcntl
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from resolute.domain.errors import Unavailable

LARGEST_CACHE_BYTES = 2 << 30
_LOCK_TURN_S = 0.05


def cached_code(folder: Path, context_id: str) -> Path | None:
    """Where it lies already. Looking it up marks it as used."""
    path = _path(folder, context_id)
    try:
        os.utime(path)
    except FileNotFoundError:
        return None
    return path


def ensure_code(folder: Path, context_id: str, *, fetch: Callable[[], bytes], wait: Callable[[float], None]) -> Path:
    """`fetch` is called by one process at a time and only when it is needed. `wait` may raise."""
    found = cached_code(folder, context_id)
    if found is not None:
        return found
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(folder / f".{context_id}.lock", "w") as lock:
        while not _locked(lock.fileno()):
            wait(_LOCK_TURN_S)
        return cached_code(folder, context_id) or keep_code(folder, context_id, fetch())


def keep_code(folder: Path, context_id: str, content: bytes) -> Path:
    """Raises Unavailable when the content is not the one that was meant."""
    if hashlib.sha256(content).hexdigest() != context_id:
        raise Unavailable(f"The model definition {context_id[:12]} arrived damaged ({len(content)} bytes). Try again.")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = _path(folder, context_id)
    draft = path.with_name(f".{context_id}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(content)
    os.replace(draft, path)
    _make_room(folder, path)
    return path


def _make_room(folder: Path, newest: Path) -> None:
    """Those unused for longest go. Whoever has one open reads on."""
    with contextlib.suppress(OSError):
        kept = sorted(folder.glob("*.tar.gz"), key=lambda path: path.stat().st_mtime, reverse=True)
        size = 0
        for path in kept:
            size += path.stat().st_size
            if size > LARGEST_CACHE_BYTES and path != newest:
                path.unlink()


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _path(folder: Path, context_id: str) -> Path:
    return folder / f"{context_id}.tar.gz"
