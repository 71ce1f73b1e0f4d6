"""Which process is meant, beyond its pid: pids come back, a pid with its start time and boot does not."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    pid: int
    started: str
    """Opaque; equal only for the very same process."""

    @property
    def is_alive(self) -> bool:
        return self.pid > 0 and _started(self.pid) == self.started


NOBODY = ProcessIdentity(pid=0, started="")


def identity_of(pid: int) -> ProcessIdentity:
    return ProcessIdentity(pid, _started(pid) or "ended")


def _started(pid: int) -> str | None:
    """None when there is no such process, or only its exit status is left."""
    if not _PROC.joinpath("self").exists():
        return _started_by_ps(pid)
    try:
        # The command name may hold spaces and brackets; the fields after the last bracket do not.
        state, *fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if state in "ZXx" else f"{_boot_id()}/{fields[18]}"


def _boot_id() -> str:
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _started_by_ps(pid: int) -> str | None:
    answer = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False, env=os.environ
    ).stdout.split(maxsplit=1)
    return None if len(answer) < 2 or answer[0].startswith("Z") else answer[1].strip()
