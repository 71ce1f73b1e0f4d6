"""Who works here, and how they are known again. Pure."""

from dataclasses import dataclass
from datetime import datetime

from resolute.domain.agent_account import AgentAccount


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    id: int
    username: str
    is_admin: bool = False
    is_active: bool = True
    is_remote: bool = False
    display_name: str = ""
    password_hash: str = ""
    """Empty: the empty password, which lets in nobody but callers on loopback."""
    modified_at: datetime
    last_auth_at: datetime | None = None
    agent_account: AgentAccount | None = None
    """As which account of a machine the user's work runs. None: as the master is configured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A login or an access token. Only the hash of the token is stored."""

    id: int
    user_id: int
    token_hash: str
    created_at: datetime
    expires_at: datetime
    is_access_token: bool = False
    description: str = ""
    is_revoked: bool = False
