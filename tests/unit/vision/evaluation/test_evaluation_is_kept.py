"""From a folder of images to numbers, a JSON file and pictures."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from resolute.domain.errors import InvalidInput
from resolute.vision.detections import ClassName, Detections
from resolute.vision.evaluation import CocoEvaluator, draw_image, evaluate, report_evaluation, write_evaluation
from resolute.vision.fake import FakeDetector

Boxes = list[tuple[int, int, int, int]]


class Reports:
    def __init__(self) -> None:
        self.seen: list[tuple[str, int, dict[str, Any]]] = []

    def report(self, group: str, steps: int, metrics: Mapping[str, Any]) -> None:
        self.seen.append((group, steps, dict(metrics)))


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    """Three images with red, green and blue rectangles, and `labels.json` that tells of most of them."""
    names = {1: "red", 2: "green", 3: "blue"}
    drawn: dict[str, list[tuple[int, tuple[int, int, int, int]]]] = {
        "a.png": [(1, (10, 10, 40, 30)), (2, (60, 60, 90, 90))],
        "b.png": [(3, (5, 5, 60, 60))],
        "c.png": [],
    }
    annotations = []
    for number, (name, objects) in enumerate(drawn.items()):
        picture = np.zeros((100, 120, 3), np.uint8)
        for category, (x1, y1, x2, y2) in objects:
            picture[y1:y2, x1:x2, category - 1] = 230
            # The second label of the first image says red where green was drawn.
            said = 1 if (number, category) == (0, 2) else category
            annotations.append(
                {"id": len(annotations), "image_id": number, "category_id": said, "bbox": [x1, y1, x2 - x1, y2 - y1]}
            )
        cv2.imwrite(str(tmp_path / name), picture[:, :, ::-1])
    labels = {
        "images": [{"id": n, "file_name": name, "width": 120, "height": 100} for n, name in enumerate(drawn)],
        "categories": [{"id": number, "name": name} for number, name in names.items()],
        "annotations": annotations,
    }
    (tmp_path / "labels.json").write_text(json.dumps(labels))
    return tmp_path


def test_a_detector_is_measured_on_a_folder(labelled: Path) -> None:
    progress: list[int] = []

    evaluator = evaluate(FakeDetector(), labelled, labelled / "labels.json", batch_size=2, on_progress=progress.append)

    red, green, blue = evaluator.per_class()
    assert (red.ap_50, green.ap_50, blue.ap_50) == pytest.approx((0.50495, -1, 1), abs=1e-4)
    assert evaluator.errors()["classification"].count == 1
    assert sum(progress) == 3


def test_windows_give_the_same_numbers(labelled: Path) -> None:
    whole = evaluate(FakeDetector(), labelled, labelled / "labels.json")

    sliced = evaluate(FakeDetector(), labelled, labelled / "labels.json", slice_size=80, overlap=0.5)

    assert sliced.summary()["mAP_50"] == pytest.approx(whole.summary()["mAP_50"])


def test_images_that_cannot_be_read_are_left_out_and_named(labelled: Path) -> None:
    (labelled / "a.png").write_bytes(b"damaged")
    (labelled / "c.png").unlink()

    evaluator = evaluate(FakeDetector(), labelled, labelled / "labels.json")

    assert evaluator.seen == [1]
    assert evaluator.unseen == [0, 2]


@pytest.mark.parametrize(
    ("classes", "sentence"),
    [
        ((ClassName(1, "red"), ClassName(9, "car")), "knows class 9 'car', which the labels do not have"),
        ((ClassName(1, "car"),), "Class 1 is 'car' to the detector and 'red' in the labels"),
    ],
)
def test_class_tables_that_disagree_are_refused(labelled: Path, classes: tuple[ClassName, ...], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        evaluate(FakeDetector(classes=classes), labelled, labelled / "labels.json")


def test_the_summary_is_reported_and_the_rest_lies_in_the_checkpoint(labelled: Path, tmp_path: Path) -> None:
    run, folder = Reports(), tmp_path / "checkpoint"
    evaluator = evaluate(FakeDetector(), labelled, labelled / "labels.json")

    summary = report_evaluation(run, evaluator, 40, folder=folder, image_dir=labelled)

    document = json.loads((folder / "evaluation.json").read_text())
    assert run.seen == [("validation", 40, summary)]
    assert document["summary"] == summary
    assert (document["kind"], document["format"], document["steps"]) == ("evaluation", 1, 40)
    assert [row["name"] for row in document["classes"]] == ["red", "green", "blue"]
    assert len(document["curves"][0]["precision"]) == 21
    assert len(document["confusion"]["matrix"]) == 4
    assert set(document["errors"]) == {
        "classification", "localisation", "both", "duplicate", "background", "missed"
    }  # fmt: skip
    worst = document["images"]["worst"][0]
    assert worst["file_name"] == "a.png"
    assert cv2.imread(str(folder / worst["picture"])).shape == (122, 246, 3)


def test_without_a_folder_only_numbers_are_reported(labelled: Path) -> None:
    run = Reports()

    report_evaluation(run, evaluate(FakeDetector(), labelled, labelled / "labels.json"), 7)

    assert [group for group, _, _ in run.seen] == ["validation"]


def test_an_image_that_is_gone_has_no_picture(labelled: Path, tmp_path: Path) -> None:
    evaluator = evaluate(FakeDetector(), labelled, labelled / "labels.json")
    (labelled / "a.png").unlink()

    write_evaluation(tmp_path / "out", evaluator, image_dir=labelled)

    document = json.loads((tmp_path / "out" / "evaluation.json").read_text())
    assert document["images"]["worst"][0]["picture"] is None


def test_an_evaluation_of_nothing_can_be_kept(labelled: Path, tmp_path: Path) -> None:
    write_evaluation(tmp_path / "out", CocoEvaluator(labelled / "labels.json"))

    document = json.loads((tmp_path / "out" / "evaluation.json").read_text())
    assert document["images_seen"] == 0
    assert document["summary"]["mAP"] == -1


def test_masks_cannot_be_asked_of_a_detector_without(labelled: Path) -> None:
    with pytest.raises(InvalidInput, match="have no mask"):
        evaluate(FakeDetector(), labelled, labelled / "labels.json", iou_type="segm")


def test_masks_of_labels_and_detections_are_drawn() -> None:
    triangle = [10, 10, 50, 10, 10, 50]
    label = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [10, 10, 40, 40], "area": 800, "iscrowd": 0}
    truth = {
        "images": [{"id": 1, "width": 64, "height": 64, "file_name": "a.png"}],
        "categories": [{"id": 1, "name": "red"}],
        "annotations": [{**label, "segmentation": [triangle]}],
    }
    evaluator = CocoEvaluator(truth, "both")
    mask = np.zeros((1, 64, 64), bool)
    mask[0, 40:50, 40:50] = True
    box = np.array([[10, 10, 50, 50]], np.float32)
    evaluator.update([1], [Detections(box, np.array([0.9], np.float32), np.array([1]), mask)], {1: 1})

    drawn = draw_image(evaluator, 1, np.zeros((64, 64, 3), np.uint8))

    left, right = drawn[22:, :64], drawn[22:, 64 + 6 :]
    assert left[30, 15].any()
    assert not left[45, 45].any()
    assert right[45, 45].any()
    assert not right[30, 15].any()
