"""COCO outlines (polygons, run lengths, compressed or not) as masks of one picture."""

from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
from hotcoco import mask as run_lengths
from numpy.typing import NDArray

from resolute.vision.data.labels import Sample


def masks_of(sample: Sample) -> NDArray[np.uint8]:
    """[n, height, width] of zeros and ones. A label without an outline has its box."""
    found = np.zeros((len(sample.boxes), sample.height, sample.width), np.uint8)
    for row, outline in enumerate(sample.masks or ((),) * len(sample.boxes)):
        offset = (sample.window.x1, sample.window.y1) if sample.window else (0, 0)
        _draw(found[row], outline, sample.boxes[row], offset)
    return found


def _draw(target: NDArray[np.uint8], outline: Any, box: NDArray[np.float32], offset: tuple[int, int]) -> None:
    if isinstance(outline, dict):
        whole = _decoded(outline)
        part = whole[offset[1] : offset[1] + target.shape[0], offset[0] : offset[0] + target.shape[1]]
        target[: part.shape[0], : part.shape[1]] = part
        return
    polygons = [_points(polygon, offset) for polygon in outline if len(polygon) >= 6]
    if polygons:
        cv2.fillPoly(target, polygons, 1)
        return
    x1, y1, x2, y2 = (round(float(value)) for value in box)
    target[y1 : max(y2, y1 + 1), x1 : max(x2, x1 + 1)] = 1


def _points(polygon: Sequence[float], offset: tuple[int, int]) -> NDArray[np.int32]:
    points = np.asarray(polygon, dtype=np.float64).reshape(-1, 2) - offset
    return np.round(points).astype(np.int32)


def _decoded(outline: dict[str, Any]) -> NDArray[np.uint8]:
    height, width = outline["size"]
    counts = outline["counts"]
    if not isinstance(counts, list):
        return np.asarray(run_lengths.decode(outline), dtype=np.uint8)
    values = np.arange(len(counts)) % 2
    flat = np.repeat(values, counts).astype(np.uint8)
    return flat.reshape(width, height).T
