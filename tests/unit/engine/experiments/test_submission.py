"""Experiments come to be: everything is checked before anything is stored."""

import io
import tarfile
from typing import Any

import pytest

from resolute.domain.errors import IllegalTransition, InvalidConfig, NotFound
from resolute.domain.experiment import ExperimentState
from resolute.domain.job import DEFAULT_POOL, DEFAULT_PRIORITY, DEFAULT_WEIGHT, JobKind
from resolute.domain.template import Template
from resolute.domain.trial import TrialState
from resolute.engine.access.workspaces import add_project, add_workspace
from resolute.engine.experiments.changes import kill_experiment
from resolute.engine.experiments.collection import delete_checkpoints
from resolute.engine.experiments.submission import continue_experiment, create_experiment
from resolute.engine.experiments.templates import put_template

BASE = "{name: x, entrypoint: python3 train.py, searcher: {name: single, metric: loss}%s}"


def packed(text: str = "print(1)") -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        member = tarfile.TarInfo("train.py")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text.encode()))
    return content.getvalue()


def config(more: str = "") -> str:
    return BASE % (f", {more}" if more else "")


def count(world: Any) -> int:
    with world.platform.store.read() as tx:
        return len(tx.experiments.in_states(list(ExperimentState)))


# --------------------------------------------------------------------------------------------------------------- fields


def test_names_and_labels_are_those_of_the_configuration(world: Any) -> None:
    experiment = world.create(config("description: why, labels: [a, b, a]"))

    assert (experiment.name, experiment.description, experiment.labels) == ("x", "why", ("a", "b"))
    assert experiment.original_config == config("description: why, labels: [a, b, a]")


def test_without_a_name_it_gets_one(world: Any) -> None:
    experiment = world.create("{entrypoint: x, searcher: {name: single, metric: loss}}")

    assert experiment.name.startswith("experiment-")
    assert experiment.config["name"] == experiment.name


def test_a_job_stands_for_it_in_the_queue(world: Any) -> None:
    said = world.create(config("resources: {priority: 7, weight: 2, max_slots: 1}"))
    silent = world.create(config())

    with world.platform.store.read() as tx:
        first, second = tx.jobs.get(said.job_id), tx.jobs.get(silent.job_id)
    assert (first.kind, first.entity_id, first.name) == (JobKind.EXPERIMENT, str(said.id), "x")
    assert (first.priority, first.weight, first.max_slots) == (7, 2, 1)
    assert (second.priority, second.weight, second.max_slots) == (DEFAULT_PRIORITY, DEFAULT_WEIGHT, None)
    assert second.resource_pool == DEFAULT_POOL


def test_one_that_is_not_activated_waits_for_it(world: Any) -> None:
    experiment = world.create(config(), activate=False)

    world.tick()

    assert experiment.state is ExperimentState.PAUSED
    assert [trial.state for trial in world.trials(experiment.id)] == [TrialState.PAUSED]
    assert world.runner.started == []


def test_one_that_is_only_checked_is_not_stored(world: Any) -> None:
    made = create_experiment(world.platform, user=world.user, config_text=config(), validate_only=True)

    assert (made.experiment.id, made.experiment.state) == (0, ExperimentState.ACTIVE)
    assert made.config["max_restarts"] == 5
    assert count(world) == 0


def test_settings_on_the_command_line_win_over_the_text(world: Any) -> None:
    experiment = world.create(config("max_restarts: 1"), overrides=["max_restarts=9", "name=y"])

    assert (experiment.config["max_restarts"], experiment.name) == (9, "y")


@pytest.mark.parametrize(
    "text",
    ["{", "[]", "{name: x}", config("max_restarts: many"), config("unheard_of: 1"), config("searcher: {name: nobody}")],
)
def test_what_cannot_be_read_stores_nothing(world: Any, text: str) -> None:
    with pytest.raises(InvalidConfig):
        world.create(text)

    assert count(world) == 0


# ------------------------------------------------------------------------------------------------------------ templates


def test_a_template_is_laid_under_the_text(world: Any) -> None:
    put_template(world.platform, Template(name="base", config={"max_restarts": 3, "labels": ["t"]}, workspace_id=1))

    experiment = world.create(config("labels: [own]"), template="base")

    assert experiment.config["max_restarts"] == 3
    assert set(experiment.labels) == {"t", "own"}


def test_a_template_that_is_not_there_is_not_found(world: Any) -> None:
    with pytest.raises(NotFound, match="template not found: nope"):
        world.create(config(), template="nope")


# --------------------------------------------------------------------------------------------------------------- places


@pytest.fixture
def project(world: Any) -> int:
    workspace = add_workspace(world.platform, user=world.user, name="north")
    return add_project(world.platform, user=world.user, workspace_id=workspace.id, name="deep").id


def test_it_goes_where_its_configuration_says(world: Any, project: int) -> None:
    experiment = world.create(config("workspace: north, project: deep"))

    assert experiment.project_id == project
    with world.platform.store.read() as tx:
        assert tx.jobs.get(experiment.job_id).workspace_id == tx.workspaces.project(project).workspace_id


def test_a_project_by_number_wins_over_names(world: Any, project: int) -> None:
    assert world.create(config("workspace: nowhere"), project_id=project).project_id == project


def test_without_a_place_it_is_uncategorised(world: Any) -> None:
    assert world.create(config()).project_id == 1


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("workspace: south", r"there is no workspace 'south'; create it with .* or use one of: .*north"),
        ("workspace: north, project: wide", r"workspace 'north' has no project 'wide' \(it has: deep\)"),
        ("project: deep", "has no project 'deep'"),
        ("workspace: north", "has no project ''"),
    ],
)
def test_a_place_that_is_not_there_is_refused_with_those_there_are(
    world: Any, project: int, place: str, said: str
) -> None:
    with pytest.raises(NotFound, match=said):
        world.create(config(place))

    assert count(world) == 0


# ---------------------------------------------------------------------------------------------------------------- forks


def test_a_fork_has_its_parents_files_unless_it_brings_its_own(world: Any) -> None:
    parent = world.create(config(), context=packed("print('parent')"))

    plain = world.create(config(), parent_id=parent.id)
    own = world.create(config(), parent_id=parent.id, context=packed("print('own')"))

    assert plain.context_id == parent.context_id
    assert own.context_id not in (None, parent.context_id)
    assert (plain.parent_id, own.parent_id) == (parent.id, parent.id)


SECRET = "checkpoint_storage: {type: s3, bucket: b, access_key: me, secret_key: %s}"


def test_a_fork_of_a_masked_configuration_has_the_secrets_of_its_parent(world: Any) -> None:
    parent = world.create(config(SECRET % "hush"))

    fork = world.create(config(SECRET % '"********"'), parent_id=parent.id)

    assert fork.config["checkpoint_storage"]["secret_key"] == "hush"


def test_a_mask_without_a_parent_is_no_secret(world: Any) -> None:
    with pytest.raises(InvalidConfig, match=r"checkpoint_storage\.secret_key: \*{8} stands for a secret"):
        world.create(config(SECRET % '"********"'))


# ------------------------------------------------------------------------------------------------------------ sources


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("source_checkpoint_uuid: gone", r"searcher\.source_checkpoint_uuid: checkpoint not found: gone; name one"),
        ("source_trial_id: 77", r"searcher\.source_trial_id: trial not found: 77; name one that is there"),
        ("source_experiment_ids: [77]", "there is no experiment 77"),
    ],
)
def test_what_a_search_begins_with_has_to_be_there(world: Any, key: str, said: str) -> None:
    with pytest.raises(InvalidConfig, match=said):
        world.create(config().replace("metric: loss", f"metric: loss, {key}"))

    assert count(world) == 0


def test_a_checkpoint_that_was_deleted_is_no_beginning(world: Any) -> None:
    source = finished(world)
    uuid = world.checkpoint(world.trials(source.id)[0], 1)
    delete_checkpoints(world.platform, [uuid])

    with pytest.raises(InvalidConfig, match=f"{uuid} was deleted; name another"):
        world.create(config().replace("metric: loss", f"metric: loss, source_checkpoint_uuid: {uuid}"))


def test_a_dataset_that_is_not_there_is_refused(world: Any) -> None:
    with pytest.raises(InvalidConfig, match=r"data\.dataset: .*digits"):
        world.create(config("data: {dataset: digits}"))

    assert count(world) == 0


# ----------------------------------------------------------------------------------------------------------- going on


def finished(world: Any, more: str = "") -> Any:
    experiment = world.create(config(more))
    world.tick()
    world.finish(world.trials(experiment.id)[0])
    return experiment


def test_what_still_runs_does_not_go_on(world: Any) -> None:
    experiment = world.create(config())

    with pytest.raises(IllegalTransition, match=f"Experiment {experiment.id} is ACTIVE; only a finished one can go on"):
        continue_experiment(world.platform, experiment.id)


def test_one_that_others_ran_has_no_search_to_go_on_with(world: Any) -> None:
    experiment = world.create("{name: x, searcher: {name: single, metric: loss}}", unmanaged=True)
    kill_experiment(world.platform, experiment.id)

    with pytest.raises(IllegalTransition, match="only a finished one can go on"):
        continue_experiment(world.platform, experiment.id)


def test_what_goes_on_may_be_told_otherwise(world: Any) -> None:
    experiment = finished(world)

    gone_on = continue_experiment(world.platform, experiment.id, "{max_restarts: 9, resources: {priority: 3}}")

    now = world.experiment(experiment.id)
    assert (now.state, now.config["max_restarts"], now.progress) == (ExperimentState.ACTIVE, 9, 0.0)
    assert now.config["searcher"] == experiment.config["searcher"]
    assert gone_on.job.priority == 3


def test_what_goes_on_keeps_its_seed(world: Any) -> None:
    experiment = finished(world)

    continue_experiment(world.platform, experiment.id)

    assert world.experiment(experiment.id).config["reproducibility"] == experiment.config["reproducibility"]


def test_what_cannot_go_on_as_told_is_left_as_it_was(world: Any) -> None:
    experiment = finished(world)
    before = world.experiment(experiment.id)

    with pytest.raises(InvalidConfig):
        continue_experiment(world.platform, experiment.id, "{max_restarts: many}")

    assert world.experiment(experiment.id) == before


def test_a_trial_that_went_on_has_its_restarts_back(world: Any) -> None:
    experiment = world.create(config("max_restarts: 1"))
    (trial,) = world.trials(experiment.id)
    world.tick()
    for _ in range(2):
        world.finish(trial, 1)
        world.tick()

    continue_experiment(world.platform, experiment.id)

    awake = world.trial(trial.id)
    assert (awake.state, awake.restarts, awake.exit_reason, awake.run_id) == (TrialState.ACTIVE, 0, "", 3)
