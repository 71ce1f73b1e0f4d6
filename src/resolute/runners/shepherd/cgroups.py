"""A control group per run, where the kernel and our rights allow one: what is started in it is born in it, whatever
session it opens, whoever its parent is, and however little it keeps of its environment.

Version 2 (also as systemd mounts it beside version 1), else the freezer of version 1. Standard library only.
"""

import contextlib
import os
import signal
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_PREFIX = "resolute."
_FREEZER = "freezer"


@dataclass(frozen=True, slots=True)
class Cgroup:
    path: Path

    def join(self) -> None:
        """This process and all that it starts from now on. Raises OSError where that is not permitted."""
        self.path.mkdir(exist_ok=True)
        try:
            (self.path / "cgroup.procs").write_text("0")
        except OSError:
            self.remove()
            raise

    def leave(self) -> None:
        """This process goes back to where the group was made; without it and others the group is removed."""
        with contextlib.suppress(OSError):
            (self.path.parent / "cgroup.procs").write_text("0")
        self.remove()

    def pids(self) -> set[int]:
        """Its processes and those of groups that they have made below it; empty when it is not there."""
        found: set[int] = set()
        for folder, _, _ in os.walk(self.path):
            with contextlib.suppress(OSError):
                found |= {int(pid) for pid in Path(folder, "cgroup.procs").read_text().split()}
        return found

    def kill(self) -> None:
        """SIGKILL to all of it at once: nothing can fork its way out."""
        if not self._write("cgroup.kill", "1"):
            self._kill_frozen()

    def remove(self) -> None:
        """Once it is empty; else nothing happens."""
        for folder, _, _ in os.walk(self.path, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(folder)

    def _kill_frozen(self) -> None:
        """Before Linux 5.14, and in version 1."""
        if not self._write("cgroup.freeze", "1"):
            self._write("freezer.state", "FROZEN")
        for pid in self.pids() - {os.getpid()}:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not self._write("cgroup.freeze", "0"):
            self._write("freezer.state", "THAWED")

    def _write(self, name: str, content: str) -> bool:
        try:
            # Without O_CREAT: the control files that exist are those that this kernel has.
            descriptor = os.open(self.path / name, os.O_WRONLY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            os.write(descriptor, content.encode())
        except OSError:
            return False
        finally:
            os.close(descriptor)
        return True


def cgroup_of(mark: str, parents: Iterable[str]) -> Iterable[Cgroup]:
    """Where the group of a run may be made, best first."""
    return [Cgroup(Path(parent, _PREFIX + mark)) for parent in parents]


def own_groups(proc: Path = Path("/proc/self")) -> tuple[str, ...]:
    """Folders of the groups that this process is in and may make others in, best first; empty where there are none."""
    try:
        memberships = [line.split(":", 2) for line in (proc / "cgroup").read_text().splitlines()]
        mounts = [line.split() for line in (proc / "mountinfo").read_text().splitlines()]
    except OSError:
        return ()
    unified = [_folder(mounts, path, "cgroup2", "") for number, _, path in memberships if number == "0"]
    freezer = [
        _folder(mounts, path, "cgroup", _FREEZER) for _, kinds, path in memberships if _FREEZER in kinds.split(",")
    ]
    return tuple(folder for folder in (*unified, *freezer) if folder and os.access(folder, os.W_OK))


def _folder(mounts: list[list[str]], path: str, kind: str, controller: str) -> str:
    """Where a group is seen in the file system; empty when its hierarchy is not mounted."""
    for fields in mounts:
        root, mount_point = fields[3], fields[4]
        kind_here, _, options = fields[fields.index("-") + 1 : fields.index("-") + 4]
        if kind_here != kind or (controller and controller not in options.split(",")):
            continue
        if path == root or path.startswith(root.rstrip("/") + "/"):
            folder = os.path.join(mount_point, os.path.relpath(path, root))
            if os.path.isdir(folder):
                return os.path.normpath(folder)
    return ""
