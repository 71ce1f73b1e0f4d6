"""What every runner promises, asked of all of them."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import pytest

from resolute.domain.allocation import NodeShare
from resolute.engine.ports.runner import Gang, GangStatus, NodePart, Runner
from resolute.runners.fake import FakeRunner
from resolute.runners.local import LocalRunner

ENDLESS = "sleep 600"


class RunnerUnderTest(Protocol):
    runner: Runner

    def ending(self, name: str, exit_code: int) -> Gang:
        """A gang that ends by itself."""

    def endless(self, name: str) -> Gang:
        """A gang that ends when it is told to."""

    def reopened(self) -> Runner:
        """The runner as the next master finds it."""

    def started_count(self) -> int: ...


class Fake:
    def __init__(self) -> None:
        self.runner = FakeRunner(2)

    def ending(self, name: str, exit_code: int) -> Gang:
        self.runner.exit_codes[name] = exit_code
        return _gang(name, f"exit {exit_code}", "")

    def endless(self, name: str) -> Gang:
        return _gang(name, ENDLESS, "")

    def reopened(self) -> FakeRunner:
        return self.runner

    def started_count(self) -> int:
        return len(self.runner.started)


class Local:
    def __init__(self, home: Path) -> None:
        self.home = home
        self.runner = self.reopened()

    def ending(self, name: str, exit_code: int) -> Gang:
        return _gang(name, f"echo started; exit {exit_code}", str(self.home / "log"))

    def endless(self, name: str) -> Gang:
        return _gang(name, f"echo started; {ENDLESS}", str(self.home / "log"))

    def reopened(self) -> LocalRunner:
        return LocalRunner(home=self.home, slots=2, node_id="here", warm=False)

    def started_count(self) -> int:
        return (self.home / "log").read_text().count("started")


@pytest.fixture(params=["fake", "local"])
def subject(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RunnerUnderTest]:
    subject: RunnerUnderTest = Fake() if request.param == "fake" else Local(tmp_path)
    yield subject
    subject.runner.close(stop_gangs=True)


@pytest.fixture
def end(bench: "object") -> Callable[[Runner, str], GangStatus]:
    return bench.end  # type: ignore[attr-defined, no-any-return]


End = Callable[[Runner, str], GangStatus]


@pytest.mark.parametrize("exit_code", [0, 3])
def test_a_gang_ends_with_the_exit_code_of_its_entrypoint(subject: RunnerUnderTest, end: End, exit_code: int) -> None:
    gang = subject.ending("a.1", exit_code)

    handle = subject.runner.start(gang)

    assert end(subject.runner, handle).exit_code == exit_code
    assert subject.runner.running() == []


def test_starting_an_allocation_again_starts_nothing(subject: RunnerUnderTest, end: End) -> None:
    gang = subject.ending("a.1", 0)

    handles = [subject.runner.start(gang) for _ in range(3)]
    end(subject.runner, handles[0])
    handles.append(subject.runner.start(gang))

    assert set(handles) == {handles[0]}
    assert subject.started_count() == 1


def test_a_running_gang_has_no_exit_code_and_is_listed(subject: RunnerUnderTest) -> None:
    handle = subject.runner.start(subject.endless("a.1"))

    status = subject.runner.poll([handle])[handle]

    assert (status.exit_code, status.is_lost) == (None, False)
    assert subject.runner.running() == [handle]


@pytest.mark.parametrize(("force", "exit_code"), [(False, 143), (True, 137)])
def test_a_stopped_gang_ends_by_the_signal_it_was_sent(
    subject: RunnerUnderTest, end: End, force: bool, exit_code: int
) -> None:
    handle = subject.runner.start(subject.endless("a.1"))

    subject.runner.stop(handle, force=force)

    assert end(subject.runner, handle).exit_code == exit_code


def test_stopping_what_is_unknown_or_over_is_ignored(subject: RunnerUnderTest, end: End) -> None:
    handle = subject.runner.start(subject.ending("a.1", 0))
    end(subject.runner, handle)

    subject.runner.stop(handle, force=True)
    subject.runner.stop("never-started", force=False)

    assert subject.runner.poll([handle])[handle].exit_code == 0


def test_a_gang_nobody_knows_is_lost(subject: RunnerUnderTest) -> None:
    status = subject.runner.poll(["never-started"])["never-started"]

    assert status.is_lost
    assert status.exit_code is None
    assert status.reason


def test_gangs_outlive_a_runner_that_lets_go(subject: RunnerUnderTest, end: End) -> None:
    handle = subject.runner.start(subject.endless("a.1"))

    subject.runner.close(stop_gangs=False)
    successor = subject.reopened()

    assert successor.running() == [handle]
    successor.stop(handle, force=True)
    assert end(successor, handle).exit_code == 137


def test_closing_may_take_the_gangs_along(subject: RunnerUnderTest) -> None:
    handles = [subject.runner.start(subject.endless(name)) for name in ("a.1", "b.1")]

    subject.runner.close(stop_gangs=True)

    statuses = subject.reopened().poll(handles)
    assert {status.exit_code for status in statuses.values()} == {137}


def test_rendering_shows_what_would_run_without_secrets_and_starts_nothing(subject: RunnerUnderTest) -> None:
    gang = replace(subject.endless("a.1"), env={"DET_SESSION_TOKEN": "v2.secret", "EPOCHS": "3"})

    rendered = subject.runner.render(gang)

    assert json.loads(json.dumps(rendered)) == rendered == subject.runner.render(gang)
    assert rendered["env"]["EPOCHS"] == "3"
    assert "v2.secret" not in json.dumps(rendered)
    assert subject.runner.running() == []


def test_nodes_have_names_and_numbered_slots(subject: RunnerUnderTest) -> None:
    nodes = subject.runner.nodes()

    assert [slot.id for node in nodes for slot in node.slots] == [0, 1]
    assert all(node.id for node in nodes)


def _gang(name: str, entrypoint: str, log_path: str) -> Gang:
    return Gang(
        allocation_id=name,
        task_id=name,
        run_id=1,
        nodes=(NodePart(share=NodeShare("here", (0,))),),
        entrypoint=entrypoint,
        env={},
        log_path=log_path,
    )
