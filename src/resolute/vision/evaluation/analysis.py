"""Questions to one finished measurement: numbers, tables and diagnoses out of the metric engine's arrays.

The engine's array of precisions has the axes IoU, recall, class, area, detections per image.
"""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from resolute.domain.errors import InvalidInput
from resolute.vision.evaluation.results import ClassResult, Confusion, Curve, ErrorKind, ImageResult

NOTHING = -1.0
_ALL, _HUNDRED = 0, 2
_KINDS = {
    "classification": "Cls",
    "localisation": "Loc",
    "both": "Both",
    "duplicate": "Dupe",
    "background": "Bkg",
    "missed": "Miss",
}
_IOUS = np.linspace(0.5, 0.95, 10)
_RECALLS = np.linspace(0.0, 1.0, 101)
Numbers = NDArray[np.float64]


class Analysis:
    """`measured` has been evaluated and accumulated, or has no image at all."""

    def __init__(self, measured: Any, names: dict[int, str]) -> None:
        self._measured = measured
        self._names = names

    @cached_property
    def _arrays(self) -> tuple[Numbers, Numbers, Numbers]:
        """Precision, recall and score."""
        found = self._measured.eval
        if found is None:
            classes = len(self._names)
            return (
                np.full((10, 101, classes, 4, 3), NOTHING),
                np.full((10, classes, 4, 3), NOTHING),
                np.full((10, 101, classes, 4, 3), NOTHING),
            )
        return found["precision"], found["recall"], found["scores"]

    def twelve(self) -> list[float]:
        precision, recall, _ = self._arrays
        averages = [precision[:, :, :, _ALL, _HUNDRED], precision[0, ..., _ALL, _HUNDRED]]
        averages += [precision[5, ..., _ALL, _HUNDRED]]
        averages += [precision[:, :, :, area, _HUNDRED] for area in (1, 2, 3)]
        averages += [recall[:, :, _ALL, limit] for limit in (0, 1, 2)]
        averages += [recall[:, :, area, _HUNDRED] for area in (1, 2, 3)]
        return [_mean(values) for values in averages]

    def per_class(self, counts: dict[int, int], detections: dict[int, int]) -> list[ClassResult]:
        return [
            self._of_class(place, number, name, counts[number], detections.get(number, 0))
            for place, (number, name) in enumerate(self._names.items())
        ]

    def curves(self, iou: float) -> list[Curve]:
        step = _iou_step(iou)
        precision, _, scores = self._arrays
        return [
            Curve(
                id=number,
                name=name,
                recall=_RECALLS.tolist(),
                precision=precision[step, :, place, _ALL, _HUNDRED].tolist(),
                score=scores[step, :, place, _ALL, _HUNDRED].tolist(),
            )
            for place, (number, name) in enumerate(self._names.items())
            if precision[step, 0, place, _ALL, _HUNDRED] > NOTHING
        ]

    def confusion(self, iou: float, score: float) -> Confusion:
        _check_share("iou", iou)
        found = self._measured.confusion_matrix(iou_thr=iou, min_score=score)
        return Confusion(
            class_ids=list(found["cat_ids"]),
            names=[self._names[number] for number in found["cat_ids"]],
            matrix=np.asarray(found["matrix"]).astype(int).tolist(),
            iou=iou,
            score=score,
        )

    def errors(self) -> dict[str, ErrorKind]:
        if self._measured.eval is None:
            return {kind: ErrorKind(count=0, lost_ap=0.0) for kind in _KINDS}
        found = self._measured.tide_errors()
        return {
            kind: ErrorKind(count=int(found["counts"][key]), lost_ap=float(found["delta_ap"][key]))
            for kind, key in _KINDS.items()
        }

    def images(self, iou: float, file_names: dict[int, str]) -> list[ImageResult]:
        _check_share("iou", iou)
        if self._measured.eval is None:
            return []
        found = self._measured.image_diagnostics(iou_thr=iou)["img_summary"]
        return [_image(number, name, found.get(number)) for number, name in file_names.items()]

    def _of_class(self, place: int, number: int, name: str, count: int, detections: int) -> ClassResult:
        precision, recall, scores = self._arrays
        curve = precision[0, :, place, _ALL, _HUNDRED]
        best = int(np.argmax(_f1(curve)))
        is_measured = bool(curve[0] > NOTHING)
        return ClassResult(
            id=number,
            name=name,
            ap=_mean(precision[:, :, place, _ALL, _HUNDRED]),
            ap_50=_mean(curve),
            ap_75=_mean(precision[5, :, place, _ALL, _HUNDRED]),
            ar_100=_mean(recall[:, place, _ALL, _HUNDRED]),
            precision=float(curve[best]) if is_measured else NOTHING,
            recall=float(_RECALLS[best]) if is_measured else NOTHING,
            f1=float(_f1(curve)[best]) if is_measured else NOTHING,
            best_score=float(scores[0, best, place, _ALL, _HUNDRED]) if is_measured else NOTHING,
            count=count,
            detections=detections,
        )


def _mean(values: Numbers) -> float:
    valid = values[values > NOTHING]
    return float(np.mean(valid)) if valid.size else NOTHING


def _f1(precision: Numbers) -> Numbers:
    held = np.maximum(precision, 0.0)
    total = held + _RECALLS
    return np.divide(2 * held * _RECALLS, total, out=np.zeros_like(total), where=total > 0)


def _image(number: int, file_name: str, found: dict[str, Any] | None) -> ImageResult:
    if found is None:
        return ImageResult(id=number, file_name=file_name, found=0, wrong=0, missed=0, f1=1.0)
    right, wrong, missed = int(found["tp"]), int(found["fp"]), int(found["fn"])
    errors = wrong + missed
    f1 = 2 * right / (2 * right + errors) if right + errors else 1.0
    return ImageResult(id=number, file_name=file_name, found=right, wrong=wrong, missed=missed, f1=f1)


def _iou_step(iou: float) -> int:
    step = int(np.argmin(np.abs(_IOUS - iou)))
    if abs(_IOUS[step] - iou) > 1e-9:
        raise InvalidInput(f"There is no curve at IoU {iou}. Choose 0.5, 0.55 ... 0.95.")
    return step


def _check_share(name: str, value: float) -> None:
    if not 0 < value <= 1:
        raise InvalidInput(f"{name} is {value}. It must lie above 0 and at most at 1, for example 0.5.")
