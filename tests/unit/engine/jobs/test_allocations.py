"""What a task's processes ask about their allocation, and what they may say about it."""

from dataclasses import replace
from typing import Any

import pytest

from resolute.domain.allocation import AllocationState
from resolute.domain.errors import Fenced, InvalidInput, NotFound
from resolute.engine.experiments.changes import kill_experiment, pause_experiment
from resolute.engine.jobs.allocations import (
    ack_preemption,
    mark_ready,
    pending_preemption,
    set_proxy_address,
    should_preempt,
)
from resolute.engine.jobs.fencing import allocation_token, check_run, hash_token, secret_of


@pytest.fixture
def trial(world: Any) -> Any:
    experiment = world.create()
    world.tick()
    return world.trials(experiment.id)[0]


def stored(world: Any, trial: Any) -> Any:
    with world.platform.store.read() as tx:
        return tx.allocations.of_task(trial.task_id)[-1]


# ------------------------------------------------------------------------------------------------------------- leaving


def test_asking_is_answered_and_remembered(world: Any, trial: Any) -> None:
    allocation = world.allocation(trial)

    before = should_preempt(world.platform, allocation)
    pause_experiment(world.platform, trial.experiment_id)

    assert (before, should_preempt(world.platform, allocation)) == (False, True)
    assert world.platform.listeners[allocation] == world.clock()


def test_one_that_asks_is_given_its_time_and_one_that_does_not_is_told_by_signal(world: Any) -> None:
    experiments = [world.create() for _ in range(2)]
    world.tick()
    listening, deaf = (world.trials(each.id)[0] for each in experiments)
    should_preempt(world.platform, world.allocation(listening))

    for each in experiments:
        pause_experiment(world.platform, each.id)
    world.clock.forward(3)
    world.tick()

    assert world.runner.stopped == [(world.allocation(deaf), False)]


def test_what_an_engine_is_about_to_take_is_asked_to_leave(world: Any, trial: Any) -> None:
    pending_preemption(world.platform, world.allocation(trial))

    assert should_preempt(world.platform, world.allocation(trial))


def test_who_heard_and_left_goes_back_to_the_queue(world: Any, trial: Any) -> None:
    pending_preemption(world.platform, world.allocation(trial))

    ack_preemption(world.platform, world.allocation(trial))
    world.finish(trial, 0)

    assert world.states(trial) == [AllocationState.TERMINATED, AllocationState.RUNNING]
    assert world.trial(trial.id).restarts == 0


def test_listening_is_forgotten_with_the_run(world: Any, trial: Any) -> None:
    allocation = world.allocation(trial)
    should_preempt(world.platform, allocation)

    world.finish(trial)

    assert allocation not in world.platform.listeners


# -------------------------------------------------------------------------------------------------------- small words


def test_a_task_says_that_it_is_ready_and_where_it_listens(world: Any, trial: Any) -> None:
    mark_ready(world.platform, world.allocation(trial))
    set_proxy_address(world.platform, world.allocation(trial), "10.0.0.1:8080")

    assert (stored(world, trial).is_ready, stored(world, trial).proxy_address) == (True, "10.0.0.1:8080")


@pytest.mark.parametrize("address", ["x" * 261, "a\nb", "\0"])
def test_what_can_be_no_address_is_refused(world: Any, trial: Any, address: str) -> None:
    with pytest.raises(InvalidInput, match=r"is not an address\. Send a host, or host:port"):
        set_proxy_address(world.platform, world.allocation(trial), address)

    assert stored(world, trial).proxy_address == ""


@pytest.mark.parametrize("ask", [should_preempt, ack_preemption, pending_preemption, mark_ready])
def test_an_allocation_that_is_not_there_is_not_found(world: Any, ask: Any) -> None:
    with pytest.raises(NotFound, match="allocation not found: nope"):
        ask(world.platform, "nope")


def test_asking_for_one_that_is_over_still_says_whether_it_should_have_left(world: Any, trial: Any) -> None:
    allocation = world.allocation(trial)
    kill_experiment(world.platform, trial.experiment_id)
    world.tick(2)

    assert stored(world, trial).state is AllocationState.TERMINATED
    assert should_preempt(world.platform, allocation) is False


# -------------------------------------------------------------------------------------------------------------- fences


def test_a_token_is_the_same_whenever_it_is_derived_and_another_for_each_allocation(world: Any) -> None:
    with world.platform.store.read() as tx:
        secret = secret_of(tx)

    assert allocation_token(secret, "a.1") == allocation_token(secret, "a.1")
    assert len({allocation_token(secret, each) for each in ("a.1", "a.2", "b.1")}) == 3
    assert allocation_token("other", "a.1") != allocation_token(secret, "a.1")


def test_a_running_allocation_is_found_by_its_token_and_never_by_what_is_stored(world: Any, trial: Any) -> None:
    with world.platform.store.read() as tx:
        token = allocation_token(secret_of(tx), world.allocation(trial))
        known = tx.allocations.by_token_hash(hash_token(token))
        assert known is not None
        assert known.id == world.allocation(trial)
        assert tx.allocations.by_token_hash(token) is None


@pytest.mark.parametrize(("stored_run", "told_run"), [(2, 1), (2, 3), (1, 0)])
def test_any_run_but_the_current_one_is_fenced_off(world: Any, trial: Any, stored_run: int, told_run: int) -> None:
    with pytest.raises(Fenced, match=f"is in run {stored_run}; this report is from run {told_run}.*Stop this process"):
        check_run(replace(trial, run_id=stored_run), told_run)


def test_a_trial_that_others_run_has_no_fence(world: Any, trial: Any) -> None:
    check_run(replace(trial, unmanaged=True, run_id=2), 1)
