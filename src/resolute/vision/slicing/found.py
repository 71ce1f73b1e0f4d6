"""What the windows of one image gave so far, with memory that does not grow with the image: only the best are kept."""

import numpy as np
from numpy.typing import NDArray

from resolute.vision.detections import Detections
from resolute.vision.slicing.regions import Patch

MOST_BOXES = 500_000
"""Of one image before they are joined, hundreds of megabytes with what joining and writing need. A detector that finds
more has met noise, or its lowest score is too low."""


class Found:
    """`left_out` counts the detections with the lowest scores that were given up. Of equal scores the first stay."""

    def __init__(self, most: int = MOST_BOXES) -> None:
        self._most, self._count = most, 0
        self.left_out = 0
        self._boxes: list[NDArray[np.float32]] = [np.zeros((0, 4), np.float32)]
        self._scores: list[NDArray[np.float32]] = [np.zeros(0, np.float32)]
        self._labels: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
        self._patches: list[Patch] = []

    def __len__(self) -> int:
        return self._count

    def add(self, detections: Detections, placed: tuple[NDArray[np.float32], list[Patch]]) -> None:
        self._boxes.append(placed[0])
        self._scores.append(detections.scores)
        self._labels.append(detections.labels)
        self._patches.extend(placed[1])
        self._count += len(detections.scores)
        # Sorting for every window would take most of the time.
        if self._count > 2 * self._most:
            self._keep_best()

    def columns(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int64], list[Patch]]:
        """Boxes, scores, labels, and patches where the detector has masks."""
        self._keep_best()
        return self._boxes[0], self._scores[0], self._labels[0], self._patches

    def _keep_best(self) -> None:
        boxes, scores = np.concatenate(self._boxes), np.concatenate(self._scores)
        labels = np.concatenate(self._labels)
        if len(scores) > self._most:
            rows = np.sort(np.argsort(-scores, kind="stable")[: self._most])
            self.left_out += len(scores) - len(rows)
            boxes, scores, labels = boxes[rows], scores[rows], labels[rows]
            self._patches = [self._patches[row] for row in rows.tolist()] if self._patches else []
        self._boxes, self._scores, self._labels = [boxes], [scores], [labels]
        self._count = len(scores)
