"""What people do with experiments, and the sentences when it cannot be done."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from resolute.domain.allocation import AllocationState
from resolute.domain.checkpoint import CheckpointState
from resolute.domain.errors import IllegalTransition, InvalidInput, NotFound, Unavailable
from resolute.domain.experiment import ExperimentState
from resolute.domain.trial import TrialState
from resolute.engine.access.workspaces import add_project, add_workspace, archive_project
from resolute.engine.experiments.changes import (
    activate_experiment,
    archive_experiment,
    cancel_experiment,
    delete_experiment,
    kill_experiment,
    kill_trial,
    move_experiment,
    patch_experiment,
    pause_experiment,
    unarchive_experiment,
)
from resolute.engine.registry.models import create_model, register_version

CONFIG = """
name: test
entrypoint: python3 train.py
searcher: {name: grid, metric: loss}
hyperparameters: {lr: {type: categorical, vals: [1, 2, 3]}}
max_restarts: 0
"""


@pytest.fixture
def experiment(world: Any) -> Any:
    """Three trials for two slots: two run, one waits."""
    made = world.create(CONFIG)
    world.tick()
    return made


def state(world: Any, experiment: Any) -> ExperimentState:
    return world.experiment(experiment.id).state  # type: ignore[no-any-return]


def trial_states(world: Any, experiment: Any) -> list[TrialState]:
    return [trial.state for trial in world.trials(experiment.id)]


def ended(world: Any) -> Any:
    experiment = world.create(CONFIG)
    kill_experiment(world.platform, experiment.id)
    return experiment


# -------------------------------------------------------------------------------------------------------------- states


def test_pausing_takes_the_waiting_out_of_the_queue_and_asks_the_running_to_leave(world: Any, experiment: Any) -> None:
    pause_experiment(world.platform, experiment.id)

    assert trial_states(world, experiment) == [TrialState.PAUSED] * 3
    states = [world.states(trial) for trial in world.trials(experiment.id)]
    assert sorted(states) == [[AllocationState.RUNNING], [AllocationState.RUNNING], [AllocationState.TERMINATED]]


def test_pausing_twice_asks_once(world: Any, experiment: Any) -> None:
    pause_experiment(world.platform, experiment.id)
    with world.platform.store.read() as tx:
        asked = [a.preempt_requested_at for a in tx.allocations.live()]
    world.clock.forward(60)

    pause_experiment(world.platform, experiment.id)

    with world.platform.store.read() as tx:
        assert [a.preempt_requested_at for a in tx.allocations.live()] == asked


def test_activating_what_is_active_changes_nothing(world: Any, experiment: Any) -> None:
    before = [world.states(trial) for trial in world.trials(experiment.id)]

    activate_experiment(world.platform, experiment.id)

    assert [world.states(trial) for trial in world.trials(experiment.id)] == before


def test_a_cancelled_experiment_ends_when_the_last_trial_has_left(world: Any, experiment: Any) -> None:
    cancel_experiment(world.platform, experiment.id)
    during = state(world, experiment)

    for trial in world.trials(experiment.id):
        if not trial.is_finished:
            world.leave(trial)

    assert during is ExperimentState.STOPPING_CANCELED
    assert state(world, experiment) is ExperimentState.CANCELED
    assert trial_states(world, experiment) == [TrialState.CANCELED] * 3


def test_one_that_is_being_cancelled_can_still_be_killed(world: Any, experiment: Any) -> None:
    cancel_experiment(world.platform, experiment.id)

    kill_experiment(world.platform, experiment.id)
    world.tick(2)

    assert state(world, experiment) is ExperimentState.CANCELED
    assert {force for _, force in world.runner.stopped} == {True}


def test_one_that_is_being_killed_is_not_cancelled_any_more(world: Any, experiment: Any) -> None:
    kill_experiment(world.platform, experiment.id)

    cancel_experiment(world.platform, experiment.id)

    assert state(world, experiment) is ExperimentState.STOPPING_KILLED


@pytest.mark.parametrize("stop", [cancel_experiment, kill_experiment])
def test_stopping_what_has_ended_changes_nothing(world: Any, stop: Callable[..., None]) -> None:
    experiment = ended(world)
    before = world.experiment(experiment.id)

    stop(world.platform, experiment.id)

    assert world.experiment(experiment.id) == before


def test_what_is_stopping_is_not_paused(world: Any, experiment: Any) -> None:
    cancel_experiment(world.platform, experiment.id)

    with pytest.raises(IllegalTransition, match=f"Experiment {experiment.id} is STOPPING_CANCELED"):
        pause_experiment(world.platform, experiment.id)


def test_what_has_ended_is_continued_and_not_activated(world: Any) -> None:
    experiment = ended(world)

    with pytest.raises(IllegalTransition, match=f"is CANCELED; .*`resolute experiment continue {experiment.id}`"):
        activate_experiment(world.platform, experiment.id)


def test_a_killed_trial_leaves_the_others_alone_and_the_search_goes_on(world: Any, experiment: Any) -> None:
    first = world.trials(experiment.id)[0]

    kill_trial(world.platform, first.id)
    world.tick(3)

    assert trial_states(world, experiment) == [TrialState.CANCELED, TrialState.ACTIVE, TrialState.ACTIVE]
    assert state(world, experiment) is ExperimentState.ACTIVE
    assert len(world.runner.running()) == 2


def test_killing_a_trial_that_waits_ends_it_at_once(world: Any, experiment: Any) -> None:
    waiting = next(t for t in world.trials(experiment.id) if world.states(t) == [AllocationState.QUEUED])

    kill_trial(world.platform, waiting.id)
    kill_trial(world.platform, waiting.id)

    assert world.trial(waiting.id).state is TrialState.CANCELED
    assert world.trial(waiting.id).exit_reason == "It was killed by a user."


@pytest.mark.parametrize(
    "deed",
    [
        pause_experiment,
        activate_experiment,
        cancel_experiment,
        kill_experiment,
        archive_experiment,
        unarchive_experiment,
        delete_experiment,
        patch_experiment,
    ],
)
def test_what_is_not_there_is_not_found(world: Any, deed: Callable[..., object]) -> None:
    with pytest.raises(NotFound, match="experiment not found: 99"):
        deed(world.platform, 99)


# ------------------------------------------------------------------------------------------------------------- archive


def test_an_ended_one_is_archived_and_brought_back(world: Any) -> None:
    experiment = ended(world)

    archive_experiment(world.platform, experiment.id)
    archived = world.experiment(experiment.id).archived
    unarchive_experiment(world.platform, experiment.id)

    assert (archived, world.experiment(experiment.id).archived) == (True, False)


@pytest.mark.parametrize("deed", [archive_experiment, unarchive_experiment])
def test_what_goes_on_is_not_archived(world: Any, experiment: Any, deed: Callable[..., None]) -> None:
    with pytest.raises(IllegalTransition, match=r"only a finished one can be archived\. Cancel or kill it first"):
        deed(world.platform, experiment.id)


# ---------------------------------------------------------------------------------------------------------------- move


def test_it_moves_with_its_job_to_another_project(world: Any, experiment: Any) -> None:
    workspace = add_workspace(world.platform, user=world.user, name="far")
    project = add_project(world.platform, user=world.user, workspace_id=workspace.id, name="p")

    move_experiment(world.platform, experiment.id, project.id)

    with world.platform.store.read() as tx:
        assert tx.experiments.get(experiment.id).project_id == project.id
        assert tx.jobs.get(experiment.job_id).workspace_id == workspace.id


def test_it_does_not_move_into_an_archived_or_a_missing_project(world: Any, experiment: Any) -> None:
    project = add_project(world.platform, user=world.user, workspace_id=1, name="old")
    archive_project(world.platform, project.id, archived=True)

    with pytest.raises(IllegalTransition, match="'old' is archived"):
        move_experiment(world.platform, experiment.id, project.id)
    with pytest.raises(NotFound, match="project not found: 99"):
        move_experiment(world.platform, experiment.id, 99)

    assert world.experiment(experiment.id).project_id == 1


# --------------------------------------------------------------------------------------------------------------- patch


def test_everything_that_people_change_is_changed_together(world: Any, experiment: Any) -> None:
    patch_experiment(
        world.platform,
        experiment.id,
        name="new",
        description="why",
        labels=["b", "a", "b"],
        notes="note",
        priority=3,
        weight=2,
        max_slots=1,
    )

    now = world.experiment(experiment.id)
    assert (now.name, now.description, now.labels, now.notes) == ("new", "why", ("b", "a"), "note")
    assert (now.config["name"], now.config["description"], now.config["labels"]) == ("new", "why", ["b", "a"])
    with world.platform.store.read() as tx:
        job = tx.jobs.get(experiment.job_id)
    assert (job.name, job.priority, job.weight, job.max_slots) == ("new", 3, 2, 1)
    assert now.config["resources"]["priority"] == 3


def test_what_is_not_named_stays_as_it_is(world: Any, experiment: Any) -> None:
    patch_experiment(world.platform, experiment.id, name="new", max_slots=2, notes="n")

    patch_experiment(world.platform, experiment.id, description="d")

    now = world.experiment(experiment.id)
    assert (now.name, now.notes, now.config["resources"]["max_slots"]) == ("new", "n", 2)


def test_a_limit_of_slots_is_taken_away_by_none(world: Any, experiment: Any) -> None:
    patch_experiment(world.platform, experiment.id, max_slots=1)

    patch_experiment(world.platform, experiment.id, max_slots=None)

    with world.platform.store.read() as tx:
        assert tx.jobs.get(experiment.job_id).max_slots is None


def test_text_is_emptied_by_the_empty_text(world: Any, experiment: Any) -> None:
    patch_experiment(world.platform, experiment.id, description="d", notes="n", labels=["a"])

    patch_experiment(world.platform, experiment.id, description="", notes="", labels=[])

    now = world.experiment(experiment.id)
    assert (now.description, now.notes, now.labels) == ("", "", ())


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ({"name": "  "}, "an experiment's name cannot be empty"),
        ({"priority": 0}, "Priority 0 is out of range"),
        ({"priority": 100}, "Priority 100 is out of range"),
        ({"weight": 0}, "Weight 0 is out of range"),
        ({"weight": -1.0}, "greater than 0"),
        ({"max_slots": -1}, "resources.max_slots: -1 must not be negative"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused_as_a_whole(
    world: Any, experiment: Any, patch: dict[str, Any], said: str
) -> None:
    before = world.experiment(experiment.id)

    with pytest.raises(InvalidInput, match=said):
        patch_experiment(world.platform, experiment.id, **{"notes": "n", **patch})

    assert world.experiment(experiment.id) == before


# -------------------------------------------------------------------------------------------------------------- delete


def with_checkpoint(world: Any) -> tuple[Any, str]:
    experiment = world.create("{name: x, entrypoint: x, searcher: {name: single, metric: loss}}")
    world.tick()
    (trial,) = world.trials(experiment.id)
    uuid = world.checkpoint(trial, 1)
    world.finish(trial)
    return experiment, uuid


def test_what_goes_on_is_not_deleted(world: Any, experiment: Any) -> None:
    with pytest.raises(IllegalTransition, match=f"kill it before .*: `resolute experiment kill {experiment.id}`"):
        delete_experiment(world.platform, experiment.id)


def test_a_store_that_is_away_leaves_something_that_can_be_deleted_again(world: Any) -> None:
    experiment, _ = with_checkpoint(world)

    def away(storage: Any) -> Any:
        raise Unavailable("the bucket does not answer")

    with pytest.raises(Unavailable, match="the bucket does not answer"):
        delete_experiment(replace(world.platform, blobs=away), experiment.id)
    failed = state(world, experiment)
    delete_experiment(world.platform, experiment.id)

    assert failed is ExperimentState.DELETE_FAILED
    with world.platform.store.read() as tx, pytest.raises(NotFound):
        tx.experiments.get(experiment.id)


def test_a_master_that_died_half_way_deletes_again(world: Any) -> None:
    experiment, uuid = with_checkpoint(world)
    with world.platform.store.write() as tx:
        tx.experiments.save(replace(tx.experiments.get(experiment.id), state=ExperimentState.DELETING))

    delete_experiment(world.platform, experiment.id)

    with world.platform.store.read() as tx, pytest.raises(NotFound):
        tx.checkpoints.get(uuid)


def test_a_registered_checkpoint_keeps_its_experiment(world: Any) -> None:
    experiment, uuid = with_checkpoint(world)
    create_model(world.platform, name="champion", user=world.user)
    register_version(world.platform, "champion", checkpoint_uuid=uuid, user=world.user)

    with pytest.raises(IllegalTransition, match=r"cannot be deleted: champion.*delete those versions first"):
        delete_experiment(world.platform, experiment.id)

    assert state(world, experiment) is ExperimentState.COMPLETED
    with world.platform.store.read() as tx:
        assert tx.checkpoints.get(uuid).state is CheckpointState.COMPLETED


def test_files_that_another_experiment_starts_from_are_kept(world: Any) -> None:
    experiment, uuid = with_checkpoint(world)
    world.create(
        f"{{name: x, entrypoint: x, searcher: {{name: single, metric: loss, source_checkpoint_uuid: {uuid}}}}}"
    )
    storage = world.experiment(experiment.id).config["checkpoint_storage"]

    delete_experiment(world.platform, experiment.id)

    assert world.platform.blobs(storage).files(uuid) == {"model.bin": 7}
