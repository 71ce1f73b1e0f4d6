"""Jobs in the queue, tasks, the allocations they have had, and the nodes of those."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Integer,
    String,
    Table,
    Text,
)

from resolute.domain.allocation import AllocationState
from resolute.domain.gang import Phase
from resolute.domain.job import JobKind
from resolute.domain.task import TaskType
from resolute.store.db.columns import Choice, Document, Elements, Moment, Shares
from resolute.store.db.tables.base import metadata

jobs = Table(
    "jobs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("kind", Choice(JobKind), nullable=False),
    Column("name", Text, nullable=False),
    Column("entity_id", Text, nullable=False),
    Column("user_id", Integer, nullable=False),
    Column("workspace_id", Integer, nullable=False),
    Column("submitted_at", Moment, nullable=False),
    Column("queue_position", Float, nullable=False),
    Column("resource_pool", Text, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("weight", Float, nullable=False),
    Column("max_slots", Integer),
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
    Column("draining_since", Moment),
    Column("parent_id", Text, index=True),
    Column("forked_from", Text),
    Column("is_pausable", Boolean, nullable=False),
    Column("paused_at", Moment),
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
    Column("excluded_nodes", Elements, nullable=False),
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
    Column("log_matches", Elements, nullable=False),
)

# Rows come with the first word of a node's supervisor: a gang on the master's own machine has none.
gang_nodes = Table(
    "gang_nodes",
    metadata,
    Column("allocation_id", Text, primary_key=True),
    Column("rank", Integer, primary_key=True, autoincrement=False),
    Column("node_id", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("slot_ids", Elements, nullable=False),
    Column("ports", Elements, nullable=False),
    Column("phase", Choice(Phase), nullable=False),
    Column("phase_since", Moment),
    Column("exit_code", Integer),
    Column("reason", Text, nullable=False),
    Column("log_sequence", BigInteger, nullable=False),
    Column("log_start", BigInteger, nullable=False),
)
