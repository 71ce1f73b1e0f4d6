"""The grid of tiles: every pixel is covered, every tile is full, names say where a tile came from."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.domain.errors import InvalidInput
from resolute.imagery.geometry import Window
from resolute.imagery.grid import Grid, check_tiling, folder_names, intervals, parse_tile_name, tile_name

lengths = st.integers(1, 3000)
sizes = st.integers(1, 700)
ratios = st.floats(0, 0.9)


@given(lengths, sizes, ratios)
def test_pieces_cover_every_pixel_and_stay_inside(length: int, size: int, ratio: float) -> None:
    pieces = intervals(length, size, ratio)

    covered = 0
    for start, stop in pieces:
        assert 0 <= start <= covered
        covered = stop
    assert pieces[0][0] == 0
    assert covered == length


@given(lengths, sizes, ratios)
def test_every_piece_has_full_size_when_the_image_has(length: int, size: int, ratio: float) -> None:
    pieces = intervals(length, size, ratio)

    assert {stop - start for start, stop in pieces} == {min(length, size)}


@given(lengths, sizes, ratios)
def test_all_but_the_last_piece_lie_one_step_apart_and_none_is_repeated(length: int, size: int, ratio: float) -> None:
    pieces = intervals(length, size, ratio)

    step = size - int(ratio * size)
    assert [start for start, _ in pieces[:-1]] == [index * step for index in range(len(pieces) - 1)]
    assert len(set(pieces)) == len(pieces)


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (700, [(0, 300), (240, 540), (400, 700)]),
        (650, [(0, 300), (240, 540), (350, 650)]),
        (301, [(0, 300), (1, 301)]),
        (300, [(0, 300)]),
        (299, [(0, 299)]),
        (540, [(0, 300), (240, 540)]),
    ],
)
def test_the_grid_of_300_with_a_fifth_overlap_is_that_of_the_original(
    length: int, expected: list[tuple[int, int]]
) -> None:
    assert intervals(length, 300, 0.2) == expected


def test_tiles_go_row_by_row_from_left_to_right() -> None:
    windows = Grid(500, 400, 300, 0.2).windows()

    assert windows == [
        Window(0, 0, 300, 300),
        Window(200, 0, 500, 300),
        Window(0, 100, 300, 400),
        Window(200, 100, 500, 400),
    ]


def test_an_image_smaller_than_a_tile_is_one_smaller_tile() -> None:
    grid = Grid(299, 200, 300, 0.2)

    assert grid.windows() == [Window(0, 0, 299, 200)]
    assert len(grid) == 1


@pytest.mark.parametrize(("size", "ratio"), [(0, 0.2), (-5, 0.2), (300, 1.0), (300, -0.1), (300, 7)])
def test_a_grid_that_would_never_end_is_refused_with_the_value(size: int, ratio: float) -> None:
    with pytest.raises(InvalidInput, match=rf"is ({size}|{ratio})"):
        check_tiling(size, ratio)


@given(
    st.text(st.characters(categories=["L", "N"], include_characters="_-. "), min_size=1, max_size=20),
    st.integers(0, 99),
)
def test_a_tile_name_tells_where_it_came_from(stem: str, x: int) -> None:
    window = Window(x, 2 * x, x + 300, 2 * x + 300)

    assert parse_tile_name(tile_name(stem, window, ".jpg")) == (stem, window)


def test_names_that_are_not_of_tiles_are_not_taken_for_them() -> None:
    assert parse_tile_name("5.png") is None
    assert parse_tile_name("a_b_c_d_e.jpg") is None


def test_folders_are_named_as_the_original_names_them() -> None:
    assert folder_names("train", 300, 0.2) == ("train_images_300_02", "train_300_02.json")
    assert folder_names("val", 640, 0.25) == ("val_images_640_025", "val_640_025.json")
