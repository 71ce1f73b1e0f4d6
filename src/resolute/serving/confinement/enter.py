"""A process gives up what a model does not need. Called once, before anything of the model is there."""

import os
import resource
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from resolute.serving.confinement.policy import Confinement

_OF_THE_PLATFORM = ("DET_", "RESOLUTE_")
_KEPT = frozenset({"RESOLUTE_DEPLOYMENT", "RESOLUTE_REVISION", "RESOLUTE_MODEL_SOURCE"})


@dataclass(slots=True)
class Entered:
    """What holds now, and what could not be had, in words for the log."""

    applied: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        text = f"The model process is confined: {', '.join(self.applied) or 'in nothing'}."
        if self.missing:
            text += f" Not to be had here: {'; '.join(self.missing)}."
        return text

    def attempt(self, words: str, step: Callable[[], None]) -> None:
        try:
            step()
        except (OSError, ValueError) as problem:
            self.missing.append(f"{words} ({problem})")
        else:
            self.applied.append(words)


def enter(confinement: Confinement) -> Entered:
    """Never raises: what cannot be had is said."""
    entered = Entered()
    _forget_secrets()
    _live_in(confinement.scratch)
    _limit(confinement, entered)
    if not sys.platform.startswith("linux"):
        entered.missing.append("everything else needs Linux")
        return entered
    from resolute.serving.confinement import linux  # its C library is Linux's

    entered.attempt("no new privileges", linux.no_new_privileges)
    entered.attempt("no capabilities", linux.drop_capabilities)
    if confinement.is_trusted:
        entered.missing.append("files and network are left open (trusted)")
        return entered
    if _threads() > 1:
        entered.missing.append(f"{_threads() - 1} threads were there before and keep their rights to files")
    entered.attempt(
        "files of the model and of Python only",
        lambda: linux.restrict_files(confinement.readable, [confinement.scratch], confinement.devices),
    )
    entered.attempt("no network", linux.restrict_calls)
    return entered


def _forget_secrets() -> None:
    """Tokens of the platform are for the server beside it."""
    for name in list(os.environ):
        if name.startswith(_OF_THE_PLATFORM) and name not in _KEPT:
            del os.environ[name]


def _live_in(scratch: str) -> None:
    """Caches and drafts go where they may be written."""
    os.environ.update({"HOME": scratch, "TMPDIR": scratch, "XDG_CACHE_HOME": f"{scratch}/.cache"})
    # A forked process remembers where its parent's drafts went.
    tempfile.tempdir = scratch
    os.umask(0o077)


def _limit(confinement: Confinement, entered: Entered) -> None:
    limits = (
        ("memory", resource.RLIMIT_DATA, confinement.memory_bytes),
        ("open files", resource.RLIMIT_NOFILE, confinement.open_files),
        ("processes", resource.RLIMIT_NPROC, _tasks_of_user() + confinement.more_processes),
        ("core files", resource.RLIMIT_CORE, 0),
    )
    for words, kind, most in limits:
        entered.attempt(f"{words} up to {most:,}", lambda kind=kind, most=most: _lower(kind, most))  # type: ignore[misc]


def _lower(kind: int, most: int) -> None:
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(kind, (most, most))


def _tasks_of_user() -> int:
    """Threads and processes of this user; none where they cannot be counted."""
    count = 0
    for entry in Path("/proc").iterdir() if Path("/proc/self").exists() else ():
        if entry.name.isdigit():
            try:
                if entry.stat().st_uid == os.getuid():
                    count += len(os.listdir(entry / "task"))
            except OSError:
                continue
    return count


def _threads() -> int:
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return 1
