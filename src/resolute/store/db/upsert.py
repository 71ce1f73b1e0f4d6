"""Insert, or overwrite or add up by primary key, in the words of either database."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, Connection, Table, case
from sqlalchemy.dialects import sqlite
from sqlalchemy.sql.dml import Insert

from resolute.store.db import tables
from resolute.store.metrics.summary import MIXED

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql


def upsert(connection: Connection, table: Table, values: Mapping[str, object] | Sequence[Mapping[str, object]]) -> None:
    """Every row of `values` has the same keys, the primary key among them."""
    if not values:
        return
    connection.execute(_statement(connection.dialect.name, table), values)


@cache
def _statement(dialect: str, table: Table) -> Insert:
    insert = _insert(dialect, table)
    changes = {column.name: insert.excluded[column.name] for column in table.c if not column.primary_key}
    return insert.on_conflict_do_update(index_elements=list(table.primary_key), set_=changes)


@cache
def add_statistics(dialect: str) -> Insert:
    """Add rows of `metric_summaries` to the stored ones: the same sums as `store.metrics.summary.joined`."""
    table = tables.metric_summaries
    insert = _insert(dialect, table)
    old, new = table.c, insert.excluded
    is_later = new.last_steps >= old.last_steps
    changes: dict[str, ColumnElement[object]] = {
        **{name: old[name] + new[name] for name in ("count", "non_finite", "total")},
        "min": case((old.min.is_(None) | (new.min < old.min), new.min), else_=old.min),
        "max": case((old.max.is_(None) | (new.max > old.max), new.max), else_=old.max),
        **{name: case((is_later, new[name]), else_=old[name]) for name in ("last", "last_number", "last_steps")},
        "type": case((old.type == new.type, old.type), else_=MIXED),
    }
    return insert.on_conflict_do_update(index_elements=list(table.primary_key), set_=changes)


def _insert(dialect: str, table: Table) -> "sqlite.Insert | postgresql.Insert":
    if dialect == "sqlite":
        return sqlite.insert(table)
    # Comes with half a dozen drivers, which a master over SQLite need not wait for: not at the top.
    from sqlalchemy.dialects import postgresql

    return postgresql.insert(table)
