"""Metrics in packed chunks."""

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
)

from resolute.store.db.columns import Document
from resolute.store.db.tables.base import metadata

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
