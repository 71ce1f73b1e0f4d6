"""Polygons cut at the edges of tiles, and boxes as polygons for parity. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from resolute.imagery.coco import Annotation, Number, Segmentation
from resolute.imagery.geometry import Boxes, Point, Window, clip_polygon, polygon_area, polygon_bounds
from resolute.imagery.tile_labels import TileLabels


@dataclass(frozen=True)
class CutMasks:
    """Labels whose polygons are not empty in their tiles. `rows`: which rows of the labels given they are."""

    masks: list[Segmentation]
    labels: TileLabels
    rows: list[int]


def has_polygons(annotation: Annotation) -> bool:
    """Whether there is a polygon with an inside: three points or more."""
    return isinstance(annotation.segmentation, list) and any(len(p) >= 6 for p in annotation.segmentation)


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
    masks: list[Segmentation] = []
    rows: list[int] = []
    for row, (owner, tile) in enumerate(zip(owners, labels.tile.tolist(), strict=True)):
        if not has_polygons(owner):
            masks.append(_as_polygon(boxes, row) if is_parity else [])
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


def _as_polygon(boxes: Boxes, row: int) -> Segmentation:
    x1, y1, x2, y2 = (int(value) for value in boxes[row].tolist())
    return [[x1, y1, x1, y2, x2, y2, x2, y1]]


def _flat(points: list[Point], *, is_parity: bool) -> list[Number]:
    flat = [value for point in points for value in point]
    return [int(value) for value in flat] if is_parity else list(flat)
