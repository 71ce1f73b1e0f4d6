"""The schema. A column has the name of the domain field that it carries; the few others say why they exist.

A change here needs a new revision under `migrations/versions`; a test compares the two.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from resolute.domain.allocation import AllocationState
from resolute.domain.checkpoint import CheckpointState
from resolute.domain.dataset import DatasetClass
from resolute.domain.deployment import Guard, RevisionState, Scaling, Serving
from resolute.domain.experiment import ExperimentState
from resolute.domain.model import Stage
from resolute.domain.task import TaskType
from resolute.domain.trial import TrialState
from resolute.store.db.columns import Choice, Document, Elements, Moment, Record, Records, Shares

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

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
    Column("created_at", Moment, nullable=False),
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

contexts = Table(
    "contexts",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("content", LargeBinary, nullable=False),
)

settings = Table(
    "settings",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", Document),
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
    Column("resource_pool", Text, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("weight", Float, nullable=False),
    Column("max_slots", Integer),
    Column("queue_position", Float, nullable=False),
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
    UniqueConstraint("experiment_id", "request_id"),
    Index(None, "experiment_id", "state"),
    sqlite_autoincrement=True,
)

tasks = Table(
    "tasks",
    metadata,
    Column("id", Text, primary_key=True),
    Column("type", Choice(TaskType), nullable=False, index=True),
    Column("job_id", Text, nullable=False, index=True),
    Column("start_time", Moment, nullable=False),
    Column("end_time", Moment),
    Column("user_id", Integer),
    Column("workspace_id", Integer, nullable=False),
    Column("config", Document),
    Column("context_id", String(64)),
)

allocations = Table(
    "allocations",
    metadata,
    Column("id", Text, primary_key=True),
    Column("task_id", Text, nullable=False, index=True),
    Column("job_id", Text, nullable=False),
    Column("state", Choice(AllocationState), nullable=False, index=True),
    Column("changed_at", Moment, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("slots_needed", Integer, nullable=False),
    Column("resource_pool", Text, nullable=False),
    Column("trial_id", Integer, index=True),
    Column("run_id", Integer, nullable=False),
    Column("is_preemptible", Boolean, nullable=False),
    Column("single_node", Boolean, nullable=False),
    Column("shares", Shares, nullable=False),
    Column("handle", Text),
    Column("is_ready", Boolean, nullable=False),
    Column("start_time", Moment),
    Column("end_time", Moment),
    Column("preempt_requested_at", Moment),
    Column("preempt_acked", Boolean, nullable=False),
    Column("kill_requested_at", Moment),
    Column("exit_code", Integer),
    Column("exit_reason", Text, nullable=False),
    Column("token_hash", Text, nullable=False, index=True),
    Column("ports", Elements, nullable=False),
    Column("proxy_address", Text, nullable=False),
)

checkpoints = Table(
    "checkpoints",
    metadata,
    Column("uuid", Text, primary_key=True),
    Column("state", Choice(CheckpointState), nullable=False),
    Column("report_time", Moment, nullable=False),
    Column("resources", Document, nullable=False),
    Column("metadata", Document, nullable=False),
    Column("task_id", Text),
    Column("allocation_id", Text),
    Column("trial_id", Integer),
    Column("experiment_id", Integer),
    Column("run_id", Integer, nullable=False),
    Column("steps_completed", BigInteger, nullable=False),
    Column("storage", Document),
    Column("digests", Document),
    # The sum of `resources`, so that lists need not read every manifest.
    Column("size", BigInteger, nullable=False),
    # The searcher's metric validated at the same step, whichever of the two was reported first.
    Column("searcher_metric", Float),
    Index(None, "trial_id", "steps_completed"),
    Index(None, "experiment_id", "state"),
)

# ------------------------------------------------------------------------------------------------------- metrics

metric_chunks = Table(
    "metric_chunks",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("trial_id", Integer, nullable=False),
    Column("run_id", Integer, nullable=False),
    Column("group", Text, nullable=False),
    Column("first_steps", BigInteger, nullable=False),
    Column("last_steps", BigInteger, nullable=False),
    Column("count", Integer, nullable=False),
    # The least and the largest id of the reports inside.
    Column("first_id", BigInteger, nullable=False),
    Column("last_id", BigInteger, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    Index(None, "trial_id", "group", "last_steps"),
    sqlite_autoincrement=True,
)

# Few points of each metric in a large chunk, so that a long series is drawn without reading all of it.
metric_outlines = Table(
    "metric_outlines",
    metadata,
    Column(
        "chunk_id",
        BigInteger,
        ForeignKey("metric_chunks.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("name", Text, primary_key=True),
    Column("outline", LargeBinary, nullable=False),
)

# One row per (trial, group, run): where the next report is expected, and from which step it replaces older runs.
metric_heads = Table(
    "metric_heads",
    metadata,
    Column("trial_id", Integer, primary_key=True, autoincrement=False),
    Column("group", Text, primary_key=True),
    Column("run_id", Integer, primary_key=True, autoincrement=False),
    Column("first_steps", BigInteger, nullable=False),
    Column("last_steps", BigInteger, nullable=False),
    Column("count", BigInteger, nullable=False),
    Column("last_id", BigInteger, nullable=False),
    # Raised when stored chunks are rewritten, so that caches of their points are dropped.
    Column("revision", Integer, nullable=False),
    # Chunks with few reports since the last compaction.
    Column("small_chunks", Integer, nullable=False),
)

metric_summaries = Table(
    "metric_summaries",
    metadata,
    Column("trial_id", Integer, primary_key=True, autoincrement=False),
    Column("group", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("count", BigInteger, nullable=False),
    Column("non_finite", BigInteger, nullable=False),
    Column("total", Float, nullable=False),
    Column("min", Float),
    Column("max", Float),
    Column("last", Document),
    # `last` where it is a finite number, to sort by.
    Column("last_number", Float),
    Column("last_steps", BigInteger, nullable=False),
    Column("type", Text, nullable=False),
)

# ---------------------------------------------------------------------------------- datasets, models, deployments

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
