"""Searches over many trials, wired to the engine: creation, stopping, promotion, preemption, retention."""

import pytest

from resolute.domain.allocation import AllocationState
from resolute.domain.errors import InvalidInput
from resolute.domain.experiment import ExperimentState
from resolute.domain.retention import RetentionPolicy
from resolute.domain.trial import TrialState
from resolute.engine.experiments.changes import patch_experiment
from resolute.engine.experiments.collection import collect_pending, preview_gc
from resolute.engine.experiments.submission import continue_experiment
from resolute.engine.jobs.queue import JobUpdate, list_jobs, update_jobs
from resolute.engine.loop import tick

RANDOM = """
name: r
entrypoint: python3 train.py
hyperparameters: {lr: {type: double, minval: 0.1, maxval: 1.0}}
searcher: {name: random, metric: loss, max_trials: 5, max_concurrent_trials: 2}
"""
GRID = """
name: g
entrypoint: python3 train.py
hyperparameters: {lr: {type: categorical, vals: [0.1, 0.2]}}
searcher: {name: grid, metric: loss}
"""
ASHA = """
name: a
entrypoint: python3 train.py
hyperparameters: {lr: {type: double, minval: 0.1, maxval: 1.0}}
searcher:
  name: async_halving
  metric: loss
  max_trials: 4
  num_rungs: 2
  divisor: 2
  max_time: 8
  time_metric: epochs
  max_concurrent_trials: 2
"""


def run_to_the_end(world, experiment_id: int, *, limit: int = 200) -> None:
    world.runner.completes_instantly = True
    for _ in range(limit):
        if world.experiment(experiment_id).is_finished:
            return
        world.tick()
    raise AssertionError(f"experiment is still {world.experiment(experiment_id).state}")


def test_a_random_search_runs_all_its_trials_and_completes(world) -> None:
    experiment = world.create(RANDOM)

    run_to_the_end(world, experiment.id)

    trials = world.trials(experiment.id)
    assert [t.state for t in trials] == [TrialState.COMPLETED] * 5
    assert len({t.hparams["lr"] for t in trials}) == 5
    assert world.experiment(experiment.id).state is ExperimentState.COMPLETED


def test_a_finished_search_goes_on_with_a_larger_budget(world) -> None:
    experiment = world.create(RANDOM)
    run_to_the_end(world, experiment.id)

    continue_experiment(world.platform, experiment.id, "searcher: {max_trials: 8}")
    run_to_the_end(world, experiment.id)

    assert len(world.trials(experiment.id)) == 8


@pytest.mark.parametrize(
    ("config", "remedy"),
    [(RANDOM, "Ask for more, for example --config searcher.max_trials=10"), (GRID, "Fork it with another space")],
)
def test_a_finished_search_without_a_larger_budget_is_left_as_it_is(world, config: str, remedy: str) -> None:
    experiment = world.create(config)
    run_to_the_end(world, experiment.id)
    before = world.experiment(experiment.id)

    with pytest.raises(InvalidInput, match=remedy):
        continue_experiment(world.platform, experiment.id, "max_restarts: 1")

    assert world.experiment(experiment.id) == before


def test_trials_never_hold_more_slots_than_there_are(world) -> None:
    experiment = world.create(RANDOM.replace("max_concurrent_trials: 2", "max_concurrent_trials: 5"))

    world.tick(3)

    running = [t for t in world.trials(experiment.id) if world.states(t)[-1] is AllocationState.RUNNING]
    assert len(running) == 2


def test_asha_stops_the_worse_of_two_trials(world) -> None:
    experiment = world.create(ASHA)
    world.tick()
    first, second = world.trials(experiment.id)[:2]

    world.validate(first, 4, loss=0.1, epochs=4)
    world.validate(second, 4, loss=0.9, epochs=4)

    assert world.trial(first.id).state is TrialState.ACTIVE
    assert world.trial(second.id).state is TrialState.STOPPING_COMPLETED
    world.leave(second)
    assert world.trial(second.id).state is TrialState.COMPLETED
    assert len(world.trials(experiment.id)) == 3


def test_a_validation_sent_twice_counts_once(world) -> None:
    experiment = world.create(ASHA)
    world.tick()
    trial = world.trials(experiment.id)[0]

    world.validate(trial, 4, loss=0.5, epochs=4)
    with world.platform.store.read() as tx:
        once = tx.experiments.searcher_snapshot(experiment.id)
    world.validate(trial, 4, loss=0.5, epochs=4)

    with world.platform.store.read() as tx:
        assert tx.experiments.searcher_snapshot(experiment.id) == once


def test_promotion_gives_the_slots_back_until_the_searcher_wants_more(world) -> None:
    older_dialect = ASHA.replace("max_time: 8", "max_length: {batches: 8}").replace("  time_metric: epochs\n", "")
    experiment = world.create(older_dialect)
    world.tick()
    first, second = world.trials(experiment.id)[:2]

    world.validate(first, 4, loss=0.9, epochs=4)
    waiting = world.trial(first.id).is_waiting
    world.leave(first)
    states = world.states(world.trial(first.id))

    assert waiting
    assert world.trial(first.id).state is TrialState.ACTIVE
    assert states == [AllocationState.TERMINATED]
    assert second.id != first.id


def test_a_more_important_experiment_takes_the_slots(world) -> None:
    low = world.create(RANDOM)
    world.tick()
    world.create(
        "name: h\nentrypoint: python3 t.py\nsearcher: {name: single, metric: loss}\n"
        "resources: {priority: 1, slots_per_trial: 2}"
    )

    world.tick()

    with world.platform.store.read() as tx:
        leaving = [a for a in tx.allocations.live() if a.preempt_requested_at is not None]
    assert len(leaving) == 2
    assert {world.trial(a.trial_id).experiment_id for a in leaving} == {low.id}


def test_jobs_are_listed_in_the_order_they_are_served_and_can_be_moved(world) -> None:
    world.create(RANDOM)
    world.tick()
    second, third = world.create(), world.create()

    before = [int(view.job.entity_id) for view in list_jobs(world.platform)]
    update_jobs(world.platform, [JobUpdate(job_id=third.job_id, ahead_of=second.job_id)])
    after = [int(view.job.entity_id) for view in list_jobs(world.platform)]

    assert before == [1, 2, 3]
    assert after == [1, 3, 2]


def test_checkpoints_beyond_the_policy_are_collected_when_the_trial_ends(world) -> None:
    experiment = world.create()
    [trial] = world.trials(experiment.id)
    world.tick()
    uuids = []
    for steps, loss in ((1, 0.5), (2, 0.1), (3, 0.9), (4, 0.7)):
        world.validate(trial, steps, loss=loss)
        uuids.append(world.checkpoint(trial, steps))

    world.finish(trial)
    collect_pending(world.platform)

    kept = [u for u in uuids if (world.home / "checkpoints" / u).exists()]
    assert kept == [uuids[1], uuids[3]]


def test_a_policy_can_be_previewed_and_changed(world) -> None:
    experiment = world.create()
    [trial] = world.trials(experiment.id)
    world.tick()
    uuids = []
    for steps in (1, 2, 3):
        world.validate(trial, steps, loss=1.0 / steps)
        uuids.append(world.checkpoint(trial, steps))
    policy = RetentionPolicy(save_experiment_best=0, save_trial_best=0, save_trial_latest=1)

    preview = preview_gc(world.platform, experiment.id, policy)
    patch_experiment(world.platform, experiment.id, gc_policy=policy)
    collect_pending(world.platform)

    assert {view.checkpoint.uuid for view in preview} == set(uuids[:2])
    assert [u for u in uuids if (world.home / "checkpoints" / u).exists()] == uuids[2:]


def test_a_restarted_master_starts_what_was_assigned_and_starts_nothing_twice(world) -> None:
    experiment = world.create()
    [trial] = world.trials(experiment.id)
    world.tick()
    from dataclasses import replace

    with world.platform.store.write() as tx:
        # The predecessor died after starting the gang and before writing that down.
        allocation = tx.allocations.get(world.allocation(trial))
        tx.allocations.save(replace(allocation, state=AllocationState.ASSIGNED, handle=None))

    tick(world.platform, since=world.clock())

    assert world.states(trial) == [AllocationState.RUNNING]
    assert len(world.runner.started) == 1
