"""A database has one owner: others are refused by name, and one that was replaced writes nothing more."""

import psycopg
import pytest

from resolute.domain.errors import Unavailable
from resolute.store.db import open_store
from resolute.store.db.ownership import Owner

FIRST = Owner(host="one", pid=11, since="2026-01-01T00:00:00+00:00")
SECOND = Owner(host="two", pid=22, since="2026-01-02T00:00:00+00:00")


def test_a_second_owner_is_refused_with_the_name_of_the_first(empty_database: str) -> None:
    first = open_store(empty_database, owner=FIRST)

    with pytest.raises(Unavailable, match=r"has a master already .process 11 on one, since 2026-01-01"):
        open_store(empty_database, owner=SECOND, wait_s=0)

    first.close()


def test_the_next_owner_starts_when_the_first_has_closed(empty_database: str) -> None:
    open_store(empty_database, owner=FIRST).close()

    second = open_store(empty_database, owner=SECOND)

    with second.write() as transaction:
        transaction.settings.put("a", 1)
        assert transaction.settings.get("master")["host"] == "two"
    second.close()


@pytest.fixture
def postgres(postgres_schema: str) -> str:
    return postgres_schema


def _cut_lock_connections(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' "
            "AND classid = 7364856 AND pid <> pg_backend_pid()"
        )


def test_an_owner_that_was_replaced_after_losing_its_lock_writes_nothing(postgres: str) -> None:
    first = open_store(postgres, owner=FIRST)
    _cut_lock_connections(postgres)
    second = open_store(postgres, owner=SECOND)

    with pytest.raises(Unavailable, match="Another master has taken over"), first.write() as transaction:
        transaction.settings.put("whose", "first")
    with second.write() as transaction:
        whose = transaction.settings.get("whose")

    database = first._database
    assert whose is None
    assert "taken over" in (database.ownership.look(database.reader) or "")
    first.close()
    second.close()


def test_a_lost_lock_is_taken_again_while_nobody_else_has(postgres: str) -> None:
    first = open_store(postgres, owner=FIRST)
    _cut_lock_connections(postgres)

    database = first._database
    told = database.ownership.look(database.reader)

    assert told is None
    with first.write() as transaction:
        transaction.settings.put("a", 2)
    with pytest.raises(Unavailable, match="has a master already"):
        open_store(postgres, owner=SECOND, wait_s=0)
    first.close()
