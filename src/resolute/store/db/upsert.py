"""Insert or overwrite by primary key, in the words of either database."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.dml import Insert


def upsert(connection: Connection, table: Table, values: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> None:
    """Every row of `values` has the same keys, the primary key among them."""
    if not values:
        return
    connection.execute(_statement(connection.dialect.name, table), values)


@cache
def _statement(dialect: str, table: Table) -> Insert:
    insert = sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)
    changes = {column.name: insert.excluded[column.name] for column in table.c if not column.primary_key}
    return insert.on_conflict_do_update(index_elements=list(table.primary_key), set_=changes)
