"""COCO outlines (polygons, run lengths, compressed or not) as masks of one picture.

Polygons are filled by the rule that COCO's metrics fill them by, so that what is learnt is what is measured.
"""

from collections.abc import Sequence
from typing import Any

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


def mask_of(outline: Any, height: int, width: int) -> NDArray[np.uint8] | None:
    """A COCO segmentation as zeros and ones; None when it is empty."""
    if isinstance(outline, dict):
        return _decoded(outline)
    polygons = [list(polygon) for polygon in outline or () if len(polygon) >= 6]
    if not polygons:
        return None
    found = run_lengths.decode(run_lengths.merge(run_lengths.frPyObjects(polygons, height, width)))
    return np.asarray(found, dtype=np.uint8)


def _draw(target: NDArray[np.uint8], outline: Any, box: NDArray[np.float32], offset: tuple[int, int]) -> None:
    if isinstance(outline, dict):
        whole = _decoded(outline)
        part = whole[offset[1] : offset[1] + target.shape[0], offset[0] : offset[0] + target.shape[1]]
        target[: part.shape[0], : part.shape[1]] = part
        return
    filled = mask_of([_moved(polygon, offset) for polygon in outline], *target.shape)
    if filled is not None:
        target[:] = filled
        return
    x1, y1, x2, y2 = (round(float(value)) for value in box)
    target[y1 : max(y2, y1 + 1), x1 : max(x2, x1 + 1)] = 1


def _moved(polygon: Sequence[float], offset: tuple[int, int]) -> list[float]:
    points = np.asarray(polygon[: len(polygon) // 2 * 2], dtype=np.float64).reshape(-1, 2) - offset
    moved: list[float] = points.flatten().tolist()
    return moved


def _decoded(outline: dict[str, Any]) -> NDArray[np.uint8]:
    height, width = outline["size"]
    counts = outline["counts"]
    if not isinstance(counts, list):
        return np.asarray(run_lengths.decode(outline), dtype=np.uint8)
    values = np.arange(len(counts)) % 2
    flat = np.repeat(values, counts).astype(np.uint8)
    return flat.reshape(width, height).T
