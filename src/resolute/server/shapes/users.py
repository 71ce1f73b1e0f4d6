"""People and tokens as messages."""

from resolute.domain.agent_account import AgentAccount
from resolute.domain.user import Session, User
from resolute.engine.access.agent_accounts import settable_account
from resolute.engine.platform import Platform
from resolute.spec.wire import users as wire
from resolute.spec.wire.enums import TokenType


def user_message(user: User) -> wire.User:
    return wire.User(
        id=user.id,
        username=user.username,
        admin=user.is_admin,
        active=user.is_active,
        remote=user.is_remote,
        display_name=user.display_name,
        agent_user_group=account_message(user.agent_account),
        modified_at=user.modified_at,
        last_auth_at=user.last_auth_at,
    )


def account_message(account: AgentAccount | None) -> wire.AgentUserGroup | None:
    if account is None:
        return None
    return wire.AgentUserGroup(
        agent_uid=account.uid, agent_gid=account.gid, agent_user=account.user, agent_group=account.group
    )


def given_account(platform: Platform, given: wire.AgentUserGroup | None) -> AgentAccount | None:
    """None: nothing is given, or all of it is left empty, which takes it back."""
    if given is None:
        return None
    return settable_account(platform, given.agent_uid, given.agent_gid, given.agent_user, given.agent_group)


def token_message(session: Session) -> wire.TokenInfo:
    return wire.TokenInfo(
        id=session.id,
        user_id=session.user_id,
        created_at=session.created_at,
        expiry=session.expires_at,
        description=session.description,
        revoked=session.is_revoked,
        token_type=TokenType.ACCESS_TOKEN if session.is_access_token else TokenType.USER_SESSION,
    )
