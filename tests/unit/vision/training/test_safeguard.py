"""Batches whose loss is not a number leave no trace; too many in a row end a training with a sentence, for good."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from resolute.client.task.fake import FakeTaskMaster
from resolute.pytorch import Batch, Trainer, init
from resolute.vision.safeguard import Safeguard
from resolute.vision.train import main
from resolute.vision.trial import DetectionTrial

Fit = Callable[..., DetectionTrial]
Reports = Callable[[str, str], list[dict[str, Any]]]
SMALL = {
    "model": "ssdlite320_mobilenet_v3_large", "min_size": 64, "backend": "fake", "fake_images": 8, "fake_size": 64,
    "global_batch_size": 2, "num_classes": 3,
}  # fmt: skip


class Poisoned(DetectionTrial):
    """Some batches have pixels that are not numbers."""

    bad: tuple[int, ...] = ()
    seen: list[dict[str, torch.Tensor]]

    def _augmented(self, batch: Any, step: int) -> Any:
        images, targets = super()._augmented(batch, step)
        return ([image * float("nan") for image in images] if step in self.bad else images), targets

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        result = super().train_batch(batch, epoch_idx, batch_idx)
        self.seen.append({name: value.clone() for name, value in self.model.state_dict().items()})
        return result


def poisoned(folder: Path, *bad: int, batches: int = 4, **hparams: Any) -> Poisoned:
    with init(hparams={**SMALL, **hparams}, folder=folder) as context:
        trial = Poisoned(context)
        trial.bad, trial.seen = bad, []
        Trainer(trial, context).fit(max_length=Batch(batches), reporting_period=Batch(1))
    return trial


def test_a_bad_batch_changes_neither_weights_nor_batch_statistics(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    trial = poisoned(tmp_path, 1, ema=0.9)

    first, second, third = trial.seen[:3]
    for name, value in first.items():
        if not name.endswith("num_batches_tracked"):
            assert torch.equal(second[name], value), name
    assert not torch.equal(third["backbone.features.0.0.0.weight"], second["backbone.features.0.0.0.weight"])
    assert trial.average is not None
    assert all(value.isfinite().all() for value in trial.average.weights().values())
    assert (
        "Batch 2: the loss or its gradient is not a number, so the step was left out; 1 batches so far" in caplog.text
    )


def test_the_curve_shows_the_batch_that_was_left_out(tmp_path: Path, reports: Reports) -> None:
    poisoned(tmp_path / "run", 1, batches=3)

    losses = [row["metrics"]["loss"] for row in reports("run", "training")]

    assert losses[1] == "NaN"
    assert isinstance(losses[2], float)


def test_bad_batches_apart_from_one_another_do_not_end_a_training(tmp_path: Path) -> None:
    trial = poisoned(tmp_path, 0, 2, bad_batches=1)

    assert trial.context.steps == 4


def test_too_many_in_a_row_end_the_training_with_place_value_and_remedy(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    trial = poisoned(tmp_path, 1, 2, 3, bad_batches=1, lr=0.03, precision="bf16")

    assert trial.context.steps == 2
    assert "not a number in 2 batches in a row, at last in batch 3 (bbox_regression nan" in caplog.text
    assert "Lower lr (it is 0.03)" in caplog.text
    assert "use precision: fp32 in place of bf16" in caplog.text
    assert "early exit: INVALID_HP" in capsys.readouterr().out


def test_a_training_that_diverges_is_told_to_the_master_and_leaves_without_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = {"searcher": {"name": "single", "metric": "mAP", "max_length": {"batches": 5}}, "scheduling_unit": 1}
    hparams = '{"lr": 1e30, "bad_batches": 1, ' + ", ".join(f'"{k}": {_json(v)}' for k, v in SMALL.items()) + "}"
    with FakeTaskMaster() as master:
        for name, value in master.env(tmp_path, config=config, DET_HPARAMS=hparams).items():
            monkeypatch.setenv(name, value)

        code = main([])

    assert code == 0
    assert any(path.endswith("/early_exit") for path in master.paths())
    assert not any(path.endswith("/checkpoints") for path in master.paths())


def test_hyperparameters_that_cannot_be_built_are_told_to_the_master_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    hparams = '{"model": "ssd300_vgg16", "min_size": 64, "backend": "fake", "global_batch_size": 2}'
    with FakeTaskMaster() as master:
        for name, value in master.env(tmp_path, DET_HPARAMS=hparams).items():
            monkeypatch.setenv(name, value)

        code = main([])

    assert code == 0
    assert any(path.endswith("/early_exit") for path in master.paths())
    assert "Invalid hyperparameters: Model ssd300_vgg16" in caplog.text


@pytest.mark.parametrize(("searcher", "code"), [("single", 0), ("grid", 0), ("random", 1), ("adaptive_asha", 1)])
def test_data_that_no_trial_can_have_fails_a_search_that_would_replace_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, searcher: str, code: int
) -> None:
    hparams = '{"backend": "local", "global_batch_size": 2}'
    config = {"searcher": {"name": searcher, "metric": "mAP", "max_length": {"batches": 5}}}
    with FakeTaskMaster() as master:
        for name, value in master.env(tmp_path, config=config, DET_HPARAMS=hparams).items():
            monkeypatch.setenv(name, value)

        ended = main([])

    assert ended == code
    assert any(path.endswith("/early_exit") for path in master.paths()) is (code == 0)


def test_on_its_own_a_training_that_diverges_ends_with_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    options = [f"--{name.replace('_', '-')}={value}" for name, value in SMALL.items()]

    code = main([*options, "--lr=1e30", "--bad-batches=0", "--batches=5", f"--folder={tmp_path}"])

    assert code == 1
    assert "nothing after this would be learnt" in caplog.text


def test_momentum_begins_as_zeros_where_a_fused_step_could_be_left_out() -> None:
    """Torch makes it of unwritten memory in the first step, also when that step is left out."""
    layer = nn.Linear(3, 3)
    plain = torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)
    fused = torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9, fused=True)

    Safeguard(layer, plain, limit=3)
    Safeguard(layer, fused, limit=3)

    assert not plain.state
    assert all(not state["momentum_buffer"].any() for state in fused.state.values())
    assert len(fused.state) == 2


def _json(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)
