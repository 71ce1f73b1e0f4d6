"""Which processes belong to a run, however they were started, and how they all end.

Each run has a mark: a word that no other run has. A process belongs to the run when one of these says so:

* it is in the run's control group (`cgroups`), where there is one;
* the mark is in the environment it was started with, which is handed down through forks, sessions and `nohup`;
* it is in the session of the run's entrypoint;
* it descends from one of those.

The shepherd needs none of this while it lives, because it adopts all orphans (`processes`). This is for those who come
after it. Standard library only; reads `/proc`, and knows groups of processes only where there is none.
"""

import contextlib
import ctypes
import hashlib
import os
import signal
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from resolute.host.process_identity import ProcessIdentity
from resolute.runners.shepherd.cgroups import Cgroup

MARK_VARIABLE = "RESOLUTE_RUN_MARK"
MARK_LENGTH = 32
NO_MARK = "0" * MARK_LENGTH
"""Keeps the place of a mark in the environment of a process that will be forked for many runs."""
_PROC = Path("/proc")
_MOST_LOOKS = 20


@dataclass(frozen=True, slots=True)
class RunProcesses:
    """What is known of a run's processes by those who did not start them."""

    mark: str
    entrypoint: ProcessIdentity
    cgroup: Cgroup | None = None

    def end(self) -> set[int]:
        """Kill all that is found. Returns at once with those that have not died yet: call it again until none has."""
        if not _PROC.joinpath("self").exists():
            return _end_group(self.entrypoint)
        if self.cgroup is not None:
            self.cgroup.kill()
        living = self._stopped()
        for pid in living:
            _send(pid, signal.SIGKILL)
        return {pid for pid in living if _read(pid) is not None}

    def living(self) -> set[int]:
        """Found now. A process that is being started meanwhile may be missing."""
        found = _table()
        known = self.cgroup.pids() if self.cgroup is not None else set()
        known |= {pid for pid, process in found.items() if self._is_known(process)}
        return _with_descendants(known & found.keys(), found) - {os.getpid()}

    def _stopped(self) -> set[int]:
        """All of them, kept from starting others while we look for those that they have started."""
        seen: set[int] = set()
        for _ in range(_MOST_LOOKS):
            living = self.living()
            for pid in living - seen:
                _send(pid, signal.SIGSTOP)
            if living <= seen:
                return living
            seen |= living
        return living

    def _is_known(self, process: "_Process") -> bool:
        return self._is_in_session(process) or self.mark.encode() in _environment(process.pid)

    def _is_in_session(self, process: "_Process") -> bool:
        """A session keeps its number to itself as long as it has members; its leader may be gone."""
        leader = self.entrypoint.pid
        return leader > 0 and process.session == leader and (self.entrypoint.is_alive or _read(leader) is None)


@dataclass(frozen=True, slots=True)
class _Process:
    pid: int
    parent: int
    session: int


def mark_of(run: Path) -> str:
    """Of a run's directory: the same for every master over this home, also when the directory is gone."""
    return hashlib.sha256(os.fsencode(run)).hexdigest()[:MARK_LENGTH]


def inherited_mark(mark: str, inherited: str = "") -> str:
    """The value of the variable: a run inside another run carries both marks."""
    outer = [known for known in inherited.split(":") if known and known not in (NO_MARK, mark)]
    return ":".join([*outer, mark])


def wear(mark: str) -> None:
    """Put the mark where NO_MARK was in the environment that others see of this process. A forked process has the
    one that its parent was started with, and no call to change it but writing into that memory."""
    os.environ[MARK_VARIABLE] = os.environ.get(MARK_VARIABLE, NO_MARK).replace(NO_MARK, mark)
    with contextlib.suppress(OSError, ValueError, IndexError):
        fields = (_PROC / "self/stat").read_text().rpartition(")")[2].split()
        start, end = int(fields[47]), int(fields[48])
        content = ctypes.string_at(start, end - start) if start else b""
        variable = content.find(f"{MARK_VARIABLE}=".encode())
        place = content.find(NO_MARK.encode(), variable)
        if variable >= 0 and place >= 0:
            ctypes.memmove(start + place, mark.encode(), len(mark))


def _end_group(entrypoint: ProcessIdentity) -> set[int]:
    if not entrypoint.is_alive:
        return set()
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(entrypoint.pid, signal.SIGKILL)
    return {entrypoint.pid} if entrypoint.is_alive else set()


def _table() -> dict[int, _Process]:
    """All processes of this machine that have not ended."""
    found = (_read(int(name)) for name in os.listdir(_PROC) if name.isdigit())
    return {process.pid: process for process in found if process is not None}


def _read(pid: int) -> _Process | None:
    """None when it has ended, also when its exit status is still to be fetched."""
    try:
        state, parent, _group, session, *_ = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except (OSError, ValueError):
        return None
    if state in "ZXx" and not _has_living_threads(pid):
        return None
    return _Process(pid, int(parent), int(session))


def _has_living_threads(pid: int) -> bool:
    """The first thread of a process may end before the others."""
    with contextlib.suppress(OSError):
        for task in (_PROC / str(pid) / "task").iterdir():
            with contextlib.suppress(OSError):
                if (task / "stat").read_text().rpartition(")")[2].split()[0] not in "ZXx":
                    return True
    return False


def _environment(pid: int) -> bytes:
    """Empty when it has none or is not ours to look at."""
    try:
        return (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return b""


def _with_descendants(known: Iterable[int], table: dict[int, _Process]) -> set[int]:
    children: dict[int, list[int]] = {}
    for process in table.values():
        children.setdefault(process.parent, []).append(process.pid)
    found: set[int] = set()
    waiting = list(known)
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found.add(pid)
            waiting += children.get(pid, [])
    return found


def _send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
