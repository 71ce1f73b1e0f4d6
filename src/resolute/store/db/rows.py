"""Between rows and frozen domain dataclasses: the columns of a table that carry the fields of a class, by name."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Generic, TypeAlias, TypeVar

from sqlalchemy import Column, Connection, Row, Select, Table, bindparam, insert, select, update

T = TypeVar("T")
Statement: TypeAlias = "Select[tuple[object, ...]]"
"""A query whose rows are read by position."""


class Rows(Generic[T]):
    """Reads and writes objects of `of` in `table`, whose primary key is the single column `key`.

    `state` names the column that `save` compares, where there is one.

    Columns of the table that are no field of the class are given by keyword to `add` and `save`.
    """

    def __init__(self, table: Table, of: type[T], *, key: str = "id", state: str = "state") -> None:
        self.table = table
        self.key: Column[Any] = table.c[key]
        self._of = of
        self._names = [field.name for field in fields(of)]  # type: ignore[arg-type]
        self._select = select(*(table.c[name] for name in self._names))
        # Statements are made once: making one costs as much as running it.
        self._by_key = self._select.where(self.key == bindparam("by_key"))
        self._insert = insert(table)
        self._update = update(table).where(self.key == bindparam("by_key"))
        self._update_expected = self._update
        if state in table.c:
            self._update_expected = self._update.where(table.c[state] == bindparam("by_state"))

    def select(self) -> Statement:
        """All fields, in the order that `read` expects."""
        return self._select

    def read(self, row: Row[Any] | Sequence[Any]) -> T:
        return self._of(**dict(zip(self._names, row, strict=False)))

    def all(self, connection: Connection, statement: Statement, **parameters: object) -> list[T]:
        return [self.read(row) for row in connection.execute(statement, parameters)]

    def first(self, connection: Connection, statement: Statement) -> T | None:
        row = connection.execute(statement.limit(1)).first()
        return None if row is None else self.read(row)

    def find(self, connection: Connection, statement: Statement, **parameters: object) -> T | None:
        """The row of a statement that gives one at most, and was made once."""
        row = connection.execute(statement, parameters).first()
        return None if row is None else self.read(row)

    def get(self, connection: Connection, key: object) -> T | None:
        row = connection.execute(self._by_key, {"by_key": key}).first()
        return None if row is None else self.read(row)

    def add(self, connection: Connection, item: T, **extra: object) -> Any:
        """Insert and return the key; an id of 0 lets the database choose."""
        values = self._values(item, extra)
        if values[self.key.name] == 0:
            del values[self.key.name]
        primary_key = connection.execute(self._insert, values).inserted_primary_key
        assert primary_key is not None
        return primary_key[0]

    def save(self, connection: Connection, item: T, *, expected: object = None, **extra: object) -> bool:
        """Write every field if the stored state is still `expected`. False: it is not, or the row is gone."""
        values = self._values(item, extra)
        key = values.pop(self.key.name)
        if expected is None:
            return connection.execute(self._update, {**values, "by_key": key}).rowcount == 1
        parameters = {**values, "by_key": key, "by_state": expected}
        return connection.execute(self._update_expected, parameters).rowcount == 1

    def _values(self, item: T, extra: dict[str, object]) -> dict[str, object]:
        return {name: getattr(item, name) for name in self._names} | extra
