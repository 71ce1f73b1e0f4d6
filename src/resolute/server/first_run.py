"""The token with which other accounts of this machine log in while users have no password.

On loopback, users without a password are open to the account that runs the master, and to nobody else on the machine.
Somebody who may read its home (the same person in another browser, or whoever he shows it to) finds the token there.
"""

import os
import pwd
import secrets
from collections.abc import Iterable
from pathlib import Path

FILE = "first-run.token"
_FIRST_PERSON, _LAST_PERSON = 1000, 60000
"""Numbers that systems give to people; others belong to services."""
_NO_SHELLS = ("nologin", "false")


def first_run_token(home: Path) -> str:
    """The one in the home, made when there is none. Only the owner of the home may read it."""
    path = home / FILE
    try:
        known = path.read_text().strip()
    except FileNotFoundError:
        known = ""
    if known:
        path.chmod(0o600)
        return known
    token = secrets.token_urlsafe(24)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with open(descriptor, "w") as file:
        file.write(token + "\n")
    return token


def is_shared_machine(accounts: Iterable[pwd.struct_passwd] | None = None) -> bool:
    """Whether somebody else has an account on it that he can log in with."""
    return any(
        _FIRST_PERSON <= account.pw_uid < _LAST_PERSON
        and account.pw_uid != os.geteuid()
        and not account.pw_shell.endswith(_NO_SHELLS)
        for account in (pwd.getpwall() if accounts is None else accounts)
    )
