"""Polygons cut at the edges of tiles, and boxes as polygons for parity. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from resolute.imagery.coco import Annotation, Number, Segmentation
from resolute.imagery.geometry import Boxes, Point, Window, clip_polygon, polygon_area, polygon_bounds
from resolute.imagery.tile_labels import TileLabels

_CORNERS = (0, 1, 0, 3, 2, 3, 2, 1)
"""Columns of a box that make its polygon: down the left side, then up the right one."""


@dataclass(frozen=True)
class CutMasks:
    """Labels whose polygons are not empty in their tiles. `rows`: which rows of the labels given they are."""

    masks: list[Segmentation]
    labels: TileLabels
    rows: list[int]


def has_polygons(annotation: Annotation) -> bool:
    """Whether there is a polygon with an inside: three points or more."""
    # Most sets have none: that answer must cost nothing.
    if not annotation.segmentation or isinstance(annotation.segmentation, dict):
        return False
    return any(len(polygon) >= 6 for polygon in annotation.segmentation)


def mask_bounds(annotation: Annotation) -> tuple[float, float, float, float]:
    return polygon_bounds([point for polygon in _polygons(annotation) for point in points_of(polygon)])


def points_of(polygon: Sequence[Number]) -> list[Point]:
    return list(zip(polygon[0::2], polygon[1::2], strict=False))


def cut_masks(
    owners: list[Annotation],
    labels: TileLabels,
    windows: list[Window],
    min_area_ratio: float,
    *,
    is_parity: bool = False,
) -> CutMasks:
    """Cut the polygons of each owner at its tile. An owner without any keeps its box; parity makes it a polygon."""
    boxes, sizes = labels.boxes.copy(), labels.areas.copy()
    plain: list[Segmentation] = _as_polygons(boxes) if is_parity else [[] for _ in owners]
    masks: list[Segmentation] = []
    rows: list[int] = []
    for row, (owner, tile) in enumerate(zip(owners, labels.tile.tolist(), strict=True)):
        if not has_polygons(owner):
            masks.append(plain[row])
            rows.append(row)
            continue
        parts = [part for polygon in _polygons(owner) if len(part := _cut(polygon, windows[tile])) >= 3]
        size, whole = _area(parts, is_parity), _area([points_of(p) for p in _polygons(owner)], is_parity)
        if not parts or whole <= 0 or size / whole < min_area_ratio:
            continue
        boxes[row], sizes[row] = polygon_bounds([point for part in parts for point in part]), size
        masks.append([_flat(part, is_parity=is_parity) for part in parts])
        rows.append(row)
    kept = TileLabels(labels.tile[rows], labels.label[rows], boxes[rows], sizes[rows], labels.too_small)
    return CutMasks(masks, kept, rows)


def _polygons(annotation: Annotation) -> list[list[Number]]:
    return [p for p in annotation.segmentation if len(p) >= 6] if isinstance(annotation.segmentation, list) else []


def _area(parts: list[list[Point]], is_parity: bool) -> float:
    size = sum(map(polygon_area, parts))
    return float(int(size)) if is_parity else size


def _cut(polygon: list[Number], window: Window) -> list[Point]:
    inside = clip_polygon(points_of(polygon), cast(tuple[float, float, float, float], window))
    return [(x - window.x1, y - window.y1) for x, y in inside]


def _as_polygons(boxes: Boxes) -> list[Segmentation]:
    return [[corners] for corners in boxes.astype(np.int64)[:, _CORNERS].tolist()]


def _flat(points: list[Point], *, is_parity: bool) -> list[Number]:
    flat = [value for point in points for value in point]
    return [int(value) for value in flat] if is_parity else list(flat)
