"""Copies of training state: complete, independent, and without new memory each time."""

from collections import namedtuple
from pathlib import Path

import pytest
import torch

from resolute.domain.errors import CheckpointDamaged, InvalidInput
from resolute.training.manifest import check_folder, describe_folder
from resolute.training.snapshot import Snapshots
from resolute.training.state_file import read_state, write_state

Pair = namedtuple("Pair", "left right")


def test_a_snapshot_does_not_change_with_the_original() -> None:
    weights = torch.ones(3)
    snapshot = Snapshots().take({"w": weights, "list": [weights], "pair": Pair(weights, 1), "step": 5})

    weights.zero_()
    state = snapshot.on_host()

    assert torch.equal(state["w"], torch.ones(3))
    assert torch.equal(state["list"][0], torch.ones(3))
    assert torch.equal(state["pair"].left, torch.ones(3))
    assert state["step"] == 5


def test_the_second_snapshot_reuses_the_memory_of_the_first() -> None:
    snapshots = Snapshots()
    weights = torch.ones(1000)

    first = snapshots.take({"w": weights}).on_host()["w"].data_ptr()
    second = snapshots.take({"w": weights + 1}).on_host()["w"]

    assert second.data_ptr() == first
    assert second[0] == 2.0


def test_a_tensor_that_changed_shape_gets_new_memory() -> None:
    snapshots = Snapshots()
    snapshots.take({"w": torch.ones(2)})

    assert snapshots.take({"w": torch.ones(3, dtype=torch.float64)}).on_host()["w"].dtype is torch.float64


def test_state_is_read_back_without_running_code(tmp_path: Path) -> None:
    write_state({"w": torch.ones(2), "n": 1, "t": (1, "x")}, tmp_path / "state.pt")

    state = read_state(tmp_path / "state.pt")

    assert state["t"] == (1, "x")


def test_state_that_would_run_code_is_refused(tmp_path: Path) -> None:
    write_state({"path": tmp_path}, tmp_path / "state.pt")

    with pytest.raises(InvalidInput, match="more than tensors and plain values"):
        read_state(tmp_path / "state.pt")


def test_a_missing_state_file_names_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "model.keras").write_text("x")

    with pytest.raises(CheckpointDamaged, match=r"no file state.pt; it holds model.keras"):
        read_state(tmp_path / "state.pt")


def test_a_manifest_finds_what_was_cut_changed_or_lost(tmp_path: Path) -> None:
    for name in ("a", "b", "c", "d"):
        (tmp_path / name).write_bytes(b"12345")
    facts = describe_folder(tmp_path)
    sizes = {path: fact.size for path, fact in facts.items()}
    digests = {path: fact.sha256 for path, fact in facts.items()}
    (tmp_path / "a").write_bytes(b"123")
    (tmp_path / "b").write_bytes(b"54321")
    (tmp_path / "c").unlink()

    with pytest.raises(CheckpointDamaged) as damage:
        check_folder("u", tmp_path, sizes, digests)

    assert "a has 3 bytes instead of 5" in str(damage.value)
    assert "b has other content" in str(damage.value)
    assert "c is missing" in str(damage.value)
    assert "; d" not in str(damage.value)
