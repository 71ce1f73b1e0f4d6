"""`engine.ports.database.Store`: what a transaction promises, on every database."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy.exc import DBAPIError

from resolute.domain.errors import ResoluteError
from resolute.domain.experiment import Experiment, ExperimentState
from resolute.engine.ports.database import Store, Transaction
from resolute.store.db import DatabaseStore, open_store


class TestTransactions:
    def test_what_was_written_is_there_once_the_block_has_ended(self, store: Store) -> None:
        with store.write() as transaction:
            transaction.settings.put("answer", 42)

        with store.read() as transaction:
            assert transaction.settings.get("answer") == 42

    def test_an_error_inside_the_block_undoes_all_of_it(self, store: Store) -> None:
        with pytest.raises(ValueError, match="stop"):
            _write_and_fail(store, lambda transaction: transaction.settings.put("answer", 42))

        with store.read() as transaction:
            assert transaction.settings.get("answer") is None

    def test_a_transaction_sees_its_own_writes(self, store: Store) -> None:
        with store.write() as transaction:
            transaction.settings.put("answer", 1)

            assert transaction.settings.get("answer") == 1

    def test_a_reader_keeps_its_snapshot_while_others_write(self, store: Store) -> None:
        with store.write() as transaction:
            transaction.settings.put("answer", 1)

        with store.read() as reader:
            before = reader.settings.get("answer")
            _in_thread(lambda: _put(store, "answer", 2))
            after = reader.settings.get("answer")

        assert (before, after) == (1, 1)

    def test_a_reader_does_not_wait_for_an_open_writer(self, store: Store) -> None:
        seen: list[object] = []

        with store.write() as transaction:
            transaction.settings.put("answer", 1)
            _in_thread(lambda: seen.append(_get(store, "answer")))

        assert seen == [None]

    def test_writing_in_a_reader_is_refused(self, store: Store) -> None:
        with pytest.raises((DBAPIError, ResoluteError)), store.read() as transaction:
            transaction.settings.put("answer", 1)

    def test_a_write_inside_a_write_is_refused_rather_than_hanging(self, store: Store) -> None:
        with store.write(), pytest.raises(RuntimeError, match="one transaction cannot hold another"), store.write():
            pass

    def test_writers_of_many_threads_lose_no_update(self, store: Store) -> None:
        _put(store, "count", 0)

        def add_ten() -> None:
            for _ in range(10):
                with store.write() as transaction:
                    transaction.settings.put("count", transaction.settings.get("count") + 1)

        _in_thread(*[add_ten] * 4)

        assert _get(store, "count") == 40

    def test_closing_waits_for_the_transaction_that_is_open(self, empty_database: str) -> None:
        store = open_store(empty_database)
        is_open, may_end = threading.Event(), threading.Event()

        def write() -> None:
            with store.write() as transaction:
                is_open.set()
                may_end.wait(30)
                transaction.settings.put("answer", 42)

        writer, closer = threading.Thread(target=write), threading.Thread(target=store.close)
        writer.start()
        is_open.wait(30)
        closer.start()
        may_end.set()
        writer.join(30)
        closer.join(30)

        again = open_store(empty_database)
        assert _get(again, "answer") == 42
        again.close()


class TestAfterCommit:
    def test_actions_run_once_after_the_commit_in_order(self, store: Store) -> None:
        seen: list[object] = []

        with store.write() as transaction:
            transaction.settings.put("answer", 1)
            transaction.after_commit(lambda: seen.append(_get(store, "answer")))
            transaction.after_commit(lambda: seen.append("second"))
            assert seen == []

        assert seen == [1, "second"]

    def test_actions_of_a_rolled_back_transaction_never_run(self, store: Store) -> None:
        seen: list[str] = []

        with pytest.raises(ValueError, match="stop"):
            _write_and_fail(store, lambda transaction: transaction.after_commit(lambda: seen.append("ran")))

        assert seen == []

    def test_a_failing_action_does_not_stop_the_others(self, store: Store, caplog: pytest.LogCaptureFixture) -> None:
        seen: list[str] = []

        with store.write() as transaction:
            transaction.after_commit(lambda: [][1])
            transaction.after_commit(lambda: seen.append("ran"))

        assert seen == ["ran"]
        assert "an action after a commit failed" in caplog.text

    def test_an_action_may_write_again(self, store: Store) -> None:
        with store.write() as transaction:
            transaction.after_commit(lambda: _put(store, "answer", 7))

        assert _get(store, "answer") == 7


class TestFirstOpen:
    def test_a_fresh_store_has_the_users_and_the_home_that_everybody_starts_with(self, store: Store) -> None:
        with store.read() as transaction:
            users = transaction.users.all()
            workspace, project = transaction.workspaces.get(1), transaction.workspaces.project(1)

        assert [(user.id, user.username, user.is_admin) for user in users] == [
            (1, "admin", True),
            (2, "determined", False),
        ]
        assert {user.password_hash for user in users} == {""}
        assert (workspace.name, workspace.is_immutable) == ("Uncategorized", True)
        assert (project.name, project.is_immutable, project.workspace_id) == ("Uncategorized", True, 1)

    def test_opening_again_keeps_the_cluster_id_and_everything_else(self, empty_database: str) -> None:
        first = open_store(empty_database)
        cluster_id = _get(first, "cluster_id")
        _put(first, "answer", 42)
        first.close()

        again = open_store(empty_database)

        assert cluster_id is not None
        assert (_get(again, "cluster_id"), _get(again, "answer")) == (cluster_id, 42)
        again.close()

    def test_times_come_back_to_the_microsecond(
        self, store: DatabaseStore, new_experiment: Callable[..., Experiment]
    ) -> None:
        moment = datetime(1999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC) + timedelta(days=9999)

        with store.write() as transaction:
            stored = transaction.experiments.add(
                new_experiment(start_time=moment, state=ExperimentState.PAUSED), searcher_snapshot=None
            )

        with store.read() as transaction:
            assert transaction.experiments.get(stored.id).start_time == moment


def _write_and_fail(store: Store, change: Callable[[Transaction], None]) -> None:
    with store.write() as transaction:
        change(transaction)
        raise ValueError("stop")


def _put(store: Store, key: str, value: object) -> None:
    with store.write() as transaction:
        transaction.settings.put(key, value)


def _get(store: Store, key: str) -> object:
    with store.read() as transaction:
        return transaction.settings.get(key)


def _in_thread(*actions: Callable[[], object]) -> None:
    threads = [threading.Thread(target=action) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
