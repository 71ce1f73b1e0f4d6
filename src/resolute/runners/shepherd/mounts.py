"""`bind_mounts` without containers: real mounts in a namespace of the gang's own where that is permitted, links where
it is not. A path that exists is never changed for anybody else; what could not be done is said in the log.
"""

import ctypes
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from resolute.domain.log import LogLevel

_CLONE_NEWNS = 0x00020000
_MS_RDONLY, _MS_REMOUNT, _MS_BIND, _MS_REC, _MS_PRIVATE = 0x1, 0x20, 0x1000, 0x4000, 0x40000

Say = Callable[[str, LogLevel], None]


def enter_namespace() -> bool:
    """Mounts made from here on are seen by this gang only. False: not permitted."""
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.unshare(_CLONE_NEWNS) == 0 and _mount("none", "/", _MS_REC | _MS_PRIVATE) == 0


def mount(
    bind_mounts: Sequence[Sequence[object]],
    *,
    work: Path,
    say: Say,
    enter_namespace: Callable[[], bool] = enter_namespace,
) -> None:
    """Each (host path, container path, read only). A relative container path is below the working directory."""
    if not bind_mounts:
        return
    has_namespace = enter_namespace()
    for host, container, read_only in bind_mounts:
        source, target = Path(str(host)), work / str(container)
        why_not = _mount_one(source, target, bool(read_only), has_namespace=has_namespace)
        if why_not:
            say(f"bind_mounts: {source} is not mounted at {container}: {why_not}", LogLevel.WARNING)
        elif read_only and target.is_symlink():
            say(f"bind_mounts: {source} at {container} is a link, so read_only is not enforced.", LogLevel.WARNING)


def _mount_one(source: Path, target: Path, read_only: bool, *, has_namespace: bool) -> str:
    """Empty when it was done."""
    if not source.exists():
        return "the host path does not exist."
    if target.is_symlink() and target.resolve() == source.resolve():
        return ""
    if has_namespace and (target.exists() or _make_mount_point(source, target)):
        return _bind(source, target, read_only)
    if target.exists() or target.is_symlink():
        return "the container path exists already and is left as it is. Choose another container_path."
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(source.absolute())
    except OSError as error:
        return f"a link there cannot be made ({error.strerror}). Choose a container_path below the working directory."
    return ""


def _make_mount_point(source: Path, target: Path) -> bool:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.mkdir() if source.is_dir() else target.touch(exist_ok=False)
    except OSError:
        return False
    return True


def _bind(source: Path, target: Path, read_only: bool) -> str:
    error = _mount(str(source), str(target), _MS_BIND | _MS_REC)
    if not error and read_only:
        error = _mount("none", str(target), _MS_REMOUNT | _MS_BIND | _MS_RDONLY)
    return f"{os.strerror(error)}." if error else ""


def _mount(source: str, target: str, flags: int) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    failed = libc.mount(source.encode(), target.encode(), b"none", ctypes.c_ulong(flags), None)
    return ctypes.get_errno() if failed else 0
