"""Which checkpoint a run starts from: the newest whose files are all there and unchanged."""

import hashlib
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from resolute.domain.checkpoint import CheckpointState
from resolute.domain.errors import Unavailable
from resolute.engine.trials.restore import choose_checkpoint, find_damage
from resolute.store.blobs import Guard, open_blobs


@pytest.fixture
def trial(world: Any) -> Any:
    experiment = world.create()
    world.tick()
    return world.trials(experiment.id)[0]


def stored(world: Any, uuid: str) -> Any:
    with world.platform.store.read() as tx:
        return tx.checkpoints.get(uuid)


def file_of(world: Any, uuid: str) -> Path:
    return Path(stored(world, uuid).storage["host_path"]) / uuid / "model.bin"


def chosen(world: Any, trial: Any) -> tuple[str | None, int]:
    return choose_checkpoint(world.platform, world.trial(trial.id))


def test_without_one_it_starts_from_the_beginning(world: Any, trial: Any) -> None:
    assert chosen(world, trial) == (None, 0)


def test_the_newest_whole_one_is_chosen(world: Any, trial: Any) -> None:
    world.checkpoint(trial, 10)
    newest = world.checkpoint(trial, 20)

    assert chosen(world, trial) == (newest, 20)


def test_the_latest_one_reported_comes_before_one_with_more_steps(world: Any, trial: Any) -> None:
    world.checkpoint(trial, 20)
    latest = world.checkpoint(trial, 10)

    assert chosen(world, trial) == (latest, 10)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda path: path.unlink(), "file model.bin is missing"),
        (lambda path: path.write_bytes(b"longer than it was"), "file model.bin has 18 bytes, not 7"),
    ],
)
def test_a_damaged_one_is_marked_told_about_and_passed_over(world: Any, trial: Any, damage: Any, said: str) -> None:
    whole, broken = world.checkpoint(trial, 10), world.checkpoint(trial, 20)
    damage(file_of(world, broken))

    assert chosen(world, trial) == (whole, 10)
    assert stored(world, broken).state is CheckpointState.ERROR
    assert f"Checkpoint {broken} (step 20) cannot be used: {said}. Falling back" in world.log(trial)


def test_one_with_other_content_is_found_by_its_digest(world: Any, trial: Any) -> None:
    good = hashlib.sha256(b"weights").hexdigest()
    uuid = world.checkpoint(trial, 10, digests={"model.bin": good})
    assert find_damage(world.platform, stored(world, uuid)) is None

    file_of(world, uuid).write_bytes(b"WEIGHTS")

    assert find_damage(world.platform, stored(world, uuid)) == "the content of file model.bin has changed"


def test_folders_and_checkpoints_without_storage_need_no_look(world: Any, trial: Any) -> None:
    checkpoint = stored(world, world.checkpoint(trial, 10))

    assert find_damage(world.platform, replace(checkpoint, resources={**checkpoint.resources, "sub/": 0})) is None
    assert find_damage(world.platform, replace(checkpoint, storage=None, resources={"gone": 1})) is None


def test_a_store_that_is_away_damages_nothing(world: Any, trial: Any) -> None:
    uuid = world.checkpoint(trial, 10)

    def away(storage: Any) -> Any:
        raise Unavailable("the bucket does not answer")

    platform = replace(world.platform, blobs=away)

    assert choose_checkpoint(platform, world.trial(trial.id)) == (uuid, 10)
    assert stored(world, uuid).state is CheckpointState.COMPLETED


def test_one_that_was_deleted_or_found_broken_is_no_candidate(world: Any, trial: Any) -> None:
    whole = world.checkpoint(trial, 10)
    for steps, state in ((20, CheckpointState.DELETED), (30, CheckpointState.ERROR)):
        uuid = world.checkpoint(trial, steps)
        with world.platform.store.write() as tx:
            tx.checkpoints.save(replace(tx.checkpoints.get(uuid), state=state))

    assert chosen(world, trial) == (whole, 10)


def test_a_warm_start_is_the_last_resort_and_counts_no_steps(world: Any, trial: Any) -> None:
    source = world.checkpoint(trial, 70)
    text = f"""
name: warm
entrypoint: python3 train.py
searcher: {{name: single, metric: loss, source_checkpoint_uuid: {source}}}
"""
    world.finish(trial)
    experiment = world.create(text)
    (warm,) = world.trials(experiment.id)
    first = chosen(world, warm)
    world.tick()
    own = world.checkpoint(warm, 5)

    assert first == (source, 0)
    assert chosen(world, warm) == (own, 5)

    file_of(world, own).unlink()
    assert chosen(world, warm) == (source, 0)


def test_a_warm_start_that_is_gone_is_a_start_from_the_beginning(world: Any, trial: Any) -> None:
    with world.platform.store.write() as tx:
        tx.trials.save(replace(tx.trials.get(trial.id), warm_start_checkpoint="gone"))

    assert chosen(world, trial) == (None, 0)


def test_the_files_of_the_fixture_are_where_the_tests_look(world: Any, trial: Any) -> None:
    uuid = world.checkpoint(trial, 10)

    assert file_of(world, uuid).read_bytes() == b"weights"
    assert open_blobs(stored(world, uuid).storage).files(uuid) == {"model.bin": 7}


def test_one_that_was_swapped_for_a_link_is_damaged(world: Any, trial: Any, tmp_path: Path) -> None:
    uuid = world.checkpoint(trial, 10)
    folder = file_of(world, uuid).parent
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved")
    guarded = replace(world.platform, blobs=partial(open_blobs, guard=Guard(world.home)))

    fault = find_damage(guarded, stored(world, uuid))

    assert fault is not None
    assert "a link that leads out of it" in fault
