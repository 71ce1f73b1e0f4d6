"""Stored configurations as checked values."""

from typing import Any

import pytest

from resolute.domain.errors import InvalidConfig, InvalidInput
from resolute.domain.retention import RetentionPolicy
from resolute.engine.experiments.changes import patch_experiment
from resolute.engine.experiments.configuration import checked, configuration_of, retention_of
from resolute.engine.experiments.submission import continue_experiment
from resolute.engine.jobs.queue import JobUpdate, update_jobs
from resolute.spec.limits import MAX_LABELS


def test_equal_content_is_parsed_once(world: Any) -> None:
    experiment = world.create()

    first = configuration_of(experiment)

    assert configuration_of(world.experiment(experiment.id)) is first
    assert checked({**experiment.config}) is first


def test_other_content_is_another_value(world: Any) -> None:
    experiment = world.create()

    longer = checked({**experiment.config, "max_restarts": 7})

    assert (configuration_of(experiment).max_restarts, longer.max_restarts) == (2, 7)


def test_what_is_stored_is_what_was_parsed(world: Any) -> None:
    experiment = world.create()

    assert configuration_of(experiment).resolved() == experiment.config


def test_one_that_another_version_wrote_is_refused_with_its_place(world: Any) -> None:
    experiment = world.create()

    with pytest.raises(InvalidConfig, match="stored configuration: warp_drive"):
        checked({**experiment.config, "warp_drive": True})


def test_what_is_kept_by_default_is_written_down_once(world: Any) -> None:
    assert retention_of(configuration_of(world.create())) == RetentionPolicy()


PATCHES: list[dict[str, Any]] = [
    {"name": "other"},
    {"description": ""},
    {"labels": ["a", "b", "a"]},
    {"labels": []},
    {"notes": "a\nb"},
    {"priority": 1},
    {"priority": 99},
    {"weight": 0.5},
    {"weight": 2},
    {"max_slots": 0},
    {"max_slots": None},
    {"gc_policy": RetentionPolicy(save_experiment_best=3, save_trial_best=0, save_trial_latest=2)},
]


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: "-".join(f"{k}={v!r:.12}" for k, v in patch.items()))
def test_a_configuration_that_was_changed_can_be_read_again(world: Any, patch: dict[str, Any]) -> None:
    experiment = world.create()

    changed = patch_experiment(world.platform, experiment.id, **patch)

    assert configuration_of(changed).resolved() == changed.config
    assert configuration_of(world.experiment(experiment.id)).resolved() == changed.config


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ({"name": "a\0b"}, "name.*NUL byte"),
        ({"labels": [str(number) for number in range(MAX_LABELS + 1)]}, "labels"),
        ({"max_slots": 10**9}, "max_slots"),
    ],
)
def test_a_change_that_could_not_be_read_again_is_refused_and_nothing_is_stored(
    world: Any, patch: dict[str, Any], said: str
) -> None:
    experiment = world.create()

    with pytest.raises(InvalidConfig, match=said):
        patch_experiment(world.platform, experiment.id, **patch)

    assert world.experiment(experiment.id) == experiment


def test_what_is_changed_in_the_queue_stands_in_the_configuration(world: Any) -> None:
    experiment = world.create()

    update_jobs(world.platform, [JobUpdate(job_id=experiment.job_id, priority=7)])
    update_jobs(world.platform, [JobUpdate(job_id=experiment.job_id, weight=3.0)])

    resources = configuration_of(world.experiment(experiment.id)).resources
    assert (resources.priority, resources.weight) == (7, 3.0)


# --------------------------------------------------------------------------------------------- what is read out of it

BASE = """
name: test
entrypoint: python3 train.py
searcher: {name: single, metric: loss%s}
%s
"""


def config(world: Any, searcher: str = "", rest: str = "") -> Any:
    return configuration_of(world.create(BASE % (searcher, rest)))


@pytest.mark.parametrize(
    ("searcher", "length"),
    [
        ("", 1),
        (", max_length: {batches: 70}", 70),
        (", max_length: {epochs: 3}", 3),
        (", max_length: 12", 12),
        (", time_metric: seconds, max_time: 40", 40),
    ],
)
def test_the_full_length_is_in_whatever_unit_was_given(world: Any, searcher: str, length: int) -> None:
    assert config(world, searcher).searcher.full_length == length


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ("64", 64),
        ("{type: const, val: 32}", 32),
        ("16.0", 16),
        ("true", 1),
        ("many", 1),
        ("{type: categorical, vals: [8, 16]}", 1),
    ],
)
def test_the_batch_size_is_that_of_a_constant_number(world: Any, value: str, size: int) -> None:
    found = config(world, rest=f"hyperparameters: {{global_batch_size: {value}}}")

    assert found.global_batch_size == size


def test_a_search_that_makes_no_more_trials_says_so_when_it_is_to_go_on(world: Any) -> None:
    space = "hyperparameters: {lr: {type: categorical, vals: [0.1, 0.2]}}"
    experiment = world.create(BASE.replace("single", "grid") % ("", space))
    world.tick()
    for trial in world.trials(experiment.id):
        world.validate(trial, 1, loss=0.5)
        world.finish(trial)

    with pytest.raises(InvalidInput, match=r"nothing left to train.*searcher, grid, makes no more\. Fork it"):
        continue_experiment(world.platform, experiment.id)
