"""Models of other kinds go all the way: masks from labels to drawings, and a transformer, both through a resume."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import torch

from resolute.imagery.shards.pack import pack
from resolute.vision import load_detector, predict_large
from resolute.vision.data.masks import masks_of
from resolute.vision.drawing import draw_detections
from resolute.vision.trial import DetectionTrial

Fit = Callable[..., DetectionTrial]
Reports = Callable[[str, str], list[dict[str, Any]]]
WriteSet = Callable[..., str]
FEW = {
    "rpn_post_nms_top_n_train": 8, "rpn_post_nms_top_n_test": 4, "box_batch_size_per_image": 4,
    "rpn_pre_nms_top_n_train": 16, "rpn_pre_nms_top_n_test": 8,
}  # fmt: skip
MASKS: dict[str, Any] = {
    "model": "maskrcnn_resnet50_fpn", "masks": True, "global_batch_size": 2, "num_classes": None, "lr": 1e-5,
    "model_options": FEW, "detections_per_image": 3, "score_threshold": 0.0, "backend": "packed",
}  # fmt: skip
TRANSFORMER: dict[str, Any] = {
    "model": "rtdetr_r18", "optimizer": "adamw", "lr": 1e-4, "model_options": {"num_queries": 20},
    "fake_images": 4, "global_batch_size": 2, "score_threshold": 0.0,
}  # fmt: skip


@pytest.fixture
def packed(write_set: WriteSet, tmp_path: Path) -> dict[str, str]:
    """Pictures with outlines, packed: what to train on, and where shards are kept."""
    folder = Path(write_set([(64, 64)] * 2, outlines=True))
    for split in ("train", "val"):
        pack(folder / f"{split}_images", folder / f"{split}.json", f"{tmp_path}/packed/{split}")
    return {"data_dir": f"{tmp_path}/packed", "cache_dir": f"{tmp_path}/cache"}


def newest(folder: Path) -> Path:
    return max((folder / "checkpoints").iterdir(), key=lambda path: path.stat().st_mtime)


def losses(reports: Reports, run: str) -> list[tuple[int, float]]:
    return [(row["steps"], row["metrics"]["loss"]) for row in reports(run, "training")]


def test_masks_are_learnt_resumed_measured_found_and_drawn(
    fit: Fit, reports: Reports, packed: dict[str, str], tmp_path: Path
) -> None:
    fit("whole", 2, **MASKS, **packed)
    fit("parts", 1, **MASKS, **packed)
    trial = fit("parts", 2, resume=True, **MASKS, **packed)

    detector = load_detector(newest(tmp_path / "parts"))
    picture = cv2.cvtColor(cv2.imread(str(tmp_path / "set" / "val_images" / "1.png")), cv2.COLOR_BGR2RGB)
    (found,) = detector.detect([picture])
    drawn = draw_detections(picture, found, detector.classes)

    (triangle,) = masks_of(trial.splits.train.samples[0])
    assert int(triangle.sum()) == pytest.approx(24 * 24 / 2, abs=24)
    assert losses(reports, "parts") == losses(reports, "whole")
    assert all("loss_mask" in row["metrics"] for row in reports("parts", "training"))
    assert {"mAP", "mask_mAP", "mask_mAP_50"} <= set(reports("parts", "validation")[-1]["metrics"])
    assert len(list((newest(tmp_path / "parts") / "evaluation").glob("worst-*.jpg"))) == 2
    assert detector.has_masks
    assert found.masks is not None
    assert found.masks.shape == (len(found), 64, 64)
    assert len(found)
    assert not np.array_equal(drawn, picture)


def test_a_transformer_is_trained_resumed_measured_and_predicts(fit: Fit, reports: Reports, tmp_path: Path) -> None:
    fit("whole", 2, **TRANSFORMER)
    fit("parts", 1, **TRANSFORMER)
    trial = fit("parts", 2, resume=True, **TRANSFORMER)

    detector = load_detector(newest(tmp_path / "parts"))
    found = predict_large(detector, np.zeros((100, 100, 3), np.uint8), slice_size=64, score_threshold=0.0)

    assert losses(reports, "parts") == losses(reports, "whole")
    assert "mAP_50" in reports("parts", "validation")[-1]["metrics"]
    assert all(torch.equal(detector.model.state_dict()[name], value) for name, value in trial.weights().items())
    assert len(found)
    assert set(found.labels.tolist()) <= {1, 2}
