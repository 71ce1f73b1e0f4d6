"""Running a gang as another account of this machine: what it is given, and how a process becomes it.

The shepherd stays who it is, so that what it starts can neither signal it nor touch the run's control files.
Standard library only.
"""

import contextlib
import ctypes
import os
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

_PR_SET_DUMPABLE = 4
_PR_SET_NO_NEW_PRIVS = 38


@dataclass(frozen=True, slots=True)
class Account:
    uid: int
    gid: int
    groups: tuple[int, ...]
    name: str

    def __str__(self) -> str:
        return f"{self.name} (uid {self.uid})"

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def become(self) -> None:
        """For good. In a process that has one thread and was just forked."""
        os.setgroups(self.groups)
        os.setresgid(self.gid, self.gid, self.gid)
        os.setresuid(self.uid, self.uid, self.uid)
        if sys.platform == "linux":
            libc = ctypes.CDLL(None)
            # A process that was not executed since is otherwise kept from its own /proc.
            libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)
            # What it starts gains nothing by being owned by somebody else: no sudo, no way back.
            libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)

    def give(self, folder: Path) -> None:
        """The folder and all in it. Its top comes last: until then nobody else can reach below it."""
        folder.chmod(0o700)
        for place, folders, files in os.walk(folder):
            for name in (*folders, *files):
                os.chown(os.path.join(place, name), self.uid, self.gid, follow_symlinks=False)
        os.chown(folder, self.uid, self.gid)

    def can(self, look: Callable[[], bool]) -> bool:
        """What `look` finds when the account itself does the looking."""
        pid = os.fork()
        if pid == 0:
            found = False
            with contextlib.suppress(BaseException):
                self.become()
                found = look()
            os._exit(0 if found else 1)
        return os.waitpid(pid, 0)[1] == 0


def account_from_json(value: dict[str, Any] | None) -> Account | None:
    return None if value is None else Account(**{**value, "groups": tuple(value["groups"])})
