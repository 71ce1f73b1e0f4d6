"""Write transactions, begun and ended as each database does it at the least cost.

One thread at a time: the store sees to that. Nothing here waits for a disk beyond what the commit itself does.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from sqlalchemy import Connection, Engine


class Writer(Protocol):
    def transaction(self) -> AbstractContextManager[Connection]:
        """Committed when the block ends, undone when it raises."""

    def close(self) -> None: ...


class EngineWriter:
    """A connection of the pool for each transaction, which also notices a server that went away."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def transaction(self) -> AbstractContextManager[Connection]:
        return self._engine.begin()

    def close(self) -> None:
        self._engine.dispose()


class SqliteWriter:
    """One connection for as long as the store is open; the driver itself begins and commits.

    To SQLAlchemy it is a single transaction that never ends, and because the driver is in autocommit mode that means
    nothing to SQLite. Taking a connection out of the pool and beginning through SQLAlchemy costs 120 us, this 20.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._connection: Connection | None = None

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        connection = self._open()
        driver = driver_of(connection)
        assert driver is not None
        driver.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            driver.commit()
        except BaseException:
            self._undo(driver)
            raise

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        self._engine.dispose()

    def _open(self) -> Connection:
        if self._connection is None:
            self._connection = self._engine.connect()
            self._connection.begin()
        return self._connection

    def _undo(self, driver: sqlite3.Connection) -> None:
        """SQLite may have rolled back by itself, after which this does nothing."""
        try:
            driver.rollback()
        except sqlite3.Error:
            # Whatever state it is in, the next transaction shall not meet it.
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.invalidate()
                connection.close()
            raise


def driver_of(connection: Connection) -> sqlite3.Connection | None:
    """SQLite's own connection under `connection`; None where the database is another one."""
    driver = connection.connection.dbapi_connection
    return driver if isinstance(driver, sqlite3.Connection) else None
