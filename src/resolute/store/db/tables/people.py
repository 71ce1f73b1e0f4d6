"""Users, their sessions and what their web page remembers."""

from sqlalchemy import (
    Boolean,
    Column,
    ForeignKey,
    Integer,
    Table,
    Text,
)

from resolute.domain.agent_account import AgentAccount
from resolute.store.db.columns import Moment, Record
from resolute.store.db.tables.base import metadata

users = Table(
    "users",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("username", Text, nullable=False, unique=True),
    Column("is_admin", Boolean, nullable=False),
    Column("is_active", Boolean, nullable=False),
    Column("is_remote", Boolean, nullable=False),
    Column("display_name", Text, nullable=False),
    Column("password_hash", Text, nullable=False),
    Column("modified_at", Moment, nullable=False),
    Column("last_auth_at", Moment),
    Column("agent_account", Record(AgentAccount)),
    sqlite_autoincrement=True,
)

sessions = Table(
    "sessions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("user_id", Integer, ForeignKey("users.id"), nullable=False, index=True),
    Column("token_hash", Text, nullable=False, unique=True),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Column("is_access_token", Boolean, nullable=False),
    Column("description", Text, nullable=False),
    Column("is_revoked", Boolean, nullable=False),
    sqlite_autoincrement=True,
)

user_settings = Table(
    "user_settings",
    metadata,
    Column("user_id", Integer, ForeignKey("users.id"), primary_key=True),
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
