"""What is asked of every runner, whatever it runs gangs on."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import pytest

from resolute.engine.ports.runner import Forgets, Gang, Runner
from resolute.runners.contract.patience import ended


class RunnerUnderTest(Protocol):
    """A runner without gangs, and gangs that it can run on one node. The name of a gang is its allocation id."""

    runner: Runner

    def ending(self, name: str, exit_code: int) -> Gang:
        """One that ends by itself."""

    def endless(self, name: str) -> Gang:
        """One that ends when it is told to."""

    def reopened(self) -> Runner:
        """The runner as the next master finds it."""

    def started_count(self) -> int:
        """How often an entrypoint was started, in any gang."""


class RunnerContract:
    @pytest.fixture
    def subject(self, tmp_path: Path) -> RunnerUnderTest:
        raise NotImplementedError("Give the class a fixture `subject` of its own.")

    @pytest.mark.parametrize("exit_code", [0, 3])
    def test_a_gang_ends_with_the_exit_code_of_its_entrypoint(self, subject: RunnerUnderTest, exit_code: int) -> None:
        gang = subject.ending("a.1", exit_code)

        handle = subject.runner.start(gang)

        assert ended(subject.runner, handle).exit_code == exit_code
        assert subject.runner.running() == []

    def test_starting_an_allocation_again_starts_nothing(self, subject: RunnerUnderTest) -> None:
        gang = subject.ending("a.1", 0)

        handles = [subject.runner.start(gang) for _ in range(3)]
        ended(subject.runner, handles[0])
        handles.append(subject.runner.start(gang))

        assert set(handles) == {handles[0]}
        assert subject.started_count() == 1

    def test_an_allocation_that_the_last_master_started_is_not_started_again(self, subject: RunnerUnderTest) -> None:
        gang = subject.ending("a.1", 0)
        handle = subject.runner.start(gang)
        subject.runner.close(stop_gangs=False)
        successor = subject.reopened()

        again = successor.start(gang)

        assert again == handle
        assert ended(successor, handle).exit_code == 0
        assert subject.started_count() == 1

    def test_a_running_gang_has_no_exit_code_and_is_listed(self, subject: RunnerUnderTest) -> None:
        handle = subject.runner.start(subject.endless("a.1"))

        status = subject.runner.poll([handle])[handle]

        assert (status.exit_code, status.is_lost) == (None, False)
        assert subject.runner.running() == [handle]

    @pytest.mark.parametrize(("force", "exit_code"), [(False, 143), (True, 137)])
    def test_a_stopped_gang_ends_by_the_signal_it_was_sent(
        self, subject: RunnerUnderTest, force: bool, exit_code: int
    ) -> None:
        handle = subject.runner.start(subject.endless("a.1"))

        subject.runner.stop(handle, force=force)

        assert ended(subject.runner, handle).exit_code == exit_code

    def test_stopping_what_is_unknown_or_over_is_ignored(self, subject: RunnerUnderTest) -> None:
        handle = subject.runner.start(subject.ending("a.1", 0))
        ended(subject.runner, handle)

        subject.runner.stop(handle, force=True)
        subject.runner.stop("never-started", force=False)

        assert subject.runner.poll([handle])[handle].exit_code == 0

    def test_a_gang_nobody_knows_is_lost(self, subject: RunnerUnderTest) -> None:
        status = subject.runner.poll(["never-started"])["never-started"]

        assert status.is_lost
        assert status.exit_code is None
        assert status.reason

    def test_gangs_outlive_a_runner_that_lets_go(self, subject: RunnerUnderTest) -> None:
        handle = subject.runner.start(subject.endless("a.1"))

        subject.runner.close(stop_gangs=False)
        successor = subject.reopened()

        assert successor.running() == [handle]
        successor.stop(handle, force=True)
        assert ended(successor, handle).exit_code == 137

    def test_closing_may_take_the_gangs_along(self, subject: RunnerUnderTest) -> None:
        handles = [subject.runner.start(subject.endless(name)) for name in ("a.1", "b.1")]

        subject.runner.close(stop_gangs=True)

        statuses = subject.reopened().poll(handles)
        assert {status.exit_code for status in statuses.values()} == {137}

    def test_rendering_shows_what_would_run_without_secrets_and_starts_nothing(self, subject: RunnerUnderTest) -> None:
        gang = subject.endless("a.1")
        gang = replace(gang, env={**gang.env, "DET_SESSION_TOKEN": "v2.secret", "EPOCHS": "3"})

        rendered = json.dumps(subject.runner.render(gang))

        assert json.loads(rendered) == subject.runner.render(gang)
        assert "EPOCHS" in rendered
        assert "v2.secret" not in rendered
        assert subject.runner.running() == []

    def test_nodes_have_names_and_slots_numbered_from_0(self, subject: RunnerUnderTest) -> None:
        nodes = subject.runner.nodes()

        assert len({node.id for node in nodes}) == len(nodes)
        assert all(node.id for node in nodes)
        assert all([slot.id for slot in node.slots] == list(range(len(node.slots))) for node in nodes)

    def test_every_node_is_in_a_pool_that_the_runner_declares(self, subject: RunnerUnderTest) -> None:
        pools = [pool.name for pool in subject.runner.pools()]

        assert len(set(pools)) == len(pools) > 0
        assert {node.resource_pool for node in subject.runner.nodes()} <= set(pools)

    def test_what_is_forgotten_is_over_first_and_lost_afterwards(self, subject: RunnerUnderTest) -> None:
        runner = subject.runner
        if not isinstance(runner, Forgets):
            pytest.skip("this runner keeps nothing that could be given back")
        handle = runner.start(subject.endless("a.1"))

        runner.forget(handle)
        is_running = handle in runner.running()
        runner.stop(handle, force=True)
        ended(runner, handle)
        runner.forget(handle)

        assert is_running
        assert ended(subject.reopened(), handle).is_lost
