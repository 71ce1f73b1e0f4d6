"""The accounts of this machine that a local runner starts gangs as, and the folders that it opens to them.

Control files of a run stay the runner's; only what user code works with is handed over. Nothing here runs user code.
"""

import os
import pwd
from collections.abc import Mapping
from pathlib import Path

from resolute.domain.agent_account import AgentAccount
from resolute.domain.errors import EnvironmentFailed
from resolute.runners.shepherd.account import Account

_PASSABLE = 0o711
"""Others may pass through to what is theirs, and list nothing."""
_DROP_BOX = 0o1733
"""Everybody may add to it, take away what is his own, and list nothing."""
_OPENED = frozenset({"accounts", "runs", "checkpoints"})
_OF_ROOT = ("XDG_", "SUDO_")
"""Variables that name the files of whoever started the master."""


def account_here(account: AgentAccount | None) -> Account | None:
    """None: as this process. Raises EnvironmentFailed where nothing can be started as somebody else."""
    if account is None or (account.uid, account.gid) == (os.geteuid(), os.getegid()):
        return None
    if os.geteuid() != 0:
        raise EnvironmentFailed(
            f"It is to run as {account}, and the master, which is not root, cannot start anything as somebody else. "
            "Start it as root, or take agentUserGroup off the user or the workspace."
        )
    entry = _entry(account.uid)
    name = account.user or (entry.pw_name if entry is not None else str(account.uid))
    is_known = entry is not None and entry.pw_name == name
    groups = os.getgrouplist(name, account.gid) if is_known else [account.gid]
    return Account(uid=account.uid, gid=account.gid, groups=tuple(groups), name=name)


def open_way(home: Path, account: Account) -> Path:
    """The account's own folder in the home, after making it; the way to it and to the folders of its runs is open."""
    own = home / "accounts" / str(account.uid)
    own.mkdir(parents=True, exist_ok=True)
    os.chown(own, account.uid, account.gid)
    own.chmod(0o700)
    checkpoints = home / "checkpoints"
    checkpoints.mkdir(exist_ok=True)
    checkpoints.chmod(_DROP_BOX)
    for path in home.iterdir():
        if path.name not in _OPENED and not path.is_symlink() and path.stat().st_mode & 0o077:
            path.chmod(path.stat().st_mode & 0o700)
    for passed in (own.parent, home / "runs", home):
        passed.chmod(_PASSABLE)
    return own


def variables_as(account: Account, inherited: Mapping[str, str], own: Path) -> dict[str, str]:
    """The inherited environment with the home and names of the account. `own`: a home for who has none here."""
    kept = {name: value for name, value in inherited.items() if not name.startswith(_OF_ROOT)}
    return {**kept, "HOME": _home(account, own), "USER": account.name, "LOGNAME": account.name}


def _home(account: Account, own: Path) -> str:
    entry = _entry(account.uid)
    if entry is not None and entry.pw_dir != "/":
        try:
            if os.stat(entry.pw_dir).st_uid == account.uid:
                return entry.pw_dir
        except OSError:
            pass
    return str(own)


def _entry(uid: int) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwuid(uid)
    except KeyError:
        return None
