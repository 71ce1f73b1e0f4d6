"""Boxes as arrays of corners (x1, y1, x2, y2): clip, area, polygon clipping. Pure: no files, no images.

Boxes are float64 arrays of shape (n, 4). Windows are whole pixels; the right and bottom edges are not part of them.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Boxes = NDArray[np.float64]
Point = tuple[float, float]


class Window(NamedTuple):
    """A rectangle of whole pixels: x1 <= x < x2, y1 <= y < y2."""

    x1: int
    y1: int
    x2: int
    y2: int

    @property
    def width(self) -> int:
        return self.x2 - self.x1

    @property
    def height(self) -> int:
        return self.y2 - self.y1


def as_boxes(rows: Sequence[Sequence[float]]) -> Boxes:
    """Rows of four numbers as an array, also when there are none."""
    return np.asarray(rows, dtype=np.float64).reshape(-1, 4)


def corners(xywh: Boxes) -> Boxes:
    """COCO's (x, y, width, height) as corners."""
    # A sum beyond all numbers is infinite, and cut at the image's edge later.
    with np.errstate(over="ignore"):
        return np.concatenate([xywh[:, :2], xywh[:, :2] + xywh[:, 2:]], axis=1)


def ordered(boxes: Boxes) -> Boxes:
    """The same rectangles with x1 <= x2 and y1 <= y2."""
    lows = np.minimum(boxes[:, :2], boxes[:, 2:])
    highs = np.maximum(boxes[:, :2], boxes[:, 2:])
    return np.concatenate([lows, highs], axis=1)


def clipped(boxes: Boxes, width: float, height: float) -> Boxes:
    """The part of each box inside an image. A box wholly outside comes back with no area."""
    limits = np.array([width, height, width, height], dtype=np.float64)
    return np.minimum(np.maximum(boxes, 0.0), limits)


def areas(boxes: Boxes) -> NDArray[np.float64]:
    """Areas; zero for boxes whose corners are the wrong way round, and never above zero without area."""
    with np.errstate(over="ignore", invalid="ignore"):
        sides: NDArray[np.float64] = np.maximum(boxes[:, 2:] - boxes[:, :2], 0.0)
        return sides[:, 0] * sides[:, 1]


def clip_polygon(points: Sequence[Point], window: tuple[float, float, float, float]) -> list[Point]:
    """The part of a polygon inside a rectangle (Sutherland and Hodgman). Exact for convex polygons.

    A concave polygon that falls into several pieces comes back as one, its pieces joined along the window's edge.
    """
    x1, y1, x2, y2 = window
    result = list(points)
    for axis, limit, sign in ((0, x1, 1), (0, x2, -1), (1, y1, 1), (1, y2, -1)):
        result = _keep_side(result, axis, limit, sign)
    return result


def polygon_area(points: Sequence[Point]) -> float:
    if len(points) < 3:
        return 0.0
    twice = sum(xa * yb - xb * ya for (xa, ya), (xb, yb) in zip(points, [*points[1:], points[0]], strict=True))
    return abs(twice) / 2


def polygon_bounds(points: Sequence[Point]) -> tuple[float, float, float, float]:
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return min(xs), min(ys), max(xs), max(ys)


def _keep_side(points: list[Point], axis: int, limit: float, sign: int) -> list[Point]:
    kept: list[Point] = []
    for start, end in zip([points[-1], *points[:-1]] if points else [], points, strict=True):
        is_start_in, is_end_in = sign * (start[axis] - limit) >= 0, sign * (end[axis] - limit) >= 0
        if is_start_in != is_end_in:
            kept.append(_crossing(start, end, axis, limit))
        if is_end_in:
            kept.append(end)
    return kept


def _crossing(start: Point, end: Point, axis: int, limit: float) -> Point:
    share = (limit - start[axis]) / (end[axis] - start[axis])
    other = start[1 - axis] + share * (end[1 - axis] - start[1 - axis])
    return (limit, other) if axis == 0 else (other, limit)
