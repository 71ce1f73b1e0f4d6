"""A pool whose engine places: the master hands work over, hears where it went, and can take it back."""

from typing import Any

import pytest

from resolute.domain.allocation import Allocation, AllocationState, NodeShare
from resolute.domain.errors import Unavailable
from resolute.domain.experiment import ExperimentState
from resolute.domain.gang import Phase
from resolute.domain.node import DeviceType, Pool
from resolute.domain.trial import Trial, TrialState
from resolute.engine.experiments.changes import activate_experiment, kill_experiment, pause_experiment
from resolute.engine.jobs.queue import JobUpdate, list_jobs, update_jobs
from resolute.engine.loop import prepare

CONFIG = """
name: far away
entrypoint: python3 train.py
searcher: {name: single, metric: loss, max_length: {batches: 10}}
resources: {resource_pool: slurm, slots_per_trial: 64, max_slots: %s}
max_restarts: 0
"""
SHARES = (NodeShare("gpu-7", (0, 1)), NodeShare("gpu-9", (0, 1)))


@pytest.fixture
def far(world: Any) -> Any:
    world.runner.set_pools([Pool("default"), Pool("slurm", DeviceType.CUDA, is_delegating=True)])
    return world


def submit(world: Any, max_slots: str = "null") -> Trial:
    experiment = world.create(CONFIG % max_slots)
    world.tick()
    trial: Trial = world.trials(experiment.id)[0]
    return trial


def stored(world: Any, trial: Trial) -> Allocation:
    with world.platform.store.read() as tx:
        found: Allocation = tx.allocations.of_task(trial.task_id)[-1]
    return found


def place(world: Any, trial: Trial) -> None:
    world.runner.place(world.allocation(trial), SHARES, ("10.0.0.7", "10.0.0.9"))
    world.tick()


def why(world: Any) -> str:
    waiting = list_jobs(world.platform)[0].waiting
    return waiting.sentence if waiting else ""


def test_work_for_it_is_handed_over_without_nodes_and_however_large(far: Any) -> None:
    trial = submit(far)

    allocation = stored(far, trial)
    gang = far.runner.gang(allocation.id)
    assert (allocation.state, allocation.shares) == (AllocationState.SUBMITTED, ())
    assert allocation.handle == allocation.id
    assert (gang.nodes, gang.slots, gang.resource_pool) == ((), 64, "slurm")
    assert "is with the engine of pool slurm" in far.log(trial)


def test_while_its_engine_has_no_room_that_is_what_it_waits_for_in_the_engines_words(far: Any) -> None:
    trial = submit(far)
    far.tick()
    before = why(far)

    far.runner.enter(far.allocation(trial), Phase.PENDING, "Resources.")
    far.tick()

    assert before == "Handed to the engine of pool slurm, which has not found room for it yet."
    assert why(far) == "Handed to the engine of pool slurm, which has not found room for it yet: Resources."


def test_where_its_engine_put_it_is_recorded_with_addresses(far: Any) -> None:
    trial = submit(far)

    place(far, trial)

    allocation = stored(far, trial)
    assert allocation.state is AllocationState.RUNNING
    assert [(s.node_id, s.slot_ids, s.address) for s in allocation.shares] == [
        ("gpu-7", (0, 1), "10.0.0.7"),
        ("gpu-9", (0, 1), "10.0.0.9"),
    ]
    assert allocation.start_time == far.clock()
    assert "Run 1 started on gpu-7 slots [0, 1], gpu-9 slots [0, 1]." in far.log(trial)
    assert why(far) == ""


def test_a_run_too_short_to_be_seen_running_ends_like_any_other(far: Any) -> None:
    trial = submit(far)

    far.runner.finish(far.allocation(trial), 0)
    far.tick()

    assert far.trial(trial.id).state is TrialState.COMPLETED


def test_it_is_given_no_more_than_the_quota_of_a_job(far: Any) -> None:
    experiment = far.create(
        (CONFIG % 64).replace("{name: single, metric: loss, max_length: {batches: 10}}", SEARCH) + SPACE
    )
    far.tick(2)

    states = [far.states(trial)[-1] for trial in far.trials(experiment.id)]
    assert sorted(states) == [AllocationState.QUEUED, AllocationState.SUBMITTED]
    assert len(far.runner.started) == 1


SEARCH = "{name: random, metric: loss, max_trials: 2, max_concurrent_trials: 2, max_length: {batches: 10}}"
SPACE = "hyperparameters: {x: {type: double, minval: 0.0, maxval: 1.0}}\n"


def test_what_was_never_placed_is_taken_back_when_it_is_killed(far: Any) -> None:
    trial = submit(far)

    kill_experiment(far.platform, trial.experiment_id)
    far.tick(2)

    assert far.runner.stopped == [(far.allocation(trial), True)]
    assert far.experiment(trial.experiment_id).state is ExperimentState.CANCELED
    assert far.states(trial) == [AllocationState.TERMINATED]


def test_what_was_never_placed_is_taken_back_when_it_is_paused_and_handed_over_anew(far: Any) -> None:
    trial = submit(far)

    pause_experiment(far.platform, trial.experiment_id)
    far.tick(2)
    stopped = list(far.runner.stopped)
    activate_experiment(far.platform, trial.experiment_id)
    far.tick(2)

    assert stopped == [(f"{trial.task_id}.1", False)]
    assert far.states(trial) == [AllocationState.TERMINATED, AllocationState.SUBMITTED]


def test_a_job_moved_to_another_pool_is_taken_back_first(far: Any) -> None:
    trial = submit(far)
    job_id = far.experiment(trial.experiment_id).job_id

    update_jobs(far.platform, [JobUpdate(job_id=job_id, resource_pool="default")])
    far.tick(2)

    assert far.states(trial) == [AllocationState.TERMINATED, AllocationState.QUEUED]
    assert stored(far, trial).resource_pool == "default"


def test_what_its_engine_lost_is_handed_over_again(far: Any) -> None:
    trial = submit(far)

    far.runner.lose(far.allocation(trial))
    far.tick(2)

    assert far.states(trial) == [AllocationState.TERMINATED, AllocationState.SUBMITTED]


def test_a_master_that_restarts_goes_on_with_what_is_with_the_engine(far: Any) -> None:
    trial = submit(far)

    prepare(far.platform)
    far.tick(2)
    place(far, trial)

    assert len(far.runner.started) == 1
    assert far.states(trial) == [AllocationState.RUNNING]


def test_a_master_that_died_while_handing_over_does_it_again(far: Any) -> None:
    far.runner.start_failures["*"] = RuntimeError("killed here")
    experiment = far.create(CONFIG % "null")
    with pytest.raises(RuntimeError):
        far.tick()
    (trial,) = far.trials(experiment.id)
    half_way = stored(far, trial)

    prepare(far.platform)
    far.tick()

    assert (half_way.state, half_way.handle) == (AllocationState.SUBMITTED, None)
    assert stored(far, trial).handle == far.allocation(trial)


def test_an_engine_that_cannot_be_reached_is_asked_again_later(far: Any) -> None:
    far.runner.start_failures["*"] = Unavailable("The controller does not answer.")
    trial = submit(far)
    far.tick()
    waiting = why(far)

    far.clock.forward(1)
    far.tick()

    assert waiting == "Could not be started, and is tried again: The controller does not answer."
    assert far.states(trial) == [AllocationState.SUBMITTED]
