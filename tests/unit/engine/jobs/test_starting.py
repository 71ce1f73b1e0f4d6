"""Starts: one that is slow delays nobody, and one that fails is tried again later and later."""

import threading
from typing import Any

import pytest

from resolute.domain.allocation import Allocation, AllocationState
from resolute.domain.errors import Unavailable
from resolute.engine.experiments.changes import kill_experiment
from resolute.engine.jobs.starting import MOST_AT_ONCE, SideBySide, start_placed
from resolute.engine.jobs.waiting import LONGEST_DELAY_S, WaitingRoom
from resolute.engine.loop import tick

PATIENCE_S = 30.0


def allocation(name: str, world: Any, pool: str = "default") -> Allocation:
    return Allocation(
        id=name,
        task_id=name,
        job_id="j",
        state=AllocationState.ASSIGNED,
        changed_at=world.clock(),
        created_at=world.clock(),
        slots_needed=1,
        resource_pool=pool,
    )


def test_a_start_that_hangs_delays_no_other(world: Any) -> None:
    starter, hangs, done = SideBySide(), threading.Event(), threading.Event()

    slow = starter.run(allocation("slow", world), lambda: assert_true(hangs.wait(PATIENCE_S)))
    quick = starter.run(allocation("quick", world), done.set)

    assert (slow, quick) == (True, True)
    assert done.wait(PATIENCE_S)
    hangs.set()


def test_one_allocation_is_started_by_one_thread_at_a_time(world: Any) -> None:
    starter, hangs = SideBySide(), threading.Event()
    starter.run(allocation("a", world), lambda: assert_true(hangs.wait(PATIENCE_S)))

    again = starter.run(allocation("a", world), pytest.fail)

    assert not again
    hangs.set()


def test_a_pool_that_hangs_takes_only_so_many_threads_and_none_of_another_pool(world: Any) -> None:
    starter, hangs = SideBySide(), threading.Event()

    taken = [
        starter.run(allocation(f"a{n}", world), lambda: assert_true(hangs.wait(PATIENCE_S)))
        for n in range(MOST_AT_ONCE + 1)
    ]
    elsewhere = starter.run(allocation("b", world, "other"), hangs.set)

    assert taken == [True] * MOST_AT_ONCE + [False]
    assert elsewhere


def test_a_pass_side_by_side_starts_what_a_pass_in_turn_starts(world: Any) -> None:
    started = threading.Event()
    world.platform.bus.subscribe("engine", lambda: started.set() if world.runner.started else None)
    experiment = world.create()

    assert tick(world.platform, since=world.started_at, starter=SideBySide()).is_busy

    assert started.wait(PATIENCE_S)
    assert world.states(world.trials(experiment.id)[0]) == [AllocationState.RUNNING]


def test_a_thread_that_comes_late_starts_nothing_twice(world: Any) -> None:
    class Late:
        def __init__(self) -> None:
            self.kept: list[Any] = []

        def run(self, allocation: Allocation, work: Any) -> bool:
            self.kept.append(work)
            return True

    world.runner.completes_instantly = True
    late = Late()
    world.create()
    tick(world.platform, since=world.started_at, starter=late)
    with world.platform.store.read() as tx:
        start_placed(world.platform, tx.allocations.live(), late)

    late.kept[0]()
    world.tick()
    late.kept[1]()

    assert len(world.runner.forgotten) == 1
    assert len(world.runner.started) == 1


def test_a_start_that_fails_is_tried_again_later_each_time(world: Any) -> None:
    room = WaitingRoom()

    delays = [room.failed("a", "No.", now=world.clock()) for _ in range(9)]
    told = room.delayed({"a"}, now=world.clock())
    room.started("a")

    assert delays[:4] == [1, 2, 4, 8]
    assert delays[-1] == LONGEST_DELAY_S
    assert told["a"].note == "No."
    assert room.delayed({"a"}, now=world.clock()) == {}


def test_slots_that_cannot_be_used_now_go_to_the_next_in_line(world: Any) -> None:
    first = world.create()
    world.runner.start_failures[f"{world.trials(first.id)[0].task_id}.1"] = Unavailable("The disk is full.")
    world.tick()
    others = [world.create() for _ in range(2)]

    world.tick()

    assert {world.states(world.trials(other.id)[0])[0] for other in others} == {AllocationState.RUNNING}
    assert world.states(world.trials(first.id)[0]) == [AllocationState.QUEUED]


def test_who_was_killed_while_it_could_not_start_is_not_tried_again(world: Any) -> None:
    experiment = world.create()
    (trial,) = world.trials(experiment.id)

    def fail_and_kill(gang: Any) -> str:
        kill_experiment(world.platform, experiment.id)
        raise Unavailable("The disk is full.")

    world.runner.start = fail_and_kill
    world.tick()

    assert world.states(trial) == [AllocationState.TERMINATED]
    assert world.experiment(experiment.id).is_finished


def assert_true(value: bool) -> None:
    assert value
