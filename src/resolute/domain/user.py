"""Who may do what, and where their work is kept. Pure."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    id: int
    name: str
    user_id: int
    is_archived: bool = False
    is_immutable: bool = False
    is_pinned: bool = False
    checkpoint_storage: dict[str, Any] | None = None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    id: int
    workspace_id: int
    name: str
    key: str
    user_id: int
    description: str = ""
    notes: tuple[dict[str, str], ...] = ()
    is_archived: bool = False
    is_immutable: bool = False
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    name: str
    config: dict[str, Any]
    workspace_id: int = 1
