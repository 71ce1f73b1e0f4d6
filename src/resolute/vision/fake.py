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
        boxes: list[tuple[int, int, int, int]] = []
        scores: list[float] = []
        labels: list[int] = []
        masks: list[NDArray[np.bool_]] = []
        for channel in range(len(self._classes) if int(image.max(initial=0)) >= _BRIGHT else 0):
            plane = np.ascontiguousarray(image[:, :, channel])
            is_bright = (plane >= _BRIGHT) & (plane == image.max(axis=2))
            count, areas, facts, _ = cv2.connectedComponentsWithStats(is_bright.astype(np.uint8))
            for area in range(1, count):
                size = int(facts[area][4])
                score = float(plane[areas == area].mean()) / 255 * (1 - 0.1 / size**0.5)
                if score >= threshold:
                    x, y, width, height = facts[area][:4].tolist()
                    boxes.append((x, y, x + width, y + height))
                    scores.append(score)
                    labels.append(channel + 1)
                    masks.append(areas == area)
        order = np.argsort(-np.array(scores), kind="stable").astype(np.int64)
        return Detections(
            np.array(boxes, dtype=np.float32).reshape(-1, 4)[order],
            np.array(scores, dtype=np.float32)[order],
            np.array(labels, dtype=np.int64)[order],
            np.array(masks, dtype=bool).reshape(-1, *image.shape[:2])[order] if self._has_masks else None,
        )
