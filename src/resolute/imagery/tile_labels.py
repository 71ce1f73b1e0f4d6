"""Which part of which label falls into which tile. Pure, and whole columns at once.

`boxes` must be corners in the right order. In parity mode areas are cut to whole numbers and the ratio is taken from
the whole label, as SAHI 0.11.14 does; otherwise the caller has clipped the boxes to the image before.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from resolute.imagery.geometry import Boxes, areas
from resolute.imagery.grid import Grid

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class TileLabels:
    """One row for each label in each tile, ordered by tile, then as the labels were. Boxes are in tile coordinates."""

    tile: Ints
    label: Ints
    boxes: Boxes
    areas: NDArray[np.float64]
    too_small: Ints
    """Labels that were left out of a tile for want of area, once for each tile."""


def assign(
    boxes: Boxes,
    grid: Grid,
    min_area_ratio: float | NDArray[np.float64],
    *,
    rows: tuple[int, int] | None = None,
    is_parity: bool = False,
) -> TileLabels:
    """`min_area_ratio`: one for all, or one for each box. `rows`: only tiles of these rows, from start to stop."""
    first_row, last_row = rows or (0, len(grid.rows))
    label, row, column = _pairs(boxes, grid, first_row, last_row)
    windows = _windows(grid, row, column)
    cut = np.concatenate(
        [np.maximum(boxes[label, :2], windows[:, :2]), np.minimum(boxes[label, 2:], windows[:, 2:])], axis=1
    )
    sizes, whole = areas(cut), areas(boxes)[label]
    if is_parity:
        sizes, whole = np.trunc(sizes), np.trunc(whole)
    has_area = whole > 0
    ratio = np.divide(sizes, whole, out=np.zeros_like(whole), where=has_area)
    is_enough = has_area & (ratio >= np.broadcast_to(min_area_ratio, len(boxes))[label])
    cut -= np.concatenate([windows[:, :2], windows[:, :2]], axis=1)
    tile = row * len(grid.columns) + column
    return TileLabels(tile[is_enough], label[is_enough], cut[is_enough], sizes[is_enough], label[~is_enough])


def _pairs(boxes: Boxes, grid: Grid, first_row: int, last_row: int) -> tuple[Ints, Ints, Ints]:
    """Every (label, row, column) that overlap by more than an edge, ordered by row, column and label."""
    x_first, x_stop = _span(boxes[:, 0], boxes[:, 2], grid.columns)
    y_first, y_stop = _span(boxes[:, 1], boxes[:, 3], grid.rows)
    y_first, y_stop = np.maximum(y_first, first_row), np.minimum(y_stop, last_row)
    across, down = np.maximum(x_stop - x_first, 0), np.maximum(y_stop - y_first, 0)
    count = across * down
    label = np.repeat(np.arange(len(boxes)), count)
    within = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
    row = y_first[label] + within // np.maximum(across[label], 1)
    column = x_first[label] + within % np.maximum(across[label], 1)
    order = np.lexsort((label, column, row))
    return label[order], row[order], column[order]


def _span(low: NDArray[np.float64], high: NDArray[np.float64], pieces: list[tuple[int, int]]) -> tuple[Ints, Ints]:
    """First and one past the last piece that overlaps low..high by more than an edge."""
    starts, stops = np.array([a for a, _ in pieces]), np.array([b for _, b in pieces])
    return np.searchsorted(stops, low, side="right"), np.searchsorted(starts, high, side="left")


def _windows(grid: Grid, row: Ints, column: Ints) -> Boxes:
    columns = np.array(grid.columns, dtype=np.float64).reshape(-1, 2)[column]
    rows = np.array(grid.rows, dtype=np.float64).reshape(-1, 2)[row]
    return np.stack([columns[:, 0], rows[:, 0], columns[:, 1], rows[:, 1]], axis=1)
