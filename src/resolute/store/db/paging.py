"""Pages of a sorted query, and long lists of keys in pieces that a statement can hold."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, func, select

from resolute.engine.ports.queries import PageRequest
from resolute.store.db.rows import Statement

T = TypeVar("T")
_KEYS_AT_ONCE = 5000
"""PostgreSQL takes 65,535 parameters in one statement, SQLite 32,766."""


def batched(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), _KEYS_AT_ONCE):
        yield items[start : start + _KEYS_AT_ONCE]


def window(page: PageRequest, total: int) -> tuple[int, int | None]:
    """(offset, limit) with a negative offset counted from the end."""
    offset = page.offset if page.offset >= 0 else max(0, total + page.offset)
    return offset, page.limit


def paged(connection: Connection, statement: Statement, page: PageRequest) -> tuple[Statement, int, int]:
    """The statement cut to `page`, the offset it starts at and the number of rows without the cut."""
    if page.offset == 0 and page.limit is None:
        return statement, 0, -1
    total = connection.execute(select(func.count()).select_from(statement.order_by(None).subquery())).scalar_one()
    offset, limit = window(page, total)
    cut = statement.offset(offset) if offset else statement
    # SQLite knows no OFFSET without LIMIT.
    return cut.limit(total if limit is None else limit), offset, total


def ordered(column: ColumnElement[Any], *, descending: bool) -> ColumnElement[Any]:
    """What has no value comes last either way."""
    return (column.desc() if descending else column.asc()).nulls_last()
