"""The fake runner's script: what tests of the engine can make happen."""

import pytest

from resolute.domain.allocation import NodeShare
from resolute.domain.errors import Unavailable
from resolute.domain.node import Node, Slot
from resolute.engine.ports.runner import Gang, NodePart
from resolute.runners.fake import FakeRunner


def gang(name: str = "a.1") -> Gang:
    return Gang(
        allocation_id=name,
        task_id="a",
        run_id=1,
        nodes=(NodePart(share=NodeShare("fake", (0,))),),
        entrypoint="x",
        env={},
    )


def test_gangs_run_until_the_script_says_otherwise() -> None:
    runner = FakeRunner()
    handle = runner.start(gang())

    before = runner.poll([handle])[handle]
    runner.finish(handle, 7, "went wrong")

    assert before.exit_code is None
    assert (runner.poll([handle])[handle].exit_code, runner.poll([handle])[handle].reason) == (7, "went wrong")


def test_gangs_may_complete_instantly_or_with_scripted_codes() -> None:
    runner = FakeRunner(completes_instantly=True, exit_codes={"b.1": 3})

    handles = [runner.start(gang(name)) for name in ("a.1", "b.1")]

    assert {handle: status.exit_code for handle, status in runner.poll(handles).items()} == {"a.1": 0, "b.1": 3}


def test_a_start_may_fail_once() -> None:
    runner = FakeRunner()
    runner.start_failures["*"] = Unavailable("busy")

    with pytest.raises(Unavailable):
        runner.start(gang())

    assert runner.start(gang()) == "a.1"
    assert [started.allocation_id for started in runner.started] == ["a.1"]
    assert runner.gang("a.1") == gang()


def test_a_gang_may_ignore_a_polite_stop() -> None:
    runner = FakeRunner(ignores_sigterm=True)
    handle = runner.start(gang())

    runner.stop(handle, force=False)
    still_running = runner.running()
    runner.stop(handle, force=True)

    assert still_running == [handle]
    assert runner.poll([handle])[handle].exit_code == 137
    assert runner.stopped == [(handle, False), (handle, True)]


def test_a_gang_may_be_lost() -> None:
    runner = FakeRunner()
    handle = runner.start(gang())

    runner.lose(handle)

    assert runner.poll([handle])[handle].is_lost
    assert runner.running() == []


def test_nodes_come_and_go() -> None:
    runner = FakeRunner([Node("one", (Slot(0),))])

    runner.set_nodes([Node("one", (Slot(0),)), Node("two", (Slot(0),))])

    assert [node.id for node in runner.nodes()] == ["one", "two"]


def test_an_ended_gang_can_be_forgotten() -> None:
    runner = FakeRunner(completes_instantly=True)
    handle = runner.start(gang())

    runner.forget(handle)

    assert runner.forgotten == [handle]
    assert runner.poll([handle])[handle].is_lost
