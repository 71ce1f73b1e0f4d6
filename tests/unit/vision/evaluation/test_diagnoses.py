"""Per class, confusion, kinds of errors, best and worst images: small cases with known answers."""

from typing import Any

import numpy as np
import pytest

from resolute.domain.errors import InvalidInput, NotFound
from resolute.vision.detections import Detections
from resolute.vision.evaluation import CocoEvaluator

TABLE = {1: 10, 2: 20}
PLANE, SHIP = 1, 2


def _truth(labels: dict[int, list[tuple[int, list[float]]]]) -> dict[str, Any]:
    rows = [(image, category, box) for image, found in labels.items() for category, box in found]
    return {
        "images": [{"id": n, "width": 500, "height": 500, "file_name": f"{n}.jpg"} for n in labels],
        "categories": [{"id": 10, "name": "plane"}, {"id": 20, "name": "ship"}],
        "annotations": [
            {"id": n, "image_id": image, "category_id": category, "bbox": box}
            for n, (image, category, box) in enumerate(rows)
        ],
    }


def _found(*rows: tuple[list[float], float, int]) -> Detections:
    boxes = np.array([box for box, _, _ in rows], dtype=np.float32).reshape(-1, 4)
    scores = np.array([score for _, score, _ in rows], dtype=np.float32)
    return Detections(boxes, scores, np.array([label for _, _, label in rows], dtype=np.int64))


def _evaluated(labels: dict[int, list[tuple[int, list[float]]]], results: dict[int, Detections]) -> CocoEvaluator:
    evaluator = CocoEvaluator(_truth(labels))
    evaluator.update(list(results), list(results.values()), TABLE)
    return evaluator


BOX = [100.0, 100.0, 40.0, 40.0]
HERE = [100.0, 100.0, 140.0, 140.0]
"""The corners of BOX."""


@pytest.mark.parametrize(
    ("kind", "results"),
    [
        ("classification", _found((HERE, 0.9, SHIP))),
        ("localisation", _found(([100.0, 100.0, 140.0, 115.0], 0.9, PLANE))),
        ("both", _found(([100.0, 100.0, 140.0, 115.0], 0.9, SHIP))),
        ("duplicate", _found((HERE, 0.9, PLANE), (HERE, 0.8, PLANE))),
        ("background", _found((HERE, 0.9, PLANE), ([300.0, 300.0, 340.0, 340.0], 0.8, PLANE))),
        ("missed", _found()),
    ],
)
def test_every_kind_of_error_is_told_apart(kind: str, results: Detections) -> None:
    evaluator = _evaluated({1: [(10, BOX)], 2: [(20, BOX)]}, {1: results, 2: _found((HERE, 0.9, SHIP))})

    errors = evaluator.errors()

    assert errors[kind].count == 1
    # An object under a wrong box of a wrong class has still been missed.
    expected = {"both", "missed"} if kind == "both" else {kind}
    assert {name for name, error in errors.items() if error.count} == expected


def test_the_confusion_matrix_has_truth_in_rows_and_background_last() -> None:
    labels = {1: [(10, BOX), (20, [300.0, 300.0, 40.0, 40.0])], 2: [(10, BOX)]}
    results = {
        1: _found((HERE, 0.9, SHIP), ([300.0, 300.0, 340.0, 340.0], 0.9, SHIP)),
        2: _found(([10.0, 10.0, 50.0, 50.0], 0.7, PLANE), (HERE, 0.1, PLANE)),
    }

    confusion = _evaluated(labels, results).confusion(iou=0.5, score=0.25)

    assert confusion.names == ["plane", "ship"]
    assert confusion.matrix == [[0, 1, 1], [0, 1, 0], [1, 0, 0]]


def test_a_class_tells_its_best_threshold() -> None:
    labels = {1: [(10, BOX), (10, [300.0, 300.0, 40.0, 40.0])]}
    rows = (HERE, 0.9, PLANE), ([300.0, 300.0, 340.0, 340.0], 0.6, PLANE), ([200.0, 10.0, 240.0, 50.0], 0.3, PLANE)

    plane, ship = _evaluated(labels, {1: _found(*rows)}).per_class()

    assert (plane.id, plane.name, plane.count, plane.detections) == (10, "plane", 2, 3)
    assert (plane.ap, plane.ap_50, plane.precision, plane.recall) == pytest.approx((1.0, 1.0, 1.0, 1.0))
    assert plane.best_score == pytest.approx(0.6)
    assert (ship.ap, ship.ap_50, ship.precision, ship.recall, ship.count) == (-1, -1, -1, -1, 0)


def test_curves_fall_with_recall_and_leave_out_classes_without_labels() -> None:
    labels = {1: [(10, BOX), (10, [300.0, 300.0, 40.0, 40.0])]}
    rows = (HERE, 0.9, PLANE), ([200.0, 10.0, 240.0, 50.0], 0.7, PLANE), ([300.0, 300.0, 340.0, 340.0], 0.6, PLANE)

    curves = _evaluated(labels, {1: _found(*rows)}).curves()

    assert [curve.name for curve in curves] == ["plane"]
    assert curves[0].precision == sorted(curves[0].precision, reverse=True)
    assert curves[0].precision[50] == pytest.approx(1.0)
    assert curves[0].precision[100] == pytest.approx(2 / 3)
    assert len(curves[0].recall) == len(curves[0].score) == 101


def test_best_and_worst_images_are_ranked_by_f1() -> None:
    labels: dict[int, list[tuple[int, list[float]]]] = {1: [(10, BOX)], 2: [(10, BOX)], 3: [], 4: []}
    results = {
        1: _found((HERE, 0.9, PLANE)),
        2: _found(([10.0, 10.0, 50.0, 50.0], 0.9, PLANE)),
        3: _found((HERE, 0.9, PLANE)),
        4: _found((HERE, 0.1, PLANE)),
    }

    evaluator = _evaluated(labels, results)

    assert [image.id for image in evaluator.best_images()] == [1]
    assert [image.id for image in evaluator.worst_images()] == [2, 3]
    assert [image.id for image in evaluator.worst_images(1)] == [2]
    assert evaluator.images()[3].f1 == 1.0
    assert evaluator.worst_images()[0].file_name == "2.jpg"


def test_looking_at_nothing_measures_nothing() -> None:
    evaluator = CocoEvaluator(_truth({1: [(10, BOX)]}))

    assert set(evaluator.summary().values()) == {-1.0}
    assert evaluator.errors()["missed"].count == 0
    assert evaluator.images() == []
    assert evaluator.per_class()[0].ap == -1


def test_an_image_counts_as_it_was_found_last() -> None:
    evaluator = _evaluated({1: [(10, BOX)]}, {1: _found()})
    before = evaluator.summary()["mAP"]

    evaluator.update([1], [_found((HERE, 0.9, PLANE))], TABLE)

    assert before == 0.0
    assert evaluator.summary()["mAP"] == pytest.approx(1.0)


def test_what_is_not_a_number_is_left_out_and_counted() -> None:
    evaluator = _evaluated({1: [(10, BOX)]}, {1: _found((HERE, 0.9, PLANE), ([np.nan, 0, 1, 1], 0.95, PLANE))})

    assert evaluator.dropped == 1
    assert evaluator.summary()["mAP"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda e: e.update([1, 2], [_found()], TABLE), "2 image ids came with 1 results"),
        (lambda e: e.update([9], [_found()], TABLE), "Image 9 is not in the ground truth"),
        (lambda e: e.update([1], [_found((HERE, 0.9, 5))], TABLE), "label 5, which stands for no category"),
        (lambda e: e.update([1], [_found()], {1: 99}), "category 99, which the ground truth does not have"),
        (lambda e: e.merge({7: _found()}), "Image 7 is not in the ground truth"),
        (lambda e: e.curves(iou=0.52), "no curve at IoU 0.52"),
        (lambda e: e.confusion(iou=0), "iou is 0"),
    ],
)
def test_what_cannot_be_measured_is_refused(change: Any, sentence: str) -> None:
    evaluator = CocoEvaluator(_truth({1: [(10, BOX)], 2: []}))

    with pytest.raises(InvalidInput, match=sentence):
        change(evaluator)

    assert evaluator.seen == []


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        ({"categories": []}, "no categories"),
        ({"images": [{"id": 1}, {"id": 1}]}, "uses an image id twice"),
        ({"categories": [{"id": 30, "name": "car"}]}, "category 10, which is not in the class table"),
        ({"images": [{"id": 5}]}, "belongs to image 1, which is not listed"),
        ({"annotations": [{"id": 1, "image_id": 1, "category_id": 10, "bbox": [1, 2, 3]}]}, "not a COCO label set"),
    ],
)
def test_ground_truth_that_cannot_be_used_is_refused(damage: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        CocoEvaluator({**_truth({1: [(10, BOX)]}), **damage})


def test_files_that_cannot_be_used_are_refused(tmp_path: Any) -> None:
    (tmp_path / "cut.json").write_text('{"images": [')

    with pytest.raises(NotFound, match=r"no label file .*gone\.json"):
        CocoEvaluator(tmp_path / "gone.json")
    with pytest.raises(InvalidInput, match=r"cut\.json is not JSON"):
        CocoEvaluator(str(tmp_path / "cut.json"))
    with pytest.raises(InvalidInput, match="Choose bbox, segm or both"):
        CocoEvaluator(_truth({}), "boxes")  # type: ignore[arg-type]


def test_masks_need_masks_on_both_sides() -> None:
    with pytest.raises(InvalidInput, match=r"1 annotation\(s\) have no mask, such as 0"):
        CocoEvaluator(_truth({1: [(10, BOX)]}), "segm")
    evaluator = CocoEvaluator(_truth({1: []}), "segm")
    with pytest.raises(InvalidInput, match="result of image 1 has no masks"):
        evaluator.update([1], [_found()], TABLE)
    small = Detections(*(getattr(_found(), name) for name in ("boxes", "scores", "labels")), np.zeros((0, 5, 5), bool))
    with pytest.raises(InvalidInput, match="are 5 x 5; the labels say 500 x 500"):
        evaluator.update([1], [small], TABLE)
