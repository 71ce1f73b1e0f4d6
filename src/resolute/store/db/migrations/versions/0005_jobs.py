"""Jobs of their own: the queue no longer reads experiments."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_PRIORITY, _WEIGHT, _POOL = 42, 1.0, "default"
_jobs = sa.table(
    "jobs",
    *(
        sa.column(name)
        for name in (
            "id",
            "kind",
            "name",
            "entity_id",
            "user_id",
            "workspace_id",
            "submitted_at",
            "queue_position",
            "resource_pool",
            "priority",
            "weight",
            "max_slots",
        )
    ),
)
_tasks = sa.table("tasks", *(sa.column(name) for name in ("id", "type", "config", "draining_since")))
_MOVED = ("resource_pool", "priority", "weight", "max_slots", "queue_position")


def upgrade() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("workspace_id", sa.Integer(), nullable=False),
        sa.Column("submitted_at", sa.BigInteger(), nullable=False),
        sa.Column("queue_position", sa.Float(), nullable=False),
        sa.Column("resource_pool", sa.Text(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("weight", sa.Float(), nullable=False),
        sa.Column("max_slots", sa.Integer()),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
    )
    op.add_column("tasks", sa.Column("draining_since", sa.BigInteger()))
    op.add_column("allocations", sa.Column("excluded_nodes", sa.Text(), nullable=False, server_default="[]"))
    connection = op.get_bind()
    _add_jobs_of_experiments(connection)
    _add_jobs_of_deployments(connection)
    _add_jobs_of_other_tasks(connection)
    _take_draining_out_of_configs(connection)
    _copy_excluded_nodes(connection)
    for column in _MOVED:
        op.drop_column("experiments", column)


def downgrade() -> None:
    op.add_column("experiments", sa.Column("resource_pool", sa.Text(), nullable=False, server_default=_POOL))
    op.add_column("experiments", sa.Column("priority", sa.Integer(), nullable=False, server_default=str(_PRIORITY)))
    op.add_column("experiments", sa.Column("weight", sa.Float(), nullable=False, server_default=str(_WEIGHT)))
    op.add_column("experiments", sa.Column("max_slots", sa.Integer()))
    op.add_column("experiments", sa.Column("queue_position", sa.Float(), nullable=False, server_default="0"))
    for column in _MOVED:
        op.execute(
            f"UPDATE experiments SET {column} = (SELECT j.{column} FROM jobs j WHERE j.id = experiments.job_id) "
            "WHERE job_id IN (SELECT id FROM jobs)"
        )
    _put_draining_into_configs(op.get_bind())
    op.drop_column("allocations", "excluded_nodes")
    op.drop_column("tasks", "draining_since")
    op.drop_table("jobs")


def _add_jobs_of_experiments(connection: sa.Connection) -> None:
    connection.execute(
        sa.text(
            "INSERT INTO jobs (id, kind, name, entity_id, user_id, workspace_id, submitted_at, queue_position, "
            "resource_pool, priority, weight, max_slots) "
            "SELECT e.job_id, 'EXPERIMENT', e.name, CAST(e.id AS TEXT), e.user_id, COALESCE(p.workspace_id, 1), "
            "e.start_time, e.queue_position, e.resource_pool, e.priority, e.weight, e.max_slots "
            "FROM experiments e LEFT JOIN projects p ON p.id = e.project_id"
        )
    )


def _add_jobs_of_deployments(connection: sa.Connection) -> None:
    """In the pool of the newest revision: until now each replica stood in the queue for itself."""
    newest = "SELECT serving FROM revisions WHERE deployment_id = :id ORDER BY number DESC LIMIT 1"
    deployments = connection.execute(sa.text("SELECT id, name, user_id, workspace_id, created_at FROM deployments"))
    for row in deployments.all():
        serving = connection.execute(sa.text(newest), {"id": row.id}).scalar()
        job = {
            "id": f"deployment.{row.id}",
            "kind": "DEPLOYMENT",
            "name": row.name,
            "entity_id": row.name,
            "user_id": row.user_id,
            "workspace_id": row.workspace_id,
            "resource_pool": json.loads(serving).get("resource_pool", _POOL) if serving else _POOL,
        }
        connection.execute(sa.insert(_jobs), {**_waiting_since(row.created_at), **job})


def _add_jobs_of_other_tasks(connection: sa.Connection) -> None:
    """Whatever else is not over, so that nothing that runs is without a job."""
    orphans = connection.execute(
        sa.text(
            "SELECT a.job_id, MIN(a.created_at) AS created_at, MIN(a.resource_pool) AS resource_pool, "
            "MIN(t.id) AS task_id, MIN(t.user_id) AS user_id, MIN(t.workspace_id) AS workspace_id "
            "FROM allocations a JOIN tasks t ON t.id = a.task_id "
            "WHERE a.state <> 'TERMINATED' AND a.job_id NOT IN (SELECT id FROM jobs) GROUP BY a.job_id"
        )
    )
    for row in orphans.all():
        job = {
            "id": row.job_id,
            "kind": "GENERIC",
            "name": row.task_id,
            "entity_id": row.task_id,
            "user_id": row.user_id or 1,
            "workspace_id": row.workspace_id or 1,
            "resource_pool": row.resource_pool,
        }
        connection.execute(sa.insert(_jobs), {**_waiting_since(row.created_at), **job})


def _waiting_since(microseconds: int) -> dict[str, Any]:
    return {
        "submitted_at": microseconds,
        "queue_position": microseconds / 1e6,
        "priority": _PRIORITY,
        "weight": _WEIGHT,
        "max_slots": None,
    }


def _take_draining_out_of_configs(connection: sa.Connection) -> None:
    for task_id, config in _replicas(connection):
        since = config.pop("draining_since", None)
        if since:
            moment = datetime.fromisoformat(since)
            values = {"config": _text(config), "draining_since": round(moment.timestamp() * 1e6)}
            connection.execute(sa.update(_tasks).where(_tasks.c.id == task_id).values(**values))


def _put_draining_into_configs(connection: sa.Connection) -> None:
    rows = connection.execute(
        sa.text("SELECT id, config, draining_since FROM tasks WHERE draining_since IS NOT NULL")
    ).all()
    for row in rows:
        moment = datetime.fromtimestamp(row.draining_since / 1e6).astimezone()
        config = {**json.loads(row.config or "{}"), "draining_since": moment.isoformat()}
        connection.execute(sa.update(_tasks).where(_tasks.c.id == row.id).values(config=_text(config)))


def _replicas(connection: sa.Connection) -> Iterator[tuple[str, dict[str, Any]]]:
    running = sa.text("SELECT id, config FROM tasks WHERE type = 'REPLICA' AND end_time IS NULL")
    for task_id, config in connection.execute(running).all():
        yield task_id, json.loads(config or "{}")


def _copy_excluded_nodes(connection: sa.Connection) -> None:
    """Both columns hold the same text."""
    connection.execute(
        sa.text(
            "UPDATE allocations SET excluded_nodes = (SELECT t.excluded_nodes FROM trials t "
            "WHERE t.id = allocations.trial_id) "
            "WHERE state = 'QUEUED' AND trial_id IN (SELECT id FROM trials)"
        )
    )


def _text(document: dict[str, Any]) -> str:
    return json.dumps(document, separators=(",", ":"))
