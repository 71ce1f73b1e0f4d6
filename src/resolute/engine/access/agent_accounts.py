"""As which account of the machine somebody's work runs: the workspace's, else its owner's, else the master's choice."""

import contextlib

from resolute.domain.agent_account import AgentAccount, checked_account
from resolute.domain.errors import InvalidInput, NotFound
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction


def account_of(platform: Platform, tx: Transaction, *, user_id: int, workspace_id: int) -> AgentAccount | None:
    """None: as the master itself. What cannot be found any more says nothing."""
    account: AgentAccount | None = None
    with contextlib.suppress(NotFound):
        account = tx.workspaces.get(workspace_id).agent_account
    return account or tx.users.get(user_id).agent_account or platform.config.run_as


def settable_account(
    platform: Platform, uid: int | None, gid: int | None, user: str | None, group: str | None
) -> AgentAccount | None:
    """As given for a user or a workspace; None takes it back. Raises InvalidInput where nothing could be started so."""
    account = checked_account(uid, gid, user, group)
    if account is not None and not platform.config.can_run_as_others:
        raise InvalidInput(
            f"agentUserGroup: this master does not run as root, so it cannot start anything as {account}. Start it as "
            "root, or leave agentUserGroup out."
        )
    return account
