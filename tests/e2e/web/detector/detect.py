"""Stores a detector and an evaluation of answers that are the labels with mistakes: the larger the doubt, the more."""

from pathlib import Path

import numpy as np
import torch

import resolute
from resolute.vision import build_model
from resolute.vision.checkpoint import DetectorRecord, write_detector
from resolute.vision.detections import ClassName, Detections
from resolute.vision.evaluation import CocoEvaluator
from resolute.vision.evaluation.report import report_evaluation

ARCHITECTURE = "ssdlite320_mobilenet_v3_large"


def main() -> None:
    torch.manual_seed(0)
    with resolute.init() as run:
        tiles = Path(run.hparams["tiles"])
        labels = next(tiles.glob("val_*.json"))
        evaluator = CocoEvaluator(labels)
        guess(evaluator, float(run.hparams["doubt"]))
        names = evaluator.truth.names
        classes = tuple(ClassName(number, name) for number, name in names.items())
        options = {"score_threshold": 0.0, "detections_per_image": 20}
        model = build_model(ARCHITECTURE, len(classes) + 1, **options)
        record = DetectorRecord(architecture=ARCHITECTURE, classes=classes, options=options)
        with run.checkpoint.store(steps=100) as (folder, _):
            write_detector(folder, record, model.state_dict())
            images = next(path for path in tiles.glob("val_images*") if path.is_dir())
            report_evaluation(run, evaluator, 100, folder=folder, image_dir=images, pictures=4)


def guess(evaluator: CocoEvaluator, doubt: float) -> None:
    """Some labels are missed, some moved, some called another name, and some boxes lie on nothing."""
    dice = np.random.default_rng(5)
    truth = evaluator.truth
    categories = list(truth.names)
    label_to_category = dict(enumerate(categories, start=1))
    places = {category: label for label, category in label_to_category.items()}
    for number, image in truth.images.items():
        known = truth.of_image(number)
        boxes = np.asarray(known.boxes, dtype=np.float32).reshape(-1, 4)
        kept = dice.random(len(boxes)) > doubt / 2
        moved = boxes[kept] + dice.normal(0, 2 + 8 * doubt, (int(kept.sum()), 4)).astype(np.float32)
        labels = np.array([places[category] for category in np.asarray(known.categories)[kept].tolist()], np.int64)
        wrong = dice.random(len(labels)) < doubt
        labels[wrong] = dice.integers(1, len(categories) + 1, int(wrong.sum()))
        extra = dice.uniform(0, image.width - 40, (2, 2)).astype(np.float32)
        moved = np.concatenate([moved, np.concatenate([extra, extra + 30], axis=1)])
        labels = np.concatenate([labels, dice.integers(1, len(categories) + 1, 2)])
        scores = np.sort(dice.uniform(0.3, 1, len(labels)).astype(np.float32))[::-1]
        evaluator.update([number], [Detections(moved, scores.copy(), labels)], label_to_category)


if __name__ == "__main__":
    main()
