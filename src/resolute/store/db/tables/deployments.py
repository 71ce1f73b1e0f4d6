"""Deployments and their revisions."""

from sqlalchemy import (
    Boolean,
    Column,
    ForeignKey,
    Integer,
    Table,
    Text,
    UniqueConstraint,
)

from resolute.domain.deployment import Guard, RevisionState, Scaling, Serving
from resolute.store.db.columns import Choice, Moment, Record
from resolute.store.db.tables.base import metadata

deployments = Table(
    "deployments",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("namespace", Text, nullable=False),
    Column("user_id", Integer, nullable=False),
    Column("workspace_id", Integer, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("stable", Integer),
    Column("previous", Integer),
    Column("canary", Integer),
    Column("canary_percent", Integer, nullable=False),
    Column("shadow", Integer),
    Column("shadow_percent", Integer, nullable=False),
    Column("sticky", Text, nullable=False),
    Column("scaling", Record(Scaling), nullable=False),
    Column("guard", Record(Guard), nullable=False),
    Column("public", Boolean, nullable=False),
    Column("is_deleted", Boolean, nullable=False),
    UniqueConstraint("namespace", "name"),
    sqlite_autoincrement=True,
)

revisions = Table(
    "revisions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("deployment_id", Integer, ForeignKey("deployments.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("source", Text, nullable=False),
    Column("model_version_id", Integer, index=True),
    Column("checkpoint_uuid", Text, index=True),
    Column("serving", Record(Serving), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("state", Choice(RevisionState), nullable=False),
    Column("reason", Text, nullable=False),
    Column("replicas_wanted", Integer, nullable=False),
    UniqueConstraint("deployment_id", "number"),
    sqlite_autoincrement=True,
)
