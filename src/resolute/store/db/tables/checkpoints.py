"""Checkpoints."""

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    Index,
    Integer,
    Table,
    Text,
)

from resolute.domain.checkpoint import CheckpointState
from resolute.store.db.columns import Choice, Document, Moment
from resolute.store.db.tables.base import metadata

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
