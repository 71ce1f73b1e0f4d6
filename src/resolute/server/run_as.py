"""As whom trials run: what `--run-as` names, and what the operator is told when it is root."""

import os
import pwd

from resolute.domain.agent_account import AgentAccount
from resolute.domain.errors import InvalidInput

AS_ROOT = (
    "Trials run as root, as this master does: whoever may submit one can do anything on this machine. Start it with "
    "--run-as USER to run them as another account."
)


def run_as_account(given: str | None) -> AgentAccount | None:
    """The account of this machine with that name or number; None: none is given. Raises InvalidInput."""
    if not given:
        return None
    try:
        entry = pwd.getpwuid(int(given)) if given.isascii() and given.isdecimal() else pwd.getpwnam(given)
    except (KeyError, OverflowError):
        raise InvalidInput(
            f"--run-as {given!r} is no account of this machine. Name one that `getent passwd` lists."
        ) from None
    if entry.pw_uid != os.geteuid() and os.geteuid() != 0:
        raise InvalidInput(
            f"--run-as {given}: only root can run trials as somebody else, and this is uid {os.geteuid()}. Start the "
            "master as root, or leave --run-as out."
        )
    return AgentAccount(uid=entry.pw_uid, gid=entry.pw_gid, user=entry.pw_name)


def runs_as_root(account: AgentAccount | None) -> bool:
    return os.geteuid() == 0 and (account is None or account.uid == 0)
