"""What a detection training reports beyond its losses: COCO's numbers and the pace, over all ranks."""

import time
from collections.abc import Sequence
from typing import Any

import torch

from resolute.training.pytorch.reducers import MetricReducer
from resolute.vision.data.labels import LabelTable, as_coco
from resolute.vision.detector import as_detections
from resolute.vision.evaluation import CocoEvaluator


class CocoMetrics(MetricReducer):
    """COCO's numbers; an image that two ranks saw counts once."""

    def __init__(self, table: LabelTable, *, has_masks: bool) -> None:
        self._labels = table.label_to_category
        self._truth = as_coco(table, with_masks=has_masks)
        self._kind: Any = "both" if has_masks else "bbox"
        self._evaluator: CocoEvaluator | None = None
        self.last: CocoEvaluator | None = None
        """The whole of the newest validation, on the rank that put it together."""

    def update(self, image_ids: Sequence[int], outputs: Sequence[dict[str, torch.Tensor]]) -> None:
        self._started().update(image_ids, [as_detections(output) for output in outputs], self._labels)

    def reset(self) -> None:
        self._evaluator = None

    def per_slot_reduce(self) -> Any:
        return self._started().state()

    def cross_slot_reduce(self, per_slot_metrics: Sequence[Any]) -> dict[str, float]:
        evaluator = self._started()
        evaluator.merge(list(per_slot_metrics))
        self.last = evaluator
        return evaluator.summary()

    def _started(self) -> CocoEvaluator:
        if self._evaluator is None:
            self._evaluator = CocoEvaluator(self._truth, iou_type=self._kind)
        return self._evaluator


class Pace(MetricReducer):
    """Images a second since the last report."""

    def __init__(self) -> None:
        self.reset()

    def add(self, images: int) -> None:
        self._images += images

    def reset(self) -> None:
        self._images, self._since = 0, time.perf_counter()

    def per_slot_reduce(self) -> tuple[int, float]:
        return self._images, time.perf_counter() - self._since

    def cross_slot_reduce(self, per_slot_metrics: Sequence[tuple[int, float]]) -> float:
        longest = max(seconds for _, seconds in per_slot_metrics)
        return sum(images for images, _ in per_slot_metrics) / max(longest, 1e-9)
