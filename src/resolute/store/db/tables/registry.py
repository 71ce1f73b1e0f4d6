"""Datasets and registered models."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Integer,
    Table,
    Text,
    UniqueConstraint,
)

from resolute.domain.dataset import DatasetClass
from resolute.domain.model import Stage
from resolute.store.db.columns import Choice, Document, Elements, Moment, Records
from resolute.store.db.tables.base import metadata

datasets = Table(
    "datasets",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("content_hash", Text, nullable=False, index=True),
    Column("uri", Text, nullable=False),
    Column("annotations", Elements, nullable=False),
    Column("images", Elements, nullable=False),
    Column("manifest_id", Text, nullable=False),
    Column("file_count", BigInteger, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("user_id", Integer, nullable=False),
    Column("workspace_id", Integer, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("description", Text, nullable=False),
    Column("classes", Records(DatasetClass), nullable=False),
    Column("parents", Elements, nullable=False),
    Column("statistics", Document, nullable=False),
    UniqueConstraint("name", "version"),
    sqlite_autoincrement=True,
)

dataset_experiments = Table(
    "dataset_experiments",
    metadata,
    Column("experiment_id", Integer, primary_key=True, autoincrement=False),
    Column("dataset_id", Integer, primary_key=True, autoincrement=False, index=True),
)

models = Table(
    "models",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("user_id", Integer, nullable=False),
    Column("workspace_id", Integer, nullable=False),
    Column("creation_time", Moment, nullable=False),
    Column("last_updated_time", Moment, nullable=False),
    Column("description", Text, nullable=False),
    Column("notes", Text, nullable=False),
    Column("labels", Elements, nullable=False),
    Column("metadata", Document, nullable=False),
    Column("archived", Boolean, nullable=False),
    Column("last_version", Integer, nullable=False),
    sqlite_autoincrement=True,
)

model_versions = Table(
    "model_versions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("model_id", Integer, ForeignKey("models.id"), nullable=False),
    Column("version", Integer, nullable=False),
    Column("checkpoint_uuid", Text, nullable=False, index=True),
    Column("user_id", Integer, nullable=False),
    Column("creation_time", Moment, nullable=False),
    Column("last_updated_time", Moment, nullable=False),
    Column("name", Text, nullable=False),
    Column("comment", Text, nullable=False),
    Column("notes", Text, nullable=False),
    Column("labels", Elements, nullable=False),
    Column("metadata", Document, nullable=False),
    Column("stage", Choice(Stage), nullable=False),
    UniqueConstraint("model_id", "version"),
    sqlite_autoincrement=True,
)
