"""Labels of tiles: the fast way over whole columns gives what looking at each pair gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.imagery.coco import Annotation
from resolute.imagery.geometry import as_boxes, ordered
from resolute.imagery.grid import Grid
from resolute.imagery.tile_labels import TileLabels, assign
from resolute.imagery.tile_masks import cut_masks, has_polygons, mask_bounds

coordinate = st.integers(-50, 900).map(float)
boxes = st.lists(st.tuples(coordinate, coordinate, coordinate, coordinate), max_size=12).map(
    lambda rows: ordered(as_boxes(rows))
)
grids = st.builds(Grid, st.integers(1, 800), st.integers(1, 800), st.integers(50, 400), st.floats(0, 0.6))
RATIO = 0.1


def pair_by_pair(
    labels: np.ndarray, grid: Grid, ratio: float, *, is_parity: bool
) -> list[tuple[int, int, list[float]]]:
    found = []
    for tile, window in enumerate(grid.windows()):
        for row, (x1, y1, x2, y2) in enumerate(labels.tolist()):
            if x1 >= window.x2 or y1 >= window.y2 or x2 <= window.x1 or y2 <= window.y1:
                continue
            cut = max(x1, window.x1), max(y1, window.y1), min(x2, window.x2), min(y2, window.y2)
            part, whole = (cut[2] - cut[0]) * (cut[3] - cut[1]), (x2 - x1) * (y2 - y1)
            if is_parity:
                part, whole = int(part), int(whole)
            if whole > 0 and part / whole >= ratio:
                shift = window.x1, window.y1, window.x1, window.y1
                found.append((tile, row, [edge - by for edge, by in zip(cut, shift, strict=True)]))
    return found


@given(boxes, grids, st.sampled_from([0.0, RATIO, 0.5, 1.0]), st.booleans())
def test_columns_give_what_pairs_give(labels: np.ndarray, grid: Grid, ratio: float, is_parity: bool) -> None:
    found = assign(labels, grid, ratio, is_parity=is_parity)

    rows = zip(found.tile.tolist(), found.label.tolist(), found.boxes.tolist(), strict=True)
    assert [tuple(row) for row in rows] == pair_by_pair(labels, grid, ratio, is_parity=is_parity)


@given(boxes, grids)
def test_parts_of_an_image_together_give_the_whole(labels: np.ndarray, grid: Grid) -> None:
    middle = len(grid.rows) // 2

    upper = assign(labels, grid, RATIO, rows=(0, middle))
    lower = assign(labels, grid, RATIO, rows=(middle, len(grid.rows)))

    whole = assign(labels, grid, RATIO)
    assert np.concatenate([upper.tile, lower.tile]).tolist() == whole.tile.tolist()
    assert np.concatenate([upper.boxes, lower.boxes]).tolist() == whole.boxes.tolist()


def test_a_label_hanging_off_the_image_loses_its_tile_only_in_parity() -> None:
    grid = Grid(700, 650, 300, 0.2)
    hanging, cut_at_the_edge = as_boxes([(690, 640, 760, 700)]), as_boxes([(690, 640, 700, 650)])

    assert len(assign(hanging, grid, RATIO, is_parity=True).tile) == 0
    assert len(assign(cut_at_the_edge, grid, RATIO).tile) == 1


def test_a_box_over_six_tiles_stays_in_all_six() -> None:
    grid = Grid(700, 650, 300, 0.2)

    found = assign(as_boxes([(20, 20, 630, 330)]), grid, RATIO, is_parity=True)

    assert sorted(set(found.tile.tolist())) == [0, 1, 2, 3, 4, 5]


def test_touching_an_edge_is_not_lying_in_the_tile() -> None:
    found = assign(as_boxes([(100, 0, 150, 50)]), Grid(200, 100, 100, 0.0), 0.0)

    assert found.tile.tolist() == [1]


def test_what_is_left_out_for_want_of_area_is_counted_for_each_tile() -> None:
    found = assign(as_boxes([(0, 0, 101, 50)]), Grid(200, 100, 100, 0.0), RATIO)

    assert found.tile.tolist() == [0]
    assert found.too_small.tolist() == [0]


def polygon(*points: float, bbox: tuple[float, ...] = (0, 0, 10, 10)) -> Annotation:
    return Annotation(image_id=1, bbox=list(bbox), segmentation=[list(points)], category_id=0, id=1)


def test_a_polygon_is_cut_at_the_tile_and_gives_box_and_area() -> None:
    triangle = polygon(0, 0, 10, 0, 0, 10)
    grid = Grid(20, 10, 10, 0.0)
    labels = assign(as_boxes([mask_bounds(triangle)]), grid, 0.0)

    cut = cut_masks([triangle], labels, grid.windows(), RATIO)

    assert cut.labels.areas.tolist() == [50.0]
    assert cut.labels.boxes.tolist() == [[0, 0, 10, 10]]


def test_a_polygon_with_too_little_in_the_tile_is_left_out() -> None:
    wide = polygon(0, 0, 109, 0, 109, 10, 0, 10)
    grid = Grid(200, 10, 100, 0.0)
    labels = assign(as_boxes([mask_bounds(wide)]), grid, 0.0)

    cut = cut_masks([wide, wide], labels, grid.windows(), RATIO)

    assert labels.tile.tolist() == [0, 1]
    assert cut.labels.tile.tolist() == [0]
    assert cut.rows == [0]


def test_parity_makes_a_box_a_polygon_of_whole_numbers() -> None:
    plain = Annotation(image_id=1, bbox=[1, 2, 3, 4], category_id=0, id=1)
    labels = assign(as_boxes([(1, 2, 4, 6)]), Grid(10, 10, 10, 0.0), 0.0, is_parity=True)

    cut = cut_masks([plain], labels, Grid(10, 10, 10, 0.0).windows(), RATIO, is_parity=True)

    assert cut.masks == [[[1, 2, 1, 6, 4, 6, 4, 2]]]


@pytest.mark.parametrize("mask", [[], [[1, 2, 3, 4]], {"size": [1, 1], "counts": "0"}])
def test_what_has_no_inside_is_no_polygon(mask: list[list[float]] | dict[str, object]) -> None:
    assert not has_polygons(Annotation(image_id=1, bbox=[0, 0, 1, 1], segmentation=mask, category_id=0, id=1))


def test_no_labels_are_no_labels() -> None:
    found = assign(as_boxes([]), Grid(100, 100, 50, 0.2), RATIO)

    assert isinstance(found, TileLabels)
    assert len(found.tile) == len(found.boxes) == 0
