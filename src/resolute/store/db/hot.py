"""Statements that run at every event of a search, as text that both databases read.

SQLAlchemy takes 70 us to bring one to SQLite, which runs it in 10, so SQLite's driver is given the text itself. On
PostgreSQL the way to the server costs more than SQLAlchemy does, and it goes the ordinary way.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, text

from resolute.store.db.writing import driver_of


class HotStatement:
    """Parameters (`:name`) and columns are numbers and texts as the database has them: no column type is asked."""

    def __init__(self, sql: str) -> None:
        self._sql = sql
        self._clause = text(sql)

    def run(self, connection: Connection, parameters: Mapping[str, object]) -> None:
        driver = driver_of(connection)
        if driver is None:
            connection.execute(self._clause, parameters)
        else:
            driver.execute(self._sql, parameters)

    def run_each(self, connection: Connection, parameters: Sequence[Mapping[str, object]]) -> None:
        driver = driver_of(connection)
        if driver is None:
            connection.execute(self._clause, parameters)
        else:
            driver.executemany(self._sql, parameters)

    def first(self, connection: Connection, parameters: Mapping[str, object]) -> Sequence[Any] | None:
        """For statements that give one row at most: no cursor stays open behind it."""
        driver = driver_of(connection)
        if driver is None:
            return connection.execute(self._clause, parameters).first()
        rows = driver.execute(self._sql, parameters).fetchall()
        return rows[0] if rows else None
