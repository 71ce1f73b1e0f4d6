"""An evaluation as it is kept: metrics on the platform, `evaluation.json` and pictures beside the weights.

The form of `evaluation.json` is described in docs/evaluation.md; whoever changes it raises `FORMAT`.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from resolute.domain.errors import ResoluteError
from resolute.imagery.encoding import Encoding, encode
from resolute.imagery.files import write_atomic
from resolute.vision.evaluation.evaluator import CocoEvaluator
from resolute.vision.evaluation.pictures import ReadImage, drawn_pair, from_folder

FORMAT = 1
FILE, FOLDER = "evaluation.json", "evaluation"
_CURVE_STEP = 5
"""Every fifth of the 101 points of a curve is kept: the file stays small, the curve looks the same."""


class Run(Protocol):
    """What is needed of `resolute.init()`."""

    def report(self, group: str, steps: int, metrics: Mapping[str, Any]) -> None: ...


def report_evaluation(
    run: Run,
    evaluator: CocoEvaluator,
    steps: int,
    *,
    folder: Path | None = None,
    image_dir: Path | None = None,
    score: float = 0.25,
    pictures: int = 6,
) -> dict[str, float]:
    """Report the summary as validation metrics, and write the rest into `folder` when there is one.

    `folder` is the one that `run.checkpoint.store` gives, so that the file travels with the weights it judges.
    Returns the summary.
    """
    summary = evaluator.summary()
    run.report("validation", steps, summary)
    if folder is not None:
        write_evaluation(folder, evaluator, image_dir=image_dir, score=score, pictures=pictures, steps=steps)
    return summary


def write_evaluation(
    folder: Path,
    evaluator: CocoEvaluator,
    *,
    image_dir: Path | None = None,
    read_image: ReadImage | None = None,
    score: float = 0.25,
    pictures: int = 6,
    steps: int | None = None,
) -> Path:
    """`evaluation.json`, and with `image_dir` or `read_image` also `evaluation/*.jpg` of the best and worst images."""
    document = as_document(evaluator, score=score, pictures=pictures, steps=steps)
    read = from_folder(evaluator, image_dir) if image_dir is not None else read_image
    if read is not None:
        for kind in ("worst", "best"):
            for place, image in enumerate(document["images"][kind], start=1):
                image["picture"] = _draw(folder, f"{kind}-{place}", evaluator, image["id"], read, score)
    write_atomic(folder / FILE, json.dumps(document, allow_nan=False).encode())
    return folder / FILE


def as_document(
    evaluator: CocoEvaluator, *, score: float = 0.25, pictures: int = 6, steps: int | None = None
) -> dict[str, Any]:
    """Plain values only."""
    ranked = {
        "worst": evaluator.worst_images(pictures, score=score),
        "best": evaluator.best_images(pictures, score=score),
    }
    return {
        "kind": "evaluation",
        "format": FORMAT,
        "steps": steps,
        "iou_types": list(evaluator.types),
        "images_seen": len(evaluator.seen),
        "images_unseen": len(evaluator.unseen),
        "detections_dropped": evaluator.dropped,
        "summary": evaluator.summary(),
        "classes": [asdict(result) for result in evaluator.per_class()],
        "curves": [_thinned(asdict(curve)) for curve in evaluator.curves()],
        "confusion": asdict(evaluator.confusion(score=score)),
        "errors": {kind: asdict(error) for kind, error in evaluator.errors().items()},
        "images": {kind: [asdict(image) for image in images] for kind, images in ranked.items()},
    }


def _thinned(curve: dict[str, Any]) -> dict[str, Any]:
    return {
        key: [round(number, 5) for number in value[::_CURVE_STEP]] if isinstance(value, list) else value
        for key, value in curve.items()
    }


def _draw(
    folder: Path, name: str, evaluator: CocoEvaluator, image_id: int, read: ReadImage, score: float
) -> str | None:
    """The picture's path inside `folder`; None when the image cannot be read any more."""
    try:
        drawn = drawn_pair(evaluator, image_id, read, score=score)
    except ResoluteError:
        return None
    path = f"{FOLDER}/{name}.jpg"
    write_atomic(folder / path, encode(drawn, Encoding(quality=85)))
    return path
