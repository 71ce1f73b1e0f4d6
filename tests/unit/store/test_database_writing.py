"""The one connection that writes to an SQLite file: begun, committed and undone at the driver."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.pool import QueuePool

from resolute.store.db.hot import HotStatement
from resolute.store.db.writing import SqliteWriter, driver_of

ADD = HotStatement("INSERT INTO words (word) VALUES (:word)")
FIND = HotStatement("SELECT word FROM words WHERE word = :word")


class Refusing(sqlite3.Connection):
    """A driver's connection that fails where it is told to."""

    refuses: frozenset[str] = frozenset()

    def commit(self) -> None:
        if "commit" in self.refuses:
            raise sqlite3.OperationalError("disk I/O error")
        super().commit()

    def rollback(self) -> None:
        if "rollback" in self.refuses:
            raise sqlite3.OperationalError("disk I/O error")
        super().rollback()


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[SqliteWriter]:
    def opened() -> sqlite3.Connection:
        return sqlite3.connect(
            tmp_path / "db", isolation_level=None, check_same_thread=False, factory=Refusing, timeout=0.01
        )

    made = SqliteWriter(create_engine("sqlite://", creator=opened, poolclass=QueuePool, pool_size=1, max_overflow=0))
    with made.transaction() as connection:
        connection.execute(text("CREATE TABLE words (word TEXT PRIMARY KEY)"))
    yield made
    made.close()


def add(writer: SqliteWriter, *words: str, refuses: frozenset[str] = frozenset()) -> None:
    with writer.transaction() as connection:
        driver = driver_of(connection)
        assert isinstance(driver, Refusing)
        driver.refuses = refuses
        for word in words:
            ADD.run(connection, {"word": word})


def has(writer: SqliteWriter, word: str) -> bool:
    with writer.transaction() as connection:
        return FIND.first(connection, {"word": word}) is not None


def test_statements_of_the_driver_and_of_sqlalchemy_are_one_transaction(writer: SqliteWriter) -> None:
    def write_and_fail(connection: Connection) -> None:
        ADD.run(connection, {"word": "driver"})
        connection.execute(text("INSERT INTO words VALUES ('sqlalchemy')"))
        assert FIND.first(connection, {"word": "sqlalchemy"}) == ("sqlalchemy",)
        raise KeyError

    with pytest.raises(KeyError), writer.transaction() as connection:
        write_and_fail(connection)

    assert not has(writer, "driver")
    assert not has(writer, "sqlalchemy")


def test_a_statement_that_is_refused_undoes_the_ones_before_it(writer: SqliteWriter) -> None:
    add(writer, "one")

    with pytest.raises(sqlite3.IntegrityError):
        add(writer, "two", "one")

    assert not has(writer, "two")
    add(writer, "two")
    assert has(writer, "two")


def test_a_commit_that_fails_leaves_nothing_and_the_next_one_works(writer: SqliteWriter) -> None:
    with pytest.raises(sqlite3.OperationalError):
        add(writer, "lost", refuses=frozenset({"commit"}))

    add(writer, "kept")

    assert has(writer, "kept")
    assert not has(writer, "lost")


def test_a_connection_that_cannot_even_roll_back_is_replaced(writer: SqliteWriter) -> None:
    with pytest.raises(sqlite3.OperationalError):
        add(writer, "lost", refuses=frozenset({"commit", "rollback"}))

    add(writer, "kept")

    assert has(writer, "kept")
    assert not has(writer, "lost")


def test_a_file_that_another_process_holds_is_asked_for_again_by_the_next_transaction(
    writer: SqliteWriter, tmp_path: Path
) -> None:
    other = sqlite3.connect(tmp_path / "db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(sqlite3.OperationalError, match="locked"):
        add(writer, "one")
    other.rollback()
    other.close()

    add(writer, "one")
    assert has(writer, "one")
