"""Experiments, their searchers' states, trials, and uploaded model definitions."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from resolute.domain.experiment import ExperimentState
from resolute.domain.trial import SourceKind, TrialState
from resolute.store.db.columns import Choice, Document, Elements, Moment
from resolute.store.db.tables.base import metadata

contexts = Table(
    "contexts",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("content", LargeBinary, nullable=False),
)

experiments = Table(
    "experiments",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("state", Choice(ExperimentState), nullable=False, index=True),
    Column("changed_at", Moment, nullable=False),
    Column("config", Document, nullable=False),
    Column("original_config", Text, nullable=False),
    Column("user_id", Integer, nullable=False),
    Column("project_id", Integer, nullable=False, index=True),
    Column("job_id", Text, nullable=False, index=True),
    Column("start_time", Moment, nullable=False),
    Column("end_time", Moment),
    Column("name", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("notes", Text, nullable=False),
    Column("labels", Elements, nullable=False),
    Column("archived", Boolean, nullable=False),
    Column("parent_id", Integer),
    Column("context_id", String(64)),
    Column("unmanaged", Boolean, nullable=False),
    Column("external_id", Text, index=True),
    Column("progress", Float, nullable=False),
    Column("warnings", Elements, nullable=False),
    # Taken out of `config`, so that "best first" can be sorted in the database.
    Column("searcher_metric", Text, nullable=False),
    Column("smaller_is_better", Boolean, nullable=False),
    sqlite_autoincrement=True,
)

# Beside the experiment, not in it: it is large. An event adds a patch; now and then a new snapshot takes them all in.
searcher_snapshots = Table(
    "searcher_snapshots",
    metadata,
    Column("experiment_id", Integer, ForeignKey("experiments.id"), primary_key=True),
    Column("snapshot", Document),
    # A name that no other state of any search ever has.
    Column("stamp", Text),
)

searcher_patches = Table(
    "searcher_patches",
    metadata,
    Column("experiment_id", Integer, ForeignKey("experiments.id"), primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("stamp", Text, nullable=False),
    Column("patch", Document),
    # Its primary key is its only order: one page to write for a patch instead of two.
    sqlite_with_rowid=False,
)

trials = Table(
    "trials",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("experiment_id", Integer, ForeignKey("experiments.id"), nullable=False),
    Column("request_id", Text, nullable=False),
    Column("task_id", Text, nullable=False, unique=True),
    Column("state", Choice(TrialState), nullable=False),
    Column("changed_at", Moment, nullable=False),
    Column("hparams", Document, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("start_time", Moment, nullable=False),
    Column("end_time", Moment),
    Column("run_id", Integer, nullable=False),
    Column("restarts", Integer, nullable=False),
    Column("total_batches", BigInteger, nullable=False),
    Column("target_length", BigInteger),
    Column("is_waiting", Boolean, nullable=False),
    Column("warm_start_checkpoint", Text, index=True),
    Column("latest_checkpoint", Text),
    Column("runner_state", Text, nullable=False),
    Column("progress", Float, nullable=False),
    Column("searcher_metric_value", Float),
    Column("best_checkpoint", Text),
    Column("exit_reason", Text, nullable=False),
    Column("early_exit", Text),
    Column("excluded_nodes", Elements, nullable=False),
    Column("log_policy_matched", Text, nullable=False),
    Column("metadata", Document),
    Column("unmanaged", Boolean, nullable=False),
    Column("external_id", Text),
    Column("heartbeat_at", Moment),
    Column("log_retention_days", Integer),
    UniqueConstraint("experiment_id", "request_id"),
    Index(None, "experiment_id", "state"),
    sqlite_autoincrement=True,
)

trial_sources = Table(
    "trial_sources",
    metadata,
    Column("trial_id", Integer, ForeignKey("trials.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("checkpoint_uuid", Text, primary_key=True),
    Column("kind", Choice(SourceKind), nullable=False),
    Column("model_id", Integer),
    Column("model_version", Integer),
    Index(None, "checkpoint_uuid"),
    Index(None, "model_id", "model_version"),
)
