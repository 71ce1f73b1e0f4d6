"""Workspaces, projects, templates, and small facts of the cluster."""

from sqlalchemy import (
    Boolean,
    Column,
    ForeignKey,
    Integer,
    Table,
    Text,
    UniqueConstraint,
)

from resolute.domain.agent_account import AgentAccount
from resolute.store.db.columns import Document, Elements, Moment, Record
from resolute.store.db.tables.base import metadata

workspaces = Table(
    "workspaces",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("user_id", Integer, nullable=False),
    Column("is_archived", Boolean, nullable=False),
    Column("is_immutable", Boolean, nullable=False),
    Column("is_pinned", Boolean, nullable=False),
    Column("checkpoint_storage", Document),
    Column("default_compute_pool", Text, nullable=False, server_default=""),
    Column("default_aux_pool", Text, nullable=False, server_default=""),
    Column("created_at", Moment, nullable=False),
    Column("agent_account", Record(AgentAccount)),
    sqlite_autoincrement=True,
)

projects = Table(
    "projects",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("workspace_id", Integer, ForeignKey("workspaces.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("user_id", Integer, nullable=False),
    Column("description", Text, nullable=False),
    Column("notes", Elements, nullable=False),
    Column("is_archived", Boolean, nullable=False),
    Column("is_immutable", Boolean, nullable=False),
    Column("created_at", Moment, nullable=False),
    UniqueConstraint("workspace_id", "name"),
    sqlite_autoincrement=True,
)

templates = Table(
    "templates",
    metadata,
    Column("name", Text, primary_key=True),
    Column("config", Document, nullable=False),
    Column("workspace_id", Integer, nullable=False),
)

settings = Table(
    "settings",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", Document),
)
