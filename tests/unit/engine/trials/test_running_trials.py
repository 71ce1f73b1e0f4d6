"""What a running trial, or a script outside the platform, tells the master about itself."""

from typing import Any

import pytest

from resolute.domain.errors import InvalidInput, NotFound
from resolute.domain.experiment import ExperimentState
from resolute.domain.trial import TrialState
from resolute.engine.experiments.changes import cancel_experiment
from resolute.engine.experiments.submission import create_experiment
from resolute.engine.trials.running import (
    create_unmanaged_trial,
    next_operation,
    patch_unmanaged_trial,
    report_early_exit,
    report_progress,
    set_metadata,
    set_runner_state,
    start_unmanaged_trial,
)

CONFIG = """
name: test
entrypoint: python3 train.py
searcher: {name: single, metric: loss, max_length: {batches: 200}}
max_restarts: 0
"""
UNMANAGED = "{name: mine, searcher: {name: single, metric: loss}}"


@pytest.fixture
def trial(world: Any) -> Any:
    experiment = world.create(CONFIG)
    world.tick()
    return world.trials(experiment.id)[0]


# ---------------------------------------------------------------------------------------------------------- progress


@pytest.mark.parametrize(("told", "stored"), [(0.25, 0.25), (1.5, 1.0), (-0.5, 0.0)])
def test_progress_is_a_share_and_stays_between_none_and_all(world: Any, trial: Any, told: float, stored: float) -> None:
    report_progress(world.platform, trial.id, told)

    assert world.trial(trial.id).progress == stored
    assert world.experiment(trial.experiment_id).progress == stored


def test_progress_in_units_is_a_share_of_the_full_length(world: Any, trial: Any) -> None:
    report_progress(world.platform, trial.id, 50, raw=False)

    assert world.trial(trial.id).progress == 0.25


def test_an_experiments_progress_never_goes_back(world: Any, trial: Any) -> None:
    for told in (0.5, 0.25):
        report_progress(world.platform, trial.id, told)

    assert world.experiment(trial.experiment_id).progress == 0.5


def test_progress_after_the_end_moves_no_search(world: Any, trial: Any) -> None:
    world.finish(trial)

    report_progress(world.platform, trial.id, 0.1)

    assert world.experiment(trial.experiment_id).state is ExperimentState.COMPLETED
    assert world.experiment(trial.experiment_id).progress == 1.0


# --------------------------------------------------------------------------------------------------------- small words


@pytest.mark.parametrize(
    ("reason", "state"),
    [
        ("EXITED_REASON_INVALID_HP", TrialState.ERROR),
        ("INVALID_HP", TrialState.ERROR),
        ("EXITED_REASON_USER_REQUESTED_STOP", TrialState.COMPLETED),
    ],
)
def test_a_trial_says_why_it_leaves_before_its_work_is_done(
    world: Any, trial: Any, reason: str, state: TrialState
) -> None:
    report_early_exit(world.platform, trial.id, reason)
    world.finish(trial)

    assert world.trial(trial.id).state is state


def test_a_reason_that_nobody_knows_is_refused_with_those_there_are(world: Any, trial: Any) -> None:
    with pytest.raises(InvalidInput, match="'EXITED_REASON_BORED' is not known; use INVALID_HP or USER_REQUESTED_STOP"):
        report_early_exit(world.platform, trial.id, "EXITED_REASON_BORED")

    assert world.trial(trial.id).early_exit is None


def test_the_next_run_does_not_leave_for_the_reason_of_the_last(world: Any) -> None:
    experiment = world.create(CONFIG.replace("max_restarts: 0", "max_restarts: 1"))
    world.tick()
    (trial,) = world.trials(experiment.id)
    report_early_exit(world.platform, trial.id, "USER_REQUESTED_STOP")

    world.finish(trial, 1)

    assert world.trial(trial.id).early_exit is None
    assert world.trial(trial.id).run_id == 2


def test_what_it_is_busy_with_is_told_to_whoever_watches(world: Any, trial: Any) -> None:
    told: list[str] = []
    world.platform.bus.subscribe(f"trial/{trial.id}", lambda: told.append("again"))

    set_runner_state(world.platform, trial.id, "VALIDATING")

    assert world.trial(trial.id).runner_state == "VALIDATING"
    assert told == ["again"]


def test_metadata_is_merged_key_by_key(world: Any, trial: Any) -> None:
    set_metadata(world.platform, trial.id, {"a": 1, "b": {"x": 1}})

    merged = set_metadata(world.platform, trial.id, {"b": 2, "c": None})

    assert merged == {"a": 1, "b": 2, "c": None}
    assert world.trial(trial.id).metadata == merged


def test_words_about_a_trial_that_is_not_there_are_refused(world: Any) -> None:
    for say in (
        lambda: set_metadata(world.platform, 9, {}),
        lambda: set_runner_state(world.platform, 9, "x"),
        lambda: report_progress(world.platform, 9, 0.5),
        lambda: next_operation(world.platform, 9),
        lambda: report_early_exit(world.platform, 9, "INVALID_HP"),
        lambda: patch_unmanaged_trial(world.platform, 9, None),
    ):
        with pytest.raises(NotFound, match="trial not found: 9"):
            say()


# ---------------------------------------------------------------------------------------------------------- operations


def test_the_next_operation_trains_to_the_full_length(world: Any, trial: Any) -> None:
    operation = next_operation(world.platform, trial.id)

    assert (operation.length, operation.is_completed) == (200, False)


def test_there_is_none_once_it_is_to_stop(world: Any, trial: Any) -> None:
    cancel_experiment(world.platform, trial.experiment_id)

    assert next_operation(world.platform, trial.id).is_completed


def test_the_searchers_target_comes_before_the_full_length(world: Any) -> None:
    text = """
name: asha
entrypoint: python3 train.py
searcher: {name: async_halving, metric: loss, max_length: {batches: 16}, max_trials: 2, num_rungs: 2, divisor: 4}
hyperparameters: {lr: {type: double, minval: 0, maxval: 1}}
"""
    experiment = world.create(text)
    world.tick()
    trial = world.trials(experiment.id)[0]

    assert next_operation(world.platform, trial.id).length == 4


# ------------------------------------------------------------------------------------------------- outside the platform
def unmanaged(world: Any) -> int:
    made = create_experiment(world.platform, user=world.user, config_text=UNMANAGED, unmanaged=True)
    return int(made.experiment.id)


def test_a_script_outside_makes_a_trial_that_stands_in_no_queue(world: Any) -> None:
    experiment_id = unmanaged(world)

    trial = create_unmanaged_trial(world.platform, experiment_id, {"lr": 0.1})
    world.tick()

    assert (trial.state, trial.unmanaged, trial.run_id, trial.hparams) == (TrialState.ACTIVE, True, 0, {"lr": 0.1})
    assert world.states(trial) == []
    assert world.runner.started == []


def test_the_same_name_is_the_same_trial(world: Any) -> None:
    experiment_id = unmanaged(world)

    first = create_unmanaged_trial(world.platform, experiment_id, {"lr": 1}, external_id="a")
    again = create_unmanaged_trial(world.platform, experiment_id, {"lr": 2}, external_id="a")
    other = create_unmanaged_trial(world.platform, experiment_id, {"lr": 3}, external_id="b")

    assert again == first
    assert other.id != first.id
    assert len(world.trials(experiment_id)) == 2


def test_each_start_is_a_run_of_its_own_and_an_older_one_is_not_resumed_by_chance(world: Any) -> None:
    trial = create_unmanaged_trial(world.platform, unmanaged(world), {})

    first = start_unmanaged_trial(world.platform, trial.id)
    with pytest.raises(InvalidInput, match="has been started before; pass resume"):
        start_unmanaged_trial(world.platform, trial.id)
    second = start_unmanaged_trial(world.platform, trial.id, resume=True)

    assert (first.run_id, second.run_id) == (1, 2)
    assert (second.latest_checkpoint, second.steps_completed) == (None, 0)


def test_a_resumed_one_goes_on_from_its_checkpoint(world: Any) -> None:
    trial = create_unmanaged_trial(world.platform, unmanaged(world), {})
    start_unmanaged_trial(world.platform, trial.id)
    uuid = world.checkpoint(trial, 40)

    again = start_unmanaged_trial(world.platform, trial.id, resume=True)

    assert (again.latest_checkpoint, again.steps_completed) == (uuid, 40)


def test_it_ends_by_its_own_word_and_can_go_on_later(world: Any) -> None:
    trial = create_unmanaged_trial(world.platform, unmanaged(world), {})
    start_unmanaged_trial(world.platform, trial.id)

    ended = patch_unmanaged_trial(world.platform, trial.id, TrialState.ERROR)
    twice = patch_unmanaged_trial(world.platform, trial.id, TrialState.COMPLETED)
    start_unmanaged_trial(world.platform, trial.id, resume=True)

    assert (ended.state, twice.state) == (TrialState.ERROR, TrialState.ERROR)
    assert world.trial(trial.id).state is TrialState.ACTIVE


@pytest.mark.parametrize("word", [None, TrialState.ACTIVE, TrialState.PAUSED, TrialState.STOPPING_KILLED])
def test_a_heartbeat_moves_nothing(world: Any, word: TrialState | None) -> None:
    trial = create_unmanaged_trial(world.platform, unmanaged(world), {})

    assert patch_unmanaged_trial(world.platform, trial.id, word).state is TrialState.ACTIVE


def test_a_trial_of_ours_is_not_ended_or_restarted_by_a_word(world: Any, trial: Any) -> None:
    with pytest.raises(InvalidInput, match=f"Trial {trial.id} is run by this platform"):
        patch_unmanaged_trial(world.platform, trial.id, TrialState.COMPLETED)
    with pytest.raises(InvalidInput, match=f"Trial {trial.id} is run by this platform"):
        start_unmanaged_trial(world.platform, trial.id, resume=True)

    assert world.trial(trial.id) == trial
    world.validate(trial, 1, loss=0.5)  # its run has not been replaced


def test_an_experiment_of_ours_gets_no_trial_from_outside(world: Any, trial: Any) -> None:
    with pytest.raises(InvalidInput, match="its searcher makes its trials"):
        create_unmanaged_trial(world.platform, trial.experiment_id, {})

    assert len(world.trials(trial.experiment_id)) == 1
