"""Between rows and frozen domain dataclasses: the columns of a table that carry the fields of a class, by name."""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any, Generic, TypeVar

from sqlalchemy import Column, Connection, Row, Select, Table, bindparam, insert, select, update

T = TypeVar("T")


class Rows(Generic[T]):
    """Reads and writes objects of `of` in `table`, whose primary key is the single column `key`.

    Columns of the table that are no field of the class are given by keyword to `add` and `save`.
    """

    def __init__(self, table: Table, of: type[T], *, key: str = "id") -> None:
        self.table = table
        self.key: Column[Any] = table.c[key]
        self._of = of
        self._names = [field.name for field in fields(of)]  # type: ignore[arg-type]
        self._select = select(*(table.c[name] for name in self._names))
        self._by_key = self._select.where(self.key == _bind(key))

    def select(self) -> Select[Any]:
        """All fields, in the order that `read` expects."""
        return self._select

    def read(self, row: Row[Any] | Sequence[Any]) -> T:
        return self._of(**dict(zip(self._names, row, strict=False)))

    def all(self, connection: Connection, statement: Select[Any]) -> list[T]:
        return [self.read(row) for row in connection.execute(statement)]

    def first(self, connection: Connection, statement: Select[Any]) -> T | None:
        row = connection.execute(statement.limit(1)).first()
        return None if row is None else self.read(row)

    def get(self, connection: Connection, key: Any) -> T | None:
        row = connection.execute(self._by_key, {f"by_{self.key.name}": key}).first()
        return None if row is None else self.read(row)

    def add(self, connection: Connection, item: T, **extra: Any) -> Any:
        """Insert and return the key; an id of 0 lets the database choose."""
        values = self._values(item, extra)
        if values[self.key.name] == 0:
            del values[self.key.name]
        primary_key = connection.execute(insert(self.table), values).inserted_primary_key
        assert primary_key is not None
        return primary_key[0]

    def save(self, connection: Connection, item: T, *, expected: Any = None, **extra: Any) -> bool:
        """Write every field if the stored state is still `expected`. False: it is not, or the row is gone."""
        values = self._values(item, extra)
        key = values.pop(self.key.name)
        statement = update(self.table).where(self.key == _bind(self.key.name))
        parameters = {**values, f"by_{self.key.name}": key}
        if expected is not None:
            statement = statement.where(self.table.c.state == _bind("state"))
            parameters["by_state"] = expected
        return connection.execute(statement.values(_placeholders(values)), parameters).rowcount == 1

    def _values(self, item: T, extra: dict[str, Any]) -> dict[str, Any]:
        return {name: getattr(item, name) for name in self._names} | extra


def _bind(name: str) -> Any:
    return bindparam(f"by_{name}")


def _placeholders(values: Iterable[str]) -> dict[str, Any]:
    return {name: bindparam(name) for name in values}
