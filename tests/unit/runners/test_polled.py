"""A slow engine is asked by one thread, and nobody else waits for it."""

import threading
from collections.abc import Callable, Iterator, Sequence

import pytest

from resolute.domain.allocation import NodeShare
from resolute.domain.errors import Unavailable
from resolute.domain.gang import Phase
from resolute.domain.node import Pool
from resolute.engine.ports.runner import Gang, GangStatus, NodePart
from resolute.runners.contract import until
from resolute.runners.fake import FakeRunner
from resolute.runners.polled import PolledRunner

PATIENCE_S = 30.0


class Slow(FakeRunner):
    """Answers when it may, and not at all while it is away."""

    def __init__(self) -> None:
        super().__init__(2)
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.is_away = False

    def pools(self) -> list[Pool]:
        assert self.may_answer.wait(PATIENCE_S)
        if self.is_away:
            raise Unavailable("The controller does not answer.")
        return super().pools()

    def poll(self, handles: Sequence[str]) -> dict[str, GangStatus]:
        assert self.may_answer.wait(PATIENCE_S)
        return super().poll(handles)


@pytest.fixture
def slow() -> Slow:
    return Slow()


@pytest.fixture
def polled(slow: Slow) -> Iterator[PolledRunner]:
    runner = PolledRunner(slow, interval_s=0.01)
    yield runner
    slow.may_answer.set()
    runner.close(stop_gangs=False)


def gang(name: str) -> Gang:
    part = NodePart(share=NodeShare("fake", (0,)))
    return Gang(allocation_id=name, task_id=name, run_id=1, nodes=(part,), entrypoint="sleep 600", env={})


def known(polled: PolledRunner, handle: str, is_so: Callable[[GangStatus], bool]) -> None:
    until(lambda: handle in polled.poll([handle]) and is_so(polled.poll([handle])[handle]))


def test_nobody_waits_for_an_engine_that_takes_its_time(slow: Slow, polled: PolledRunner) -> None:
    slow.may_answer.clear()

    handle = polled.start(gang("a.1"))

    assert polled.poll([handle, "never-started"]) == {handle: GangStatus(phase=Phase.PENDING)}
    polled.stop(handle, force=True)
    assert isinstance(polled.pools(), list)
    assert isinstance(polled.nodes(), list)


def test_what_the_engine_said_last_is_the_answer(slow: Slow, polled: PolledRunner) -> None:
    handle = polled.start(gang("a.1"))
    known(polled, handle, lambda status: status.phase is Phase.RUNNING)

    slow.finish(handle, 7)

    known(polled, handle, lambda status: status.exit_code == 7)
    known(polled, "never-started", lambda status: status.is_lost)
    until(lambda: [pool.name for pool in polled.pools()] == ["default"])


def test_a_stop_is_carried_out_soon_and_again_when_it_failed(slow: Slow, polled: PolledRunner) -> None:
    handle = polled.start(gang("a.1"))
    carry_out, failures = slow.stop, [1, 2]

    def stop(handle: str, *, force: bool) -> None:
        if failures:
            failures.pop()
            raise Unavailable("The controller does not answer.")
        carry_out(handle, force=force)

    slow.stop = stop  # type: ignore[method-assign]
    polled.stop(handle, force=True)

    known(polled, handle, lambda status: status.exit_code == 137)
    assert slow.stopped == [(handle, True)]


def test_while_the_engine_is_away_what_was_known_stays_and_its_pools_say_so(slow: Slow, polled: PolledRunner) -> None:
    handle = polled.start(gang("a.1"))
    known(polled, handle, lambda status: status.phase is Phase.RUNNING)

    slow.is_away = True

    until(lambda: [pool.problem for pool in polled.pools()] == ["The controller does not answer."])
    assert polled.poll([handle])[handle].phase is Phase.RUNNING
    slow.is_away = False
    until(lambda: [pool.problem for pool in polled.pools()] == [""])


def test_a_change_is_told(slow: Slow, polled: PolledRunner) -> None:
    handle = polled.start(gang("a.1"))
    known(polled, handle, lambda status: status.phase is Phase.RUNNING)
    told = threading.Event()
    polled.watch(told.set)

    slow.finish(handle)

    assert told.wait(PATIENCE_S)


def test_what_is_forgotten_is_no_longer_asked_about(slow: Slow, polled: PolledRunner) -> None:
    handle = polled.start(gang("a.1"))
    polled.forget(handle)
    still_known = handle in polled.poll([handle])
    slow.finish(handle)
    known(polled, handle, lambda status: status.is_over)

    polled.forget(handle)

    assert still_known
    assert slow.forgotten == [handle]
