"""The first schema: one function per table, those that others point at first."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _allocations()
    _checkpoints()
    _contexts()
    _experiments()
    _metric_chunks()
    _metric_heads()
    _metric_summaries()
    _settings()
    _tasks()
    _templates()
    _users()
    _workspaces()
    _projects()
    _searcher_snapshots()
    _sessions()
    _trials()
    _user_settings()


def downgrade() -> None:
    for table in _TABLES:
        op.drop_table(table)


_TABLES = [
    "user_settings",
    "trials",
    "sessions",
    "searcher_snapshots",
    "projects",
    "workspaces",
    "users",
    "templates",
    "tasks",
    "settings",
    "metric_summaries",
    "metric_heads",
    "metric_chunks",
    "experiments",
    "contexts",
    "checkpoints",
    "allocations",
]


def _allocations() -> None:
    op.create_table(
        "allocations",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("task_id", sa.Text(), nullable=False),
        sa.Column("job_id", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=32), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("slots_needed", sa.Integer(), nullable=False),
        sa.Column("resource_pool", sa.Text(), nullable=False),
        sa.Column("trial_id", sa.Integer(), nullable=True),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("is_preemptible", sa.Boolean(), nullable=False),
        sa.Column("single_node", sa.Boolean(), nullable=False),
        sa.Column("shares", sa.Text(), nullable=False),
        sa.Column("handle", sa.Text(), nullable=True),
        sa.Column("is_ready", sa.Boolean(), nullable=False),
        sa.Column("start_time", sa.BigInteger(), nullable=True),
        sa.Column("end_time", sa.BigInteger(), nullable=True),
        sa.Column("preempt_requested_at", sa.BigInteger(), nullable=True),
        sa.Column("preempt_acked", sa.Boolean(), nullable=False),
        sa.Column("kill_requested_at", sa.BigInteger(), nullable=True),
        sa.Column("exit_code", sa.Integer(), nullable=True),
        sa.Column("exit_reason", sa.Text(), nullable=False),
        sa.Column("token_hash", sa.Text(), nullable=False),
        sa.Column("ports", sa.Text(), nullable=False),
        sa.Column("proxy_address", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_allocations")),
    )
    with op.batch_alter_table("allocations") as batch_op:
        batch_op.create_index(batch_op.f("ix_allocations_state"), ["state"], unique=False)
        batch_op.create_index(batch_op.f("ix_allocations_task_id"), ["task_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_allocations_token_hash"), ["token_hash"], unique=False)
        batch_op.create_index(batch_op.f("ix_allocations_trial_id"), ["trial_id"], unique=False)


def _checkpoints() -> None:
    op.create_table(
        "checkpoints",
        sa.Column("uuid", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=32), nullable=False),
        sa.Column("report_time", sa.BigInteger(), nullable=False),
        sa.Column("resources", sa.Text(), nullable=False),
        sa.Column("metadata", sa.Text(), nullable=False),
        sa.Column("task_id", sa.Text(), nullable=True),
        sa.Column("allocation_id", sa.Text(), nullable=True),
        sa.Column("trial_id", sa.Integer(), nullable=True),
        sa.Column("experiment_id", sa.Integer(), nullable=True),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("steps_completed", sa.BigInteger(), nullable=False),
        sa.Column("storage", sa.Text(), nullable=True),
        sa.Column("digests", sa.Text(), nullable=True),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("searcher_metric", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("uuid", name=op.f("pk_checkpoints")),
    )
    with op.batch_alter_table("checkpoints") as batch_op:
        batch_op.create_index(
            batch_op.f("ix_checkpoints_experiment_id_state"), ["experiment_id", "state"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_checkpoints_trial_id_steps_completed"), ["trial_id", "steps_completed"], unique=False
        )


def _contexts() -> None:
    op.create_table(
        "contexts",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contexts")),
    )


def _experiments() -> None:
    op.create_table(
        "experiments",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=32), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.Column("config", sa.Text(), nullable=False),
        sa.Column("original_config", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.Text(), nullable=False),
        sa.Column("start_time", sa.BigInteger(), nullable=False),
        sa.Column("end_time", sa.BigInteger(), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("notes", sa.Text(), nullable=False),
        sa.Column("labels", sa.Text(), nullable=False),
        sa.Column("archived", sa.Boolean(), nullable=False),
        sa.Column("parent_id", sa.Integer(), nullable=True),
        sa.Column("context_id", sa.String(length=64), nullable=True),
        sa.Column("unmanaged", sa.Boolean(), nullable=False),
        sa.Column("external_id", sa.Text(), nullable=True),
        sa.Column("progress", sa.Float(), nullable=False),
        sa.Column("resource_pool", sa.Text(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("weight", sa.Float(), nullable=False),
        sa.Column("max_slots", sa.Integer(), nullable=True),
        sa.Column("queue_position", sa.Float(), nullable=False),
        sa.Column("warnings", sa.Text(), nullable=False),
        sa.Column("searcher_metric", sa.Text(), nullable=False),
        sa.Column("smaller_is_better", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_experiments")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("experiments") as batch_op:
        batch_op.create_index(batch_op.f("ix_experiments_external_id"), ["external_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_experiments_job_id"), ["job_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_experiments_project_id"), ["project_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_experiments_state"), ["state"], unique=False)


def _metric_chunks() -> None:
    op.create_table(
        "metric_chunks",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("trial_id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("group", sa.Text(), nullable=False),
        sa.Column("first_steps", sa.BigInteger(), nullable=False),
        sa.Column("last_steps", sa.BigInteger(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("first_id", sa.BigInteger(), nullable=False),
        sa.Column("last_id", sa.BigInteger(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_metric_chunks")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("metric_chunks") as batch_op:
        batch_op.create_index(
            batch_op.f("ix_metric_chunks_trial_id_group_last_steps"), ["trial_id", "group", "last_steps"], unique=False
        )


def _metric_heads() -> None:
    op.create_table(
        "metric_heads",
        sa.Column("trial_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("group", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("first_steps", sa.BigInteger(), nullable=False),
        sa.Column("last_steps", sa.BigInteger(), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.Column("last_id", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("small_chunks", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("trial_id", "group", "run_id", name=op.f("pk_metric_heads")),
    )


def _metric_summaries() -> None:
    op.create_table(
        "metric_summaries",
        sa.Column("trial_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("group", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.Column("non_finite", sa.BigInteger(), nullable=False),
        sa.Column("total", sa.Float(), nullable=False),
        sa.Column("min", sa.Float(), nullable=True),
        sa.Column("max", sa.Float(), nullable=True),
        sa.Column("last", sa.Text(), nullable=True),
        sa.Column("last_number", sa.Float(), nullable=True),
        sa.Column("last_steps", sa.BigInteger(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("trial_id", "group", "name", name=op.f("pk_metric_summaries")),
    )


def _settings() -> None:
    op.create_table(
        "settings",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_settings")),
    )


def _tasks() -> None:
    op.create_table(
        "tasks",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("type", sa.String(length=32), nullable=False),
        sa.Column("job_id", sa.Text(), nullable=False),
        sa.Column("start_time", sa.BigInteger(), nullable=False),
        sa.Column("end_time", sa.BigInteger(), nullable=True),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("workspace_id", sa.Integer(), nullable=False),
        sa.Column("config", sa.Text(), nullable=True),
        sa.Column("context_id", sa.String(length=64), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tasks")),
    )
    with op.batch_alter_table("tasks") as batch_op:
        batch_op.create_index(batch_op.f("ix_tasks_job_id"), ["job_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_tasks_type"), ["type"], unique=False)


def _templates() -> None:
    op.create_table(
        "templates",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("config", sa.Text(), nullable=False),
        sa.Column("workspace_id", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_templates")),
    )


def _users() -> None:
    op.create_table(
        "users",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("username", sa.Text(), nullable=False),
        sa.Column("is_admin", sa.Boolean(), nullable=False),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("is_remote", sa.Boolean(), nullable=False),
        sa.Column("display_name", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=False),
        sa.Column("modified_at", sa.BigInteger(), nullable=False),
        sa.Column("last_auth_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("username", name=op.f("uq_users_username")),
        sqlite_autoincrement=True,
    )


def _workspaces() -> None:
    op.create_table(
        "workspaces",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("is_archived", sa.Boolean(), nullable=False),
        sa.Column("is_immutable", sa.Boolean(), nullable=False),
        sa.Column("is_pinned", sa.Boolean(), nullable=False),
        sa.Column("checkpoint_storage", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workspaces")),
        sa.UniqueConstraint("name", name=op.f("uq_workspaces_name")),
        sqlite_autoincrement=True,
    )


def _projects() -> None:
    op.create_table(
        "projects",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("workspace_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("notes", sa.Text(), nullable=False),
        sa.Column("is_archived", sa.Boolean(), nullable=False),
        sa.Column("is_immutable", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_projects_workspace_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_projects")),
        sa.UniqueConstraint("workspace_id", "name", name=op.f("uq_projects_workspace_id_name")),
        sqlite_autoincrement=True,
    )


def _searcher_snapshots() -> None:
    op.create_table(
        "searcher_snapshots",
        sa.Column("experiment_id", sa.Integer(), nullable=False),
        sa.Column("snapshot", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["experiment_id"], ["experiments.id"], name=op.f("fk_searcher_snapshots_experiment_id")
        ),
        sa.PrimaryKeyConstraint("experiment_id", name=op.f("pk_searcher_snapshots")),
    )


def _sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("token_hash", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("is_access_token", sa.Boolean(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("is_revoked", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_sessions_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sessions")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_sessions_token_hash")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("sessions") as batch_op:
        batch_op.create_index(batch_op.f("ix_sessions_user_id"), ["user_id"], unique=False)


def _trials() -> None:
    op.create_table(
        "trials",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("experiment_id", sa.Integer(), nullable=False),
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.Column("task_id", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=32), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.Column("hparams", sa.Text(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("start_time", sa.BigInteger(), nullable=False),
        sa.Column("end_time", sa.BigInteger(), nullable=True),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("restarts", sa.Integer(), nullable=False),
        sa.Column("total_batches", sa.BigInteger(), nullable=False),
        sa.Column("target_length", sa.BigInteger(), nullable=True),
        sa.Column("is_waiting", sa.Boolean(), nullable=False),
        sa.Column("warm_start_checkpoint", sa.Text(), nullable=True),
        sa.Column("latest_checkpoint", sa.Text(), nullable=True),
        sa.Column("runner_state", sa.Text(), nullable=False),
        sa.Column("progress", sa.Float(), nullable=False),
        sa.Column("searcher_metric_value", sa.Float(), nullable=True),
        sa.Column("best_checkpoint", sa.Text(), nullable=True),
        sa.Column("exit_reason", sa.Text(), nullable=False),
        sa.Column("early_exit", sa.Text(), nullable=True),
        sa.Column("excluded_nodes", sa.Text(), nullable=False),
        sa.Column("log_policy_matched", sa.Text(), nullable=False),
        sa.Column("metadata", sa.Text(), nullable=True),
        sa.Column("unmanaged", sa.Boolean(), nullable=False),
        sa.Column("external_id", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["experiment_id"], ["experiments.id"], name=op.f("fk_trials_experiment_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_trials")),
        sa.UniqueConstraint("experiment_id", "request_id", name=op.f("uq_trials_experiment_id_request_id")),
        sa.UniqueConstraint("task_id", name=op.f("uq_trials_task_id")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("trials") as batch_op:
        batch_op.create_index(batch_op.f("ix_trials_experiment_id_state"), ["experiment_id", "state"], unique=False)
        batch_op.create_index(batch_op.f("ix_trials_warm_start_checkpoint"), ["warm_start_checkpoint"], unique=False)


def _user_settings() -> None:
    op.create_table(
        "user_settings",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_user_settings_user_id")),
        sa.PrimaryKeyConstraint("user_id", "key", name=op.f("pk_user_settings")),
    )
