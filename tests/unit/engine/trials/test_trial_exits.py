"""The end of a trial's processes: what becomes of the trial, of the search and of everybody else."""

from dataclasses import replace
from typing import Any

import pytest

from resolute.domain.allocation import AllocationState
from resolute.domain.experiment import ExperimentState
from resolute.domain.log import LogLevel, LogLine, LogStream
from resolute.domain.trial import TrialState
from resolute.domain.verdict import Exit
from resolute.engine.experiments.changes import activate_experiment, kill_experiment, pause_experiment
from resolute.engine.jobs.exits import allocation_ended
from resolute.engine.ports.logs import LogQuery

CONFIG = """
name: test
entrypoint: python3 train.py
searcher: {name: single, metric: loss}
max_restarts: %d
"""


def started(world: Any, max_restarts: int = 2, more: str = "") -> Any:
    experiment = world.create(CONFIG % max_restarts + more)
    world.tick()
    return world.trials(experiment.id)[0]


def say(world: Any, trial: Any, text: str) -> None:
    line = LogLine(
        timestamp_us=int(world.clock().timestamp() * 1_000_000), text=text, stream=LogStream.STDOUT, level=LogLevel.INFO
    )
    world.platform.logs.append(trial.task_id, [line])


# ---------------------------------------------------------------------------------------------------------- restarts


def test_each_failure_counts_until_there_are_too_many(world: Any) -> None:
    trial = started(world, max_restarts=2)

    seen = []
    for _ in range(3):
        world.finish(trial, 1)
        world.tick()
        now = world.trial(trial.id)
        seen.append((now.state, now.restarts, now.run_id))

    assert seen == [
        (TrialState.ACTIVE, 1, 2),
        (TrialState.ACTIVE, 2, 3),
        (TrialState.ERROR, 2, 3),
    ]
    assert world.trial(trial.id).exit_reason == "exit code 1 after 2 restarts (max_restarts 2)"
    assert world.experiment(trial.experiment_id).state is ExperimentState.ERROR


def test_the_log_tells_of_each_restart_and_of_the_limit(world: Any) -> None:
    trial = started(world, max_restarts=1)

    world.finish(trial, 7)
    world.tick()
    world.finish(trial, 9)

    log = world.log(trial)
    assert "Run 1 failed (exit code 7); restart 1 of at most 1." in log
    assert f"Trial {trial.id} error. exit code 9 after 1 restarts (max_restarts 1)" in log


def test_a_lost_machine_costs_no_restart(world: Any) -> None:
    trial = started(world, max_restarts=0)

    world.runner.lose(world.allocation(trial))
    world.tick(2)

    now = world.trial(trial.id)
    assert (now.state, now.restarts, now.run_id) == (TrialState.ACTIVE, 0, 2)


def test_an_end_that_is_noticed_twice_happened_once(world: Any) -> None:
    trial = started(world)
    allocation = world.allocation(trial)

    allocation_ended(world.platform, allocation, Exit(code=1))
    allocation_ended(world.platform, allocation, Exit(code=1))

    assert world.trial(trial.id).restarts == 1
    assert world.states(trial) == [AllocationState.TERMINATED, AllocationState.QUEUED]


def test_an_end_that_another_try_would_repeat_is_final(world: Any) -> None:
    trial = started(world, max_restarts=5)

    allocation_ended(world.platform, world.allocation(trial), Exit(code=1, reason="no such package"), is_final=True)

    assert world.trial(trial.id).state is TrialState.ERROR
    assert world.trial(trial.id).exit_reason.startswith("no such package")


def test_a_failure_while_paused_waits_and_goes_on_when_activated(world: Any) -> None:
    trial = started(world, max_restarts=0)
    pause_experiment(world.platform, trial.experiment_id)

    world.finish(trial, 1)
    waiting = world.trial(trial.id).state
    activate_experiment(world.platform, trial.experiment_id)
    world.tick()

    assert waiting is TrialState.PAUSED
    assert world.states(trial) == [AllocationState.TERMINATED, AllocationState.RUNNING]


def test_one_activated_again_while_it_leaves_is_queued_when_it_has_left(world: Any) -> None:
    trial = started(world)
    pause_experiment(world.platform, trial.experiment_id)
    activate_experiment(world.platform, trial.experiment_id)
    before = world.states(trial)

    world.leave(trial)
    world.tick()

    assert before == [AllocationState.RUNNING]
    assert world.states(trial) == [AllocationState.TERMINATED, AllocationState.RUNNING]


# ------------------------------------------------------------------------------------------------------- log policies

POLICIES = """
log_policies:
  - {name: OOM, pattern: '.*out of memory.*', action: cancel_retries}
  - {pattern: 'ECC error', action: exclude_node}
  - {name: seen, pattern: 'NaN'}
"""


def test_a_policy_that_cancels_retries_names_itself(world: Any) -> None:
    trial = started(world, 5, POLICIES)
    say(world, trial, "CUDA out of memory")

    world.finish(trial, 1)

    now = world.trial(trial.id)
    assert (now.state, now.log_policy_matched) == (TrialState.ERROR, "OOM")
    assert "log policy 'OOM' matched" in now.exit_reason


def test_a_node_that_is_excluded_is_not_asked_again(world: Any) -> None:
    trial = started(world, 5, POLICIES)
    say(world, trial, "ECC error on device 3")

    world.finish(trial, 1)
    world.tick(2)

    assert world.trial(trial.id).excluded_nodes == ("fake",)
    assert world.states(trial)[-1] is AllocationState.QUEUED
    assert "it will not run on this node again" in world.log(trial)


def test_a_policy_without_an_action_is_only_told(world: Any) -> None:
    trial = started(world, 5, POLICIES)
    say(world, trial, "loss is NaN")

    world.finish(trial, 1)

    now = world.trial(trial.id)
    assert (now.state, now.restarts, now.log_policy_matched) == (TrialState.ACTIVE, 1, "seen")


# -------------------------------------------------------------------------------------------- a metric nobody reports


def test_all_objectives_have_to_be_among_what_was_reported(world: Any) -> None:
    text = (CONFIG % 0).replace("name: single, metric: loss", "name: random, max_trials: 1, metric: [loss, size]")
    experiment = world.create(text + "hyperparameters: {lr: {type: double, minval: 0, maxval: 1}}\n")
    world.tick()
    (trial,) = world.trials(experiment.id)
    world.validate(trial, 1, loss=0.5, accuracy=0.5)

    world.finish(trial)

    assert world.trial(trial.id).state is TrialState.COMPLETED
    log = " ".join(line.text for line in world.platform.logs.read(trial.task_id, LogQuery()))
    assert "metric loss, size was never reported; validation metrics reported: accuracy, loss" in log


def test_a_trial_that_never_validated_is_left_alone(world: Any) -> None:
    trial = started(world)

    world.finish(trial)

    assert world.trial(trial.id).state is TrialState.COMPLETED


# ------------------------------------------------------------------------- a configuration that cannot be read any more


@pytest.fixture
def strange(world: Any) -> Any:
    """A running trial whose experiment another version wrote."""
    trial = started(world)
    spoil(world, trial)
    return trial


def spoil(world: Any, trial: Any) -> None:
    with world.platform.store.write() as tx:
        experiment = tx.experiments.get(trial.experiment_id)
        tx.experiments.save(replace(experiment, config={**experiment.config, "warp_drive": True}))


@pytest.mark.parametrize("code", [0, 1])
def test_it_ends_in_error_and_says_so(world: Any, strange: Any, code: int) -> None:
    world.finish(strange, code)

    assert world.trial(strange.id).state is TrialState.ERROR
    assert world.experiment(strange.experiment_id).state is ExperimentState.ERROR
    assert "This version cannot read the experiment's configuration" in world.log(strange)


def test_it_holds_nobody_else_up(world: Any, strange: Any) -> None:
    other = started(world)
    for trial in (strange, other):
        world.runner.finish(world.allocation(trial), 0)

    world.tick()

    assert world.trial(other.id).state is TrialState.COMPLETED


def test_it_can_be_killed(world: Any, strange: Any) -> None:
    kill_experiment(world.platform, strange.experiment_id)
    world.tick(2)

    assert world.trial(strange.id).state is TrialState.CANCELED
    assert world.experiment(strange.experiment_id).state is ExperimentState.CANCELED


def test_one_that_was_asked_to_leave_is_still_given_its_time(world: Any, strange: Any) -> None:
    pause_experiment(world.platform, strange.experiment_id)

    world.tick(3)

    assert world.trial(strange.id).state is TrialState.PAUSED


def test_one_that_waits_is_not_started_and_others_are(world: Any) -> None:
    running = started(world, 0, "resources: {slots_per_trial: 2}\n")
    waiting, after = (world.create(CONFIG % 0 + "resources: {slots_per_trial: 1}\n").id for _ in range(2))
    spoil(world, world.trials(waiting)[0])

    world.finish(running)
    world.tick(2)

    assert world.trials(waiting)[0].state is TrialState.ERROR
    assert world.states(world.trials(after)[0]) == [AllocationState.RUNNING]
