"""A saved detector is loaded as it was, looks at images of any size, and refuses what it cannot use."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from resolute.domain.errors import InvalidInput, NotFound
from resolute.vision import ClassName, load_detector
from resolute.vision.checkpoint import RECORD_FILE, WEIGHTS_FILE, DetectorRecord, read_record, write_detector
from resolute.vision.detector import TorchDetector, as_detections

CLASSES = (ClassName(0, "Fixed-wing Aircraft"), ClassName(3, "Helicopter"), ClassName(9, "Truck"))
RECORD = DetectorRecord(
    architecture="ssdlite320_mobilenet_v3_large",
    classes=CLASSES,
    options={"min_size": 96},
    dataset="xview:2",
    training={"batches": 5},
)


@pytest.fixture
def folder(tmp_path: Path, lite: nn.Module) -> Path:
    write_detector(tmp_path, RECORD, lite.state_dict())
    return tmp_path


def pictures() -> list[np.ndarray]:
    draw = np.random.default_rng(0)
    return [draw.integers(0, 255, (side, side + 20, 3), dtype=np.uint8) for side in (40, 64, 50)]


def test_a_detector_comes_back_as_it_was_written(folder: Path, lite: nn.Module) -> None:
    detector = load_detector(folder)

    assert read_record(folder) == RECORD
    assert detector.classes == CLASSES
    assert not detector.has_masks
    for name, value in detector.model.state_dict().items():
        assert torch.equal(value, lite.state_dict()[name])


def test_every_image_of_a_mixed_batch_has_its_own_result(folder: Path) -> None:
    whole = load_detector(folder).detect(pictures())
    one_by_one = [load_detector(folder, batch_size=1).detect([image])[0] for image in pictures()]

    assert len(whole) == 3
    for together, alone, image in zip(whole, one_by_one, pictures(), strict=True):
        np.testing.assert_allclose(together.boxes, alone.boxes, atol=1e-3)
        assert (np.diff(together.scores) <= 0).all()
        assert together.boxes[:, 2].max() <= image.shape[1] + 1e-3
        assert set(together.labels) <= {1, 2, 3}
        assert together.masks is None


class FourScores(nn.Module):
    """Says the same four things about every image, as far as its threshold lets it."""

    score_thresh = 0.3

    def forward(self, images: list[torch.Tensor]) -> list[dict[str, torch.Tensor]]:
        scores = torch.tensor([0.1, 0.9, 0.4, 0.6])
        heard = scores > self.score_thresh
        boxes = torch.tensor([[0.0, 0.0, 4.0, 4.0]]).repeat(4, 1)
        return [{"boxes": boxes[heard], "scores": scores[heard], "labels": torch.ones(4)[heard]} for _ in images]


@pytest.mark.parametrize(("threshold", "count"), [(None, 3), (0.0, 4), (0.5, 2), (0.95, 0)])
def test_a_threshold_above_or_below_the_models_own_takes_effect_for_one_call(
    threshold: float | None, count: int
) -> None:
    detector = TorchDetector(FourScores(), CLASSES)

    (found,) = detector.detect(pictures()[:1], score_threshold=threshold)

    assert len(found) == count
    assert detector.score_threshold == 0.3


def test_no_images_give_no_results(folder: Path) -> None:
    assert load_detector(folder).detect([]) == []


@pytest.mark.parametrize(
    ("image", "sentence"),
    [
        (np.zeros((8, 8), np.uint8), "height x width x 3"),
        (np.zeros((8, 8, 4), np.uint8), "height x width x 3"),
        (np.zeros((8, 8, 3), np.float32), "uint8"),
        (np.zeros((0, 8, 3), np.uint8), "no pixels"),
    ],
)
def test_arrays_that_are_no_rgb_images_are_refused(folder: Path, image: np.ndarray, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        load_detector(folder).detect([image])


def test_masks_are_cut_at_one_half_and_follow_the_order_of_scores() -> None:
    output = {
        "boxes": torch.tensor([[0.0, 0, 1, 1], [0, 0, 2, 2]]),
        "scores": torch.tensor([0.2, 0.9]),
        "labels": torch.tensor([1, 2]),
        "masks": torch.tensor([[[[0.4, 0.6]]], [[[0.9, 0.1]]]]),
    }

    found = as_detections(output)

    assert found.labels.tolist() == [2, 1]
    assert found.masks is not None
    assert found.masks.tolist() == [[[True, False]], [[False, True]]]


def test_a_folder_without_a_detector_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"has no detector\.json"):
        load_detector(tmp_path)
    with pytest.raises(NotFound, match="There is no folder"):
        load_detector(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"kind": "classifier"}, "its kind is 'classifier'"),
        ({"format": 99}, "this version reads format 1"),
        ({"architecture": "yolo"}, "There is no model 'yolo'"),
        ({"classes": [{"id": 1}]}, "is not whole"),
        ({"options": {"min_size": 96, "colour": "red"}}, "has no option 'colour'"),
        ({"classes": [{"id": 0, "name": "one"}]}, "do not fit the model"),
    ],
)
def test_a_record_that_cannot_be_right_is_refused(folder: Path, change: dict[str, object], sentence: str) -> None:
    path = folder / RECORD_FILE
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))

    with pytest.raises(InvalidInput, match=sentence):
        load_detector(folder)


def test_a_record_cut_off_while_copying_is_refused(folder: Path) -> None:
    path = folder / RECORD_FILE
    path.write_text(path.read_text()[:40])

    with pytest.raises(InvalidInput, match="is not JSON"):
        load_detector(folder)


def test_missing_and_damaged_weights_are_told_apart(folder: Path) -> None:
    path = folder / WEIGHTS_FILE
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(InvalidInput, match="is damaged"):
        load_detector(folder)

    path.unlink()
    with pytest.raises(NotFound, match=r"has no weights\.safetensors"):
        load_detector(folder)


def test_devices_and_precisions_that_there_are_not_are_refused(folder: Path, lite: nn.Module) -> None:
    with pytest.raises(InvalidInput, match="There is no device"):
        load_detector(folder, device="tpu9")
    with pytest.raises(InvalidInput, match="use one of fp32, bf16, fp16"):
        TorchDetector(lite, CLASSES, precision="int3")
    with pytest.raises(InvalidInput, match="at least 1"):
        TorchDetector(lite, CLASSES, batch_size=0)


def test_reduced_precision_finds_nearly_the_same(folder: Path) -> None:
    exact = load_detector(folder).detect(pictures()[:1])[0]
    reduced = load_detector(folder, precision="bf16").detect(pictures()[:1])[0]

    assert abs(float(exact.scores[0]) - float(reduced.scores[0])) < 0.1
