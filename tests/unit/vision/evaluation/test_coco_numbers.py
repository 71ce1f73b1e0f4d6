"""COCO's numbers, beside pycocotools on random sets."""

import contextlib
import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval
from pycocotools.mask import encode

from resolute.vision.detections import Detections
from resolute.vision.evaluation import SUMMARY_KEYS, CocoEvaluator

SIDE = 64
CATEGORIES = [{"id": 0, "name": "plane"}, {"id": 3, "name": "ship"}, {"id": 7, "name": "crane"}]
TABLE = {1: 0, 2: 3, 3: 7}


def _rectangle(rng: np.random.Generator, side: int) -> tuple[float, float, float, float]:
    x1, y1 = rng.uniform(0, side - 4, 2)
    width, height = rng.uniform(1, side - x1), rng.uniform(1, side - y1)
    return float(np.float32(x1)), float(np.float32(y1)), float(np.float32(width)), float(np.float32(height))


def _random_set(seed: int, images: int, labels: int, found: int, side: int) -> tuple[dict[str, Any], list[Detections]]:
    """Labels with crowds and empty images; detections near them, doubled, misnamed and out of nowhere."""
    rng = np.random.default_rng(seed)
    truth: dict[str, Any] = {"categories": CATEGORIES, "images": [], "annotations": []}
    results = []
    for number in range(images):
        truth["images"].append({"id": number, "width": side, "height": side, "file_name": f"{number}.png"})
        boxes = []
        for _ in range(int(rng.integers(0, labels + 1))):
            x, y, width, height = _rectangle(rng, side)
            boxes.append((x, y, x + width, y + height))
            outline = [x, y, x + width, y, x + width, y + height, x, y + height]
            truth["annotations"].append(
                {
                    "id": len(truth["annotations"]) + 1,
                    "image_id": number,
                    "category_id": int(rng.choice([0, 3, 7])),
                    "bbox": [x, y, width, height],
                    "area": width * height,
                    "iscrowd": int(rng.random() < 0.15),
                    "segmentation": [outline],
                }
            )
        results.append(_results(rng, boxes, int(rng.integers(0, found + 1)), side))
    return truth, results


def _results(rng: np.random.Generator, truth: list[Any], count: int, side: int) -> Detections:
    boxes = np.zeros((count, 4), dtype=np.float32)
    for row in range(count):
        if truth and rng.random() < 0.7:
            boxes[row] = np.clip(np.array(truth[int(rng.integers(len(truth)))]) + rng.normal(0, 2, 4), 0, side)
        else:
            x, y, width, height = _rectangle(rng, side)
            boxes[row] = x, y, x + width, y + height
    boxes[:, 2:] = np.maximum(boxes[:, 2:], boxes[:, :2] + 1)
    scores = np.round(rng.random(count), 2).astype(np.float32)
    masks = np.zeros((count, side, side), dtype=bool)
    for row, (x1, y1, x2, y2) in enumerate(boxes):
        masks[row, int(y1) : int(np.ceil(y2)), int(x1) : int(np.ceil(x2))] = True
    return Detections(boxes, scores, rng.integers(1, 4, count), masks)


def _reference(truth: dict[str, Any], results: list[Detections], kind: str) -> list[float]:
    rows = []
    for number, result in enumerate(results):
        for row in range(len(result)):
            x1, y1, x2, y2 = result.boxes[row].astype(float).tolist()
            entry: dict[str, Any] = {
                "image_id": number,
                "category_id": TABLE[int(result.labels[row])],
                "score": float(result.scores[row]),
            }
            if kind == "bbox":
                entry["bbox"] = [x1, y1, x2 - x1, y2 - y1]
            else:
                assert result.masks is not None
                entry["segmentation"] = encode(np.asfortranarray(result.masks[row].astype(np.uint8)))
            rows.append(entry)
    with contextlib.redirect_stdout(io.StringIO()):
        labels = COCO()
        labels.dataset = truth
        labels.createIndex()
        measured = COCOeval(labels, labels.loadRes(rows) if rows else COCO(), kind)
        measured.evaluate()
        measured.accumulate()
        measured.summarize()
    return list(measured.stats)


def _ours(truth: dict[str, Any], results: list[Detections], kind: Any) -> CocoEvaluator:
    evaluator = CocoEvaluator(truth, kind)
    evaluator.update(range(len(results)), results, TABLE)
    return evaluator


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 6), st.integers(0, 8), st.integers(1, 20))
def test_box_numbers_equal_pycocotools(seed: int, images: int, labels: int, found: int) -> None:
    truth, results = _random_set(seed, images, labels, found, side=200)

    summary = _ours(truth, results, "bbox").summary()

    if sum(map(len, results)):
        assert list(summary.values()) == pytest.approx(_reference(truth, results, "bbox"), abs=1e-6)
    assert tuple(summary) == SUMMARY_KEYS


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 4), st.integers(0, 6), st.integers(1, 12))
def test_mask_numbers_equal_pycocotools(seed: int, images: int, labels: int, found: int) -> None:
    truth, results = _random_set(seed, images, labels, found, side=SIDE)

    summary = _ours(truth, results, "both").summary()

    if sum(map(len, results)):
        masks = [summary[f"mask_{key}"] for key in SUMMARY_KEYS]
        assert masks == pytest.approx(_reference(truth, results, "segm"), abs=1e-6)
        assert [summary[key] for key in SUMMARY_KEYS] == pytest.approx(_reference(truth, results, "bbox"), abs=1e-6)


def test_more_detections_than_the_metric_takes_equal_pycocotools() -> None:
    truth, results = _random_set(5, images=2, labels=30, found=600, side=200)
    assert max(map(len, results)) > 300

    summary = _ours(truth, results, "bbox").summary()

    assert list(summary.values()) == pytest.approx(_reference(truth, results, "bbox"), abs=1e-6)


def test_numbers_do_not_depend_on_how_images_were_shared_out() -> None:
    truth, results = _random_set(7, images=9, labels=6, found=15, side=200)
    whole = _ours(truth, results, "bbox")

    ranks = [CocoEvaluator(truth) for _ in range(3)]
    for rank, evaluator in enumerate(ranks):
        # The last rank repeats images, as padding of a distributed sampler does.
        numbers = [*range(rank, 9, 3), *([0, 1] if rank == 2 else [])]
        evaluator.update(numbers, [results[number] for number in numbers], TABLE)
    ranks[0].merge([ranks[1].state(), ranks[2].state()])

    assert ranks[0].summary() == whole.summary()
    assert ranks[0].per_class() == whole.per_class()
    assert ranks[0].unseen == []


def test_only_images_that_were_looked_at_count() -> None:
    truth, results = _random_set(11, images=6, labels=5, found=12, side=200)
    part = {**truth, "images": truth["images"][:3]}
    part["annotations"] = [a for a in truth["annotations"] if a["image_id"] < 3]

    evaluator = CocoEvaluator(truth)
    evaluator.update(range(3), results[:3], TABLE)

    assert list(evaluator.summary().values()) == pytest.approx(_reference(part, results[:3], "bbox"), abs=1e-6)
    assert evaluator.unseen == [3, 4, 5]
