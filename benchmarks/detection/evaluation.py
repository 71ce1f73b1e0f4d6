"""From a label file and arrays of detections to COCO's twelve numbers: ours, the engine below it, and the reference."""

import argparse
import contextlib
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import hotcoco
import numpy as np
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from benchmarks.detection.timing import both_clocks, milliseconds
from resolute.vision.detections import Detections
from resolute.vision.evaluation import CocoEvaluator

CLASSES = 80
LABELS_PER_IMAGE = 7.36
"""As many detections as labels: 36,800 on 5,000 images, like COCO's validation set."""


def measure(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.json"
        labels, found = _random_set(options.images)
        path.write_text(json.dumps(labels))
        rows = np.concatenate(
            [np.column_stack([np.full(len(f), n), _xywh(f), f.scores, f.labels]) for n, f in enumerate(found)]
        ).astype(np.float64)
        results: dict[str, list[float]] = {}
        pairs = [
            (
                both_clocks(lambda: results.update(ours=_ours(path, found))),
                both_clocks(lambda: results.update(engine=_hotcoco(path, rows))),
            )
            for _ in range(options.rounds + 2)
        ]
        ours, engine = (tuple(min(pair[side][k] for pair in pairs) for k in (0, 1)) for side in (0, 1))
        reference = both_clocks(lambda: results.update(reference=_pycocotools(path, rows)))
        spread = max(abs(a - b) for a, b in zip(results["ours"], results["reference"], strict=True))
    print(
        f"{options.images:,} images, {len(labels['annotations']):,} labels, {len(rows):,} detections, {CLASSES} classes"
    )
    print("\n| | clock | processor | ours takes |\n|---|---|---|---|")
    print(f"| Resolute | {milliseconds(ours[0])} | {milliseconds(ours[1])} | |")
    peers = {f"hotcoco {hotcoco.__version__}": engine, "pycocotools": reference}
    for name, (clock, processor) in peers.items():
        share = f"1/{clock / ours[0]:.0f} of its time" if clock > 2 * ours[0] else f"{ours[0] / clock:.2f}x its time"
        by_processor = f"{ours[1] / processor:.2f}x by processor time"
        print(f"| {name} | {milliseconds(clock)} | {milliseconds(processor)} | {share}, {by_processor} |")
    print(f"\nLargest difference to pycocotools in the twelve numbers: {spread:.1e}")


def _random_set(images: int) -> tuple[dict[str, Any], list[Detections]]:
    rng = np.random.default_rng(0)
    annotations: list[dict[str, Any]] = []
    found = []
    for number in range(images):
        count = int(rng.poisson(LABELS_PER_IMAGE))
        corners, sizes = rng.uniform(0, 400, (count, 2)), np.exp(rng.normal(4, 0.8, (count, 2)))
        categories = rng.integers(1, CLASSES + 1, count)
        for row in range(count):
            box = [*corners[row].tolist(), *sizes[row].tolist()]
            annotations.append(
                {"id": len(annotations) + 1, "image_id": number, "category_id": int(categories[row]), "bbox": box,
                 "area": box[2] * box[3], "iscrowd": int(rng.random() < 0.01)}
            )  # fmt: skip
        near = corners + rng.normal(0, 0.1, (count, 2)) * sizes
        boxes = np.concatenate([near, near + sizes * np.exp(rng.normal(0, 0.1, (count, 2)))], axis=1)
        names = np.where(rng.random(count) < 0.8, categories, rng.integers(1, CLASSES + 1, count))
        found.append(Detections(boxes.astype(np.float32), rng.random(count).astype(np.float32), names))
    return {
        "images": [{"id": n, "width": 640, "height": 640, "file_name": f"{n}.jpg"} for n in range(images)],
        "categories": [{"id": n, "name": f"class {n}"} for n in range(1, CLASSES + 1)],
        "annotations": annotations,
    }, found


def _xywh(found: Detections) -> np.ndarray[Any, Any]:
    boxes = found.boxes.astype(np.float64)
    return np.concatenate([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], axis=1)


def _ours(path: Path, found: list[Detections]) -> list[float]:
    evaluator = CocoEvaluator(path)
    table = {label: label for label in range(1, CLASSES + 1)}
    for start in range(0, len(found), 16):
        part = found[start : start + 16]
        evaluator.update(range(start, start + len(part)), part, table)
    return list(evaluator.summary().values())


def _hotcoco(path: Path, rows: np.ndarray[Any, Any]) -> list[float]:
    labels = hotcoco.COCO(str(path))
    return _numbers(hotcoco.COCOeval(labels, labels.load_res(rows), "bbox"))


def _pycocotools(path: Path, rows: np.ndarray[Any, Any]) -> list[float]:
    with contextlib.redirect_stdout(io.StringIO()):
        labels = COCO(str(path))
        measured = COCOeval(labels, labels.loadRes(rows), "bbox")
    return _numbers(measured)


def _numbers(measured: Any) -> list[float]:
    with contextlib.redirect_stdout(io.StringIO()), open("/dev/null", "w") as nothing, _quiet(nothing):
        measured.evaluate()
        measured.accumulate()
        measured.summarize()
    return list(measured.stats)


def _quiet(nothing: Any) -> contextlib.AbstractContextManager[Any]:
    return contextlib.redirect_stdout(nothing)
