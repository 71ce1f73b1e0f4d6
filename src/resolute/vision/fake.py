"""A detector without a model, for tests and for trying things out: it finds bright red, green and blue areas.

Deterministic, and as exact as pixels are: a filled rectangle comes back with its very corners.
"""

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from resolute.imagery.preprocessing import Preprocessing
from resolute.vision.detections import ClassName, Detections

_BRIGHT = 128
CLASSES = (ClassName(1, "red"), ClassName(2, "green"), ClassName(3, "blue"))


class FakeDetector:
    """The score is how bright an area is, a little less for small ones: a whole beats its parts.

    `calls` are the batch sizes it was asked with.
    """

    def __init__(
        self,
        *,
        has_masks: bool = False,
        classes: tuple[ClassName, ...] = CLASSES,
        preprocessing: Preprocessing | None = None,
    ) -> None:
        self._preprocessing = preprocessing
        self._has_masks = has_masks
        self._classes = classes
        self.calls: list[int] = []

    @property
    def classes(self) -> tuple[ClassName, ...]:
        return self._classes

    @property
    def preprocessing(self) -> Preprocessing | None:
        return self._preprocessing

    @property
    def has_masks(self) -> bool:
        return self._has_masks

    def detect(self, images: Sequence[NDArray[np.uint8]], *, score_threshold: float | None = None) -> list[Detections]:
        self.calls.append(len(images))
        return [self._look(image, score_threshold or 0.0) for image in images]

    def _look(self, image: NDArray[np.uint8], threshold: float) -> Detections:
        parts = [self._areas(image, channel, threshold) for channel in range(len(self._classes))]
        joined = Detections(
            np.concatenate([part.boxes for part in parts]),
            np.concatenate([part.scores for part in parts]),
            np.concatenate([part.labels for part in parts]),
            np.concatenate([part.masks for part in parts if part.masks is not None]) if self._has_masks else None,
        )
        order = np.argsort(-joined.scores, kind="stable")
        return Detections(
            joined.boxes[order],
            joined.scores[order],
            joined.labels[order],
            joined.masks[order] if joined.masks is not None else None,
        )

    def _areas(self, image: NDArray[np.uint8], channel: int, threshold: float) -> Detections:
        """Of one colour. All areas at once: noise has hundreds of thousands."""
        plane = np.ascontiguousarray(image[:, :, channel])
        is_bright = (plane >= _BRIGHT) & (plane == image.max(axis=2, initial=0))
        _, areas, facts, _ = cv2.connectedComponentsWithStats(is_bright.astype(np.uint8))
        sizes = facts[:, 4].astype(np.float64)
        sums = np.bincount(areas.ravel(), weights=plane.ravel(), minlength=len(facts))
        scores = sums / np.maximum(sizes, 1) / 255 * (1 - 0.1 / np.sqrt(np.maximum(sizes, 1)))
        rows = np.flatnonzero(scores >= threshold)
        rows = rows[rows > 0]  # Area 0 is what is not bright.
        corners = np.concatenate([facts[rows, :2], facts[rows, :2] + facts[rows, 2:4]], axis=1)
        masks = [areas == row for row in rows.tolist()] if self._has_masks else []
        return Detections(
            corners.astype(np.float32).reshape(-1, 4),
            scores[rows].astype(np.float32),
            np.full(len(rows), channel + 1, dtype=np.int64),
            np.array(masks, dtype=bool).reshape(-1, *image.shape[:2]),
        )
