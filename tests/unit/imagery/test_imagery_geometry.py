"""Boxes and polygons: clipping and areas hold for any rectangle."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.imagery.geometry import (
    Window,
    areas,
    as_boxes,
    clip_polygon,
    clipped,
    corners,
    ordered,
    polygon_area,
    polygon_bounds,
)

coordinate = st.integers(-500, 1500).map(float)
box = st.tuples(coordinate, coordinate, coordinate, coordinate)
boxes = st.lists(box, max_size=20).map(as_boxes)


@given(boxes)
def test_ordering_corners_changes_neither_the_place_nor_the_size_of_a_rectangle(given_boxes: np.ndarray) -> None:
    straight = ordered(given_boxes)

    sides = np.abs(given_boxes[:, 2:] - given_boxes[:, :2])
    assert (straight[:, :2] <= straight[:, 2:]).all()
    assert (areas(straight) == sides[:, 0] * sides[:, 1]).all()
    assert (ordered(straight) == straight).all()


@given(boxes, st.integers(1, 1000), st.integers(1, 1000))
def test_a_clipped_box_lies_in_the_image_and_is_never_larger(given_boxes: np.ndarray, width: int, height: int) -> None:
    straight = ordered(given_boxes)

    inside = clipped(straight, width, height)

    assert (inside >= 0).all()
    assert (inside[:, [0, 2]] <= width).all()
    assert (inside[:, [1, 3]] <= height).all()
    assert (areas(inside) <= areas(straight)).all()
    assert (clipped(inside, width, height) == inside).all()


@given(box, box)
def test_clipping_a_rectangle_as_a_polygon_equals_clipping_it_as_a_box(
    subject: tuple[float, ...], window: tuple[float, ...]
) -> None:
    x1, y1, x2, y2 = ordered(as_boxes([subject]))[0].tolist()
    frame = ordered(as_boxes([window]))[0].tolist()
    low = np.maximum([x1, y1], frame[:2])
    high = np.minimum([x2, y2], frame[2:])

    found = clip_polygon([(x1, y1), (x2, y1), (x2, y2), (x1, y2)], tuple(frame))

    expected = float(np.prod(np.maximum(high - low, 0)))
    assert polygon_area(found) == pytest.approx(expected)


def test_a_triangle_is_cut_at_the_window_edge() -> None:
    cut = clip_polygon([(0.0, 0.0), (10.0, 0.0), (0.0, 10.0)], (0.0, 0.0, 5.0, 10.0))

    assert polygon_area(cut) == pytest.approx(37.5)
    assert polygon_bounds(cut) == (0.0, 0.0, 5.0, 10.0)


def test_a_polygon_outside_of_the_window_leaves_nothing() -> None:
    cut = clip_polygon([(20.0, 20.0), (30.0, 20.0), (30.0, 30.0)], (0.0, 0.0, 5.0, 5.0))

    assert polygon_area(cut) == 0.0


def test_lines_and_points_have_no_area() -> None:
    assert polygon_area([]) == 0.0
    assert polygon_area([(0.0, 0.0), (3.0, 4.0)]) == 0.0


def test_coco_boxes_become_corners() -> None:
    assert corners(as_boxes([(10, 20, 30, 40)])).tolist() == [[10, 20, 40, 60]]


def test_a_box_the_wrong_way_round_has_no_area_until_it_is_put_in_order() -> None:
    inverted = as_boxes([(80, 80, 60, 90)])

    assert areas(inverted).tolist() == [0.0]
    assert areas(ordered(inverted)).tolist() == [200.0]


def test_no_boxes_are_an_array_too() -> None:
    assert as_boxes([]).shape == (0, 4)
    assert areas(as_boxes([])).tolist() == []


def test_a_window_knows_its_sides() -> None:
    window = Window(10, 20, 40, 25)

    assert (window.width, window.height) == (30, 5)
