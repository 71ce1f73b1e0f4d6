"""Reading a trial's environment: whole, absent, or refused by name."""

from pathlib import Path

import pytest

from resolute.client.task.fake import FakeTaskMaster
from resolute.domain.errors import InvalidInput
from resolute.training.environment import Place, read_place, read_trial


@pytest.fixture
def env(master: FakeTaskMaster, tmp_path: Path) -> dict[str, str]:
    return master.env(tmp_path)


def test_a_whole_environment_is_a_trial(env: dict[str, str]) -> None:
    trial = read_trial({**env, "DET_LATEST_CHECKPOINT": "abc", "DET_SLOT_IDS": "[0, 1]", "DET_HPARAMS": '{"lr": 1}'})

    assert trial is not None
    assert (trial.trial_id, trial.experiment_id, trial.run_id, trial.seed, trial.slots) == (7, 3, 1, 11, 2)
    assert trial.hparams == {"lr": 1}
    assert trial.latest_checkpoint == "abc"
    assert trial.storage["type"] == "shared_fs"


def test_nothing_set_means_off_cluster() -> None:
    assert read_trial({}) is None


def test_half_an_environment_is_refused_by_name(env: dict[str, str]) -> None:
    del env["DET_SESSION_TOKEN"]

    with pytest.raises(InvalidInput, match="DET_SESSION_TOKEN is not"):
        read_trial(env)


@pytest.mark.parametrize(("name", "value"), [("DET_TRIAL_SEED", "many"), ("DET_HPARAMS", "{lr")])
def test_a_broken_value_is_named(env: dict[str, str], name: str, value: str) -> None:
    with pytest.raises(InvalidInput, match=name):
        read_trial({**env, name: value})


def test_a_missing_storage_says_what_to_add(env: dict[str, str]) -> None:
    trial = read_trial({**env, "DET_EXPERIMENT_CONFIG": "{}"})

    assert trial is not None
    with pytest.raises(InvalidInput, match="Add one to the experiment's YAML"):
        _ = trial.storage


def test_the_token_is_not_shown(env: dict[str, str]) -> None:
    assert "fake-token" not in repr(read_trial(env))


@pytest.mark.parametrize(
    ("variables", "place"),
    [
        ({}, Place()),
        (
            {"RANK": "5", "WORLD_SIZE": "8", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "4"},
            Place(rank=5, size=8, local_rank=1, local_size=4),
        ),
        ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}, Place(rank=1, size=2, local_size=2)),
        (
            {"RANK": "0", "WORLD_SIZE": "2", "TORCHELASTIC_RESTART_COUNT": "2"},
            Place(size=2, local_size=2, restart=2),
        ),
    ],
)
def test_the_rank_comes_from_torchrun_or_mpi(variables: dict[str, str], place: Place) -> None:
    assert read_place(variables) == place


def test_a_rank_that_is_no_number_is_named() -> None:
    with pytest.raises(InvalidInput, match="WORLD_SIZE is 'two'"):
        read_place({"RANK": "0", "WORLD_SIZE": "two"})
