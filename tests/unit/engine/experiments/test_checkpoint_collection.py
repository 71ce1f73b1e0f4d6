"""Checkpoints that nobody wants any more: which they are, what keeps them, and a store that is away."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from resolute.domain.checkpoint import CheckpointState
from resolute.domain.errors import IllegalTransition, NotFound, Unavailable
from resolute.domain.retention import RetentionPolicy
from resolute.engine.experiments.collection import (
    ask_after_restart,
    collect,
    collect_pending,
    delete_checkpoints,
    forget_files,
    preview_gc,
    remove_checkpoint_files,
)
from resolute.engine.registry.models import create_model, register_version

CONFIG = """
name: test
entrypoint: python3 train.py
searcher: {name: single, metric: loss}
checkpoint_storage: {type: shared_fs, host_path: PLACE}
max_restarts: 0
"""
NONE = RetentionPolicy(save_experiment_best=0, save_trial_best=0, save_trial_latest=0)


@pytest.fixture
def trial(world: Any) -> Any:
    experiment = world.create(CONFIG.replace("PLACE", str(world.home / "own")))
    world.tick()
    return world.trials(experiment.id)[0]


def three(world: Any, trial: Any) -> list[str]:
    """The second is the best, the third the latest."""
    uuids = []
    for step, loss in ((1, 0.5), (2, 0.1), (3, 0.3)):
        world.validate(trial, step, loss=loss)
        uuids.append(world.checkpoint(trial, step))
    return uuids


def state(world: Any, uuid: str) -> CheckpointState:
    with world.platform.store.read() as tx:
        found: CheckpointState = tx.checkpoints.get(uuid).state
    return found


def states(world: Any, uuids: list[str]) -> list[str]:
    return [str(state(world, uuid)) for uuid in uuids]


def folder(world: Any, uuid: str) -> Path:
    return Path(world.home / "own" / uuid)


def test_the_best_and_the_latest_are_kept_and_the_rest_goes(world: Any, trial: Any) -> None:
    uuids = three(world, trial)
    world.finish(trial)

    gone = collect(world.platform, trial.experiment_id)

    assert gone == 1
    assert states(world, uuids) == ["DELETED", "COMPLETED", "COMPLETED"]
    assert [folder(world, uuid).joinpath("model.bin").exists() for uuid in uuids] == [False, True, True]


def test_collecting_again_finds_nothing(world: Any, trial: Any) -> None:
    three(world, trial)
    world.finish(trial)
    collect(world.platform, trial.experiment_id)

    assert collect(world.platform, trial.experiment_id) == 0


def test_what_a_running_trial_would_go_on_from_is_kept_whatever_the_policy(world: Any, trial: Any) -> None:
    uuids = three(world, trial)
    with world.platform.store.write() as tx:
        experiment = tx.experiments.get(trial.experiment_id)
        section = {**experiment.config["checkpoint_storage"], "save_trial_best": 0, "save_trial_latest": 0}
        tx.experiments.save(replace(experiment, config={**experiment.config, "checkpoint_storage": section}))

    collect(world.platform, trial.experiment_id)

    assert states(world, uuids) == ["DELETED", "DELETED", "COMPLETED"]


def test_a_preview_touches_nothing(world: Any, trial: Any) -> None:
    uuids = three(world, trial)

    doomed = preview_gc(world.platform, trial.experiment_id, NONE)

    assert {view.checkpoint.uuid for view in doomed} == set(uuids)
    assert states(world, uuids) == ["COMPLETED"] * 3


def test_what_others_run_collects_itself(world: Any) -> None:
    experiment = world.create("{name: x, searcher: {name: single, metric: loss}}", unmanaged=True)

    assert collect(world.platform, experiment.id) == 0


def test_a_store_that_is_away_is_logged_and_holds_nobody_up(world: Any, trial: Any, caplog: Any) -> None:
    uuids = three(world, trial)
    world.finish(trial)

    def away(storage: Any) -> Any:
        raise Unavailable("the bucket does not answer")

    world.platform.to_collect.put(trial.experiment_id)
    world.platform.to_collect.put(99)
    collect_pending(replace(world.platform, blobs=away))
    first = states(world, uuids)
    world.platform.to_collect.put(trial.experiment_id)
    collect_pending(world.platform)

    assert first == ["COMPLETED"] * 3
    assert states(world, uuids)[0] == "DELETED"
    assert (
        f"checkpoints of experiment {trial.experiment_id} were not collected: the bucket does not answer" in caplog.text
    )


def test_a_master_that_starts_looks_again_at_what_ended_lately(world: Any, trial: Any) -> None:
    three(world, trial)
    world.finish(trial)
    while not world.platform.to_collect.empty():
        world.platform.to_collect.get()

    ask_after_restart(world.platform)
    lately = world.platform.to_collect.qsize()
    world.platform.to_collect.get()
    world.clock.forward(2 * 86_400)
    ask_after_restart(world.platform)

    assert (lately, world.platform.to_collect.qsize()) == (1, 0)


# ------------------------------------------------------------------------------------------------------ people's wishes


def test_people_delete_what_they_name(world: Any, trial: Any) -> None:
    uuids = three(world, trial)

    delete_checkpoints(world.platform, uuids[:2])
    delete_checkpoints(world.platform, uuids[:1])

    assert states(world, uuids) == ["DELETED", "DELETED", "COMPLETED"]


def test_nothing_is_deleted_when_one_of_them_is_not_there(world: Any, trial: Any) -> None:
    uuids = three(world, trial)

    with pytest.raises(NotFound, match="checkpoint not found: gone"):
        delete_checkpoints(world.platform, [uuids[0], "gone"])

    assert state(world, uuids[0]) is CheckpointState.COMPLETED


def test_a_registered_one_is_kept_and_with_it_the_others_that_were_named(world: Any, trial: Any) -> None:
    uuids = three(world, trial)
    create_model(world.platform, name="champion", user=world.user)
    register_version(world.platform, "champion", checkpoint_uuid=uuids[1], user=world.user)

    for deed in (delete_checkpoints, lambda platform, named: remove_checkpoint_files(platform, named, ["*"])):
        with pytest.raises(IllegalTransition, match="in the model registry and cannot be deleted: champion"):
            deed(world.platform, uuids)

    assert states(world, uuids) == ["COMPLETED"] * 3


def test_one_that_another_experiment_starts_from_is_kept(world: Any, trial: Any) -> None:
    uuid = world.checkpoint(trial, 1)
    world.create(
        f"{{name: x, entrypoint: x, searcher: {{name: single, metric: loss, source_checkpoint_uuid: {uuid}}}}}"
    )

    with pytest.raises(IllegalTransition, match="or a trial starts from it; nothing was deleted"):
        delete_checkpoints(world.platform, [uuid])

    assert state(world, uuid) is CheckpointState.COMPLETED


def test_files_that_match_go_and_the_checkpoint_stays_as_far_as_something_is_left(world: Any, trial: Any) -> None:
    uuid = world.checkpoint(trial, 1)
    world.platform.blobs({"type": "shared_fs", "host_path": str(world.home / "own")}).write(uuid, "log.txt", b"x")

    remove_checkpoint_files(world.platform, [uuid], ["*.bin"])
    first = state(world, uuid)
    remove_checkpoint_files(world.platform, [uuid], ["*"])

    assert first is CheckpointState.PARTIALLY_DELETED
    assert state(world, uuid) is CheckpointState.DELETED


def test_a_pattern_that_matches_nothing_changes_nothing(world: Any, trial: Any) -> None:
    uuid = world.checkpoint(trial, 1)

    remove_checkpoint_files(world.platform, [uuid], ["*.onnx"])

    assert state(world, uuid) is CheckpointState.COMPLETED


@pytest.mark.parametrize(
    ("left", "state_after"),
    [
        ({"model.bin": 7}, CheckpointState.COMPLETED),
        ({"model.bin": 3}, CheckpointState.PARTIALLY_DELETED),
        ({}, CheckpointState.DELETED),
    ],
)
def test_files_that_the_trial_itself_deleted_are_forgotten(
    world: Any, trial: Any, left: dict[str, int], state_after: CheckpointState
) -> None:
    uuid = world.checkpoint(trial, 1)

    forget_files(world.platform, uuid, left)

    assert state(world, uuid) is state_after
