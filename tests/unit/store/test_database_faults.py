"""Drivers' errors as domain errors, and commits that wait for the disk together."""

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from resolute.domain.errors import AlreadyExists, InvalidInput, NotFound, ResoluteError, Unavailable
from resolute.store.db.durability import WalSync
from resolute.store.db.faults import translated


class _PostgresError(Exception):
    def __init__(self, state: str) -> None:
        super().__init__(f"state {state}")
        self.sqlstate = state


def _sqlite_error(code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("driver text")
    error.sqlite_errorcode = code  # type: ignore[misc]
    return error


@pytest.mark.parametrize(
    ("original", "expected", "words"),
    [
        (_sqlite_error(sqlite3.SQLITE_FULL), Unavailable, "is full; nothing was changed"),
        (_sqlite_error(sqlite3.SQLITE_IOERR | (3 << 8)), Unavailable, "Check its disk"),
        (_sqlite_error(sqlite3.SQLITE_READONLY), Unavailable, "permissions"),
        (_sqlite_error(sqlite3.SQLITE_CANTOPEN), Unavailable, "cannot be opened"),
        (_sqlite_error(sqlite3.SQLITE_BUSY), Unavailable, "held by another process"),
        (_sqlite_error(sqlite3.SQLITE_CORRUPT), Unavailable, "is damaged"),
        (_sqlite_error(sqlite3.SQLITE_TOOBIG), InvalidInput, "larger than"),
        (_sqlite_error(sqlite3.SQLITE_CONSTRAINT_UNIQUE), AlreadyExists, "stored already"),
        (_sqlite_error(sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY), AlreadyExists, "stored already"),
        (_sqlite_error(sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY), NotFound, "does not exist"),
        (_PostgresError("23505"), AlreadyExists, "stored already"),
        (_PostgresError("23503"), NotFound, "does not exist"),
        (_PostgresError("53100"), Unavailable, "is full; nothing was changed"),
        (_PostgresError("53300"), Unavailable, "out of resources"),
        (_PostgresError("22021"), InvalidInput, "refused a value"),
        (_PostgresError("57P01"), Unavailable, "cannot be reached"),
        (_PostgresError("08006"), Unavailable, "cannot be reached"),
    ],
)
def test_a_drivers_error_says_what_to_do(original: Exception, expected: type[ResoluteError], words: str) -> None:
    with pytest.raises(expected, match=words) as caught, translated("the/place"):
        raise OperationalError("SELECT 1", {}, original)

    assert "the/place" in str(caught.value) or expected in (AlreadyExists, NotFound)


def test_the_error_of_sqlites_own_driver_says_the_same() -> None:
    with pytest.raises(Unavailable, match="the/place is held by another process"), translated("the/place"):
        raise _sqlite_error(sqlite3.SQLITE_BUSY)


@pytest.mark.parametrize("original", [_sqlite_error(sqlite3.SQLITE_ERROR), _PostgresError("42601")])
def test_our_own_mistakes_stay_as_they_are(original: Exception) -> None:
    with pytest.raises(DBAPIError), translated("the/place"):
        raise OperationalError("SELEKT 1", {}, original)


def test_too_many_readers_are_asked_to_try_again() -> None:
    with pytest.raises(Unavailable, match=r"the/place has no connection free.*Retry"), translated("the/place"):
        raise PoolTimeout


class TestWalSync:
    @pytest.fixture
    def sync(self, tmp_path: Path) -> WalSync:
        (tmp_path / "db-wal").write_bytes(b"log")
        return WalSync(tmp_path / "db")

    def test_a_commit_that_is_on_the_disk_need_not_wait_again(self, sync: WalSync, tmp_path: Path) -> None:
        first, second = sync.committed(), sync.committed()
        sync.wait(second)
        (tmp_path / "db-wal").unlink()  # another sync would fail

        sync.wait(first)

        sync.close()

    def test_a_log_that_was_made_anew_is_synced_itself(self, sync: WalSync, tmp_path: Path) -> None:
        sync.wait(sync.committed())
        (tmp_path / "db-wal").rename(tmp_path / "old")
        (tmp_path / "db-wal").write_bytes(b"new log")

        sync.wait(sync.committed())

        sync.close()

    def test_a_disk_that_refuses_is_reported_to_every_waiter_and_tried_again(
        self, sync: WalSync, tmp_path: Path
    ) -> None:
        (tmp_path / "db-wal").unlink()
        number = sync.committed()

        for _ in range(2):
            with pytest.raises(Unavailable, match="could not be written to the disk"):
                sync.wait(number)

        (tmp_path / "db-wal").write_bytes(b"log")
        sync.wait(number)
        sync.close()

    def test_all_threads_are_let_go(self, sync: WalSync) -> None:
        def commit() -> None:
            for _ in range(50):
                sync.wait(sync.committed())

        _run([commit] * 8)
        sync.close()


def _run(actions: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=action) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
