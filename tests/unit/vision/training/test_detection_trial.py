"""The trial: what it reports and saves, exact resume, and what it refuses before it starts."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import torch

from resolute.domain.errors import InvalidInput
from resolute.vision import load_detector
from resolute.vision.checkpoint import read_record
from resolute.vision.trial import DetectionTrial

Fit = Callable[..., DetectionTrial]
Reports = Callable[[str, str], list[dict[str, Any]]]


def checkpoint_of(folder: Path) -> Path:
    return max((folder / "checkpoints").iterdir(), key=lambda path: path.stat().st_mtime)


def test_a_training_reports_losses_rate_pace_and_coco_numbers(fit: Fit, reports: Reports) -> None:
    fit("run", 4, warmup="linear", warmup_iters=4, warmup_ratio=0.5)

    training = [report["metrics"] for report in reports("run", "training")]
    (validation,) = (report["metrics"] for report in reports("run", "validation"))
    assert {"loss", "bbox_regression", "classification", "lr", "images_per_second"} <= set(training[0])
    assert training[0]["loss"] == pytest.approx(
        training[0]["bbox_regression"] + training[0]["classification"], rel=1e-5
    )
    assert [row["lr"] for row in training] == pytest.approx([0.00625, 0.0075, 0.00875, 0.01])
    assert {"mAP", "mAP_50", "mAP_75", "mAP_small", "mAP_medium", "mAP_large", "mAR_100"} <= set(validation)


def test_a_checkpoint_holds_a_detector_with_its_classes(fit: Fit, tmp_path: Path) -> None:
    trial = fit("run", 2)

    folder = checkpoint_of(tmp_path / "run")
    detector = load_detector(folder)
    record = read_record(folder)
    (found,) = detector.detect([np.zeros((64, 64, 3), np.uint8)])

    assert [row.name for row in detector.classes] == ["class 0", "class 1"]
    assert record.training["batches"] == 2
    assert record.training["hyperparameters"]["lr"] == 0.01
    assert (folder / "state-rank0.pt").exists()
    assert len(found) >= 0
    for name, value in trial.model.state_dict().items():
        assert torch.equal(detector.model.state_dict()[name], value)


def test_a_checkpoint_holds_the_evaluation_of_its_weights(fit: Fit, reports: Reports, tmp_path: Path) -> None:
    fit("run", 2)

    document = json.loads((checkpoint_of(tmp_path / "run") / "evaluation.json").read_text())

    (validation,) = (report["metrics"] for report in reports("run", "validation"))
    assert document["steps"] == 2
    assert document["summary"]["mAP"] == pytest.approx(validation["mAP"])
    assert {each["name"] for each in document["classes"]} == {"class 0", "class 1"}


def test_pictures_of_an_evaluation_show_what_was_measured(
    fit: Fit, write_set: Callable[..., str], tmp_path: Path
) -> None:
    fit("run", 1, backend="local", data_dir=write_set([(160, 96)] * 4), num_classes=None, tile_size=64)

    document = json.loads((checkpoint_of(tmp_path / "run") / "evaluation.json").read_text())

    pictures = [checkpoint_of(tmp_path / "run") / row["picture"] for row in document["images"]["worst"]]
    assert len(pictures) == 6
    # Windows of 64 pixels below a caption and side by side, not the image of 160 x 96 that they were cut from.
    assert {cv2.imread(str(path)).shape for path in pictures} == {(64 + 22, 64 + 6 + 64, 3)}


def test_a_resumed_training_gives_the_same_losses_and_weights(fit: Fit, reports: Reports) -> None:
    extras = {"ema": 0.9, "data_augmentation": ["ssdlite", "photometric"], "optimizer": "adamw", "clip_gradients": 5.0}
    whole = fit("whole", 7, **extras)
    fit("parts", 4, **extras)

    resumed = fit("parts", 7, resume=True, **extras)

    def losses(name: str) -> list[tuple[int, float]]:
        return [(report["steps"], report["metrics"]["loss"]) for report in reports(name, "training")]

    assert losses("parts") == losses("whole")
    assert all(
        torch.equal(ours, theirs)
        for ours, theirs in zip(resumed.weights().values(), whole.weights().values(), strict=True)
    )


def test_the_averaged_weights_are_the_ones_that_are_saved(fit: Fit, tmp_path: Path) -> None:
    trial = fit("run", 3, ema=0.99)

    saved = load_detector(checkpoint_of(tmp_path / "run")).model.state_dict()

    name = "backbone.features.0.0.0.weight"
    assert trial.average is not None
    assert torch.equal(saved[name], trial.average.weights()[name])
    assert not torch.equal(saved[name], trial.model.state_dict()[name])


@pytest.mark.parametrize(
    "hparams",
    [
        {"augment_on": "gpu", "data_augmentation": ["hflip", "photometric"]},
        {"norm": "frozen", "channels_last": True, "precision": "bf16"},
        {"repeat_threshold": 0.9, "data_augmentation": "mosaic", "lr_scheduler": "cosine"},
        {"norm": "sync", "num_workers": 1, "step1": 1, "step2": 2},
    ],
)
def test_every_way_to_train_gives_finite_losses(fit: Fit, reports: Reports, hparams: dict[str, Any]) -> None:
    fit("run", 2, **hparams)

    assert all(np.isfinite(report["metrics"]["loss"]) for report in reports("run", "training"))


@pytest.mark.parametrize(
    ("hparams", "sentence"),
    [
        ({"global_batch_size": 1}, "needs 2 at once"),
        ({"masks": True}, "finds boxes only"),
        ({"precision": "fp16"}, "needs a GPU"),
        ({"fast": True}, "has no fast path"),
        ({"model": "ssdlite"}, "There is no model 'ssdlite'"),
        ({"backend": "local"}, "There is no data_dir"),
        ({"weights": "nowhere.pth"}, "There are no weights at nowhere.pth"),
        ({"warmup": "slow"}, "warmup is 'slow'"),
        ({"ema": 3}, "ema is 3"),
        ({"augment_on": "gpu", "data_augmentation": "mosaic"}, "not 'mosaic'"),
        ({"min_size": 16}, "use at least 32"),
    ],
)
def test_what_cannot_be_trained_ends_with_a_sentence(fit: Fit, hparams: dict[str, Any], sentence: str) -> None:
    from resolute.domain.errors import ResoluteError

    with pytest.raises(ResoluteError, match=sentence):
        fit("run", 4, **hparams)


def test_the_number_of_workers_changes_nothing_that_is_learnt(fit: Fit, reports: Reports) -> None:
    fit("alone", 3, data_augmentation=["ssd"])
    fit("helped", 3, data_augmentation=["ssd"], num_workers=1)

    alone, helped = ([row["metrics"]["loss"] for row in reports(name, "training")] for name in ("alone", "helped"))
    assert alone == helped


def test_the_fast_path_gives_a_checkpoint_like_any_other(fit: Fit, tmp_path: Path) -> None:
    small = {"model": "fasterrcnn_mobilenet_v3_large_320_fpn", "max_size": 64, "fake_images": 4, "global_batch_size": 2}
    few = {"rpn_post_nms_top_n_train": 8, "rpn_pre_nms_top_n_train": 16, "box_batch_size_per_image": 4}
    trial = fit("run", 1, **small, model_options=few, fast=True)

    saved = load_detector(checkpoint_of(tmp_path / "run")).model.state_dict()

    assert all(torch.equal(saved[name], value) for name, value in trial.model.state_dict().items())


def test_a_device_that_is_not_there_is_told_and_the_cpu_used(fit: Fit, caplog: pytest.LogCaptureFixture) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")

    fit("run", 1, device="cuda")

    assert "torch sees no GPU here" in caplog.text


def test_a_batch_smaller_than_the_slots_is_refused() -> None:
    from resolute.training.environment import Place
    from resolute.training.pytorch.context import TrialContext

    context = TrialContext.__new__(TrialContext)
    context.distributed = Place(rank=0, size=4, local_rank=0, local_size=4)
    context._global_batch_size = 2

    with pytest.raises(InvalidInput, match="smaller than the 4 slots"):
        context.get_global_batch_size()
