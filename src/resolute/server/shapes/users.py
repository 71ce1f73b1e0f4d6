"""People and tokens as messages."""

from resolute.domain.user import Session, User
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
        modified_at=user.modified_at,
        last_auth_at=user.last_auth_at,
    )


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
