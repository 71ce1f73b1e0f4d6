"""Bounds as texts: what is four numbers is read, whatever they look like; anything else is left to somebody else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.imagery.bounds import boxes_of

BOX = st.lists(st.integers(0, 999_999_999), min_size=4, max_size=4)
ANY_BOX = st.lists(
    st.integers(-(10**12), 10**12) | st.floats(-1e9, 1e9, allow_nan=False, width=32), min_size=4, max_size=4
)


@given(st.lists(BOX, max_size=12))
def test_whole_numbers_of_any_length_are_read_exactly(rows: list[list[int]]) -> None:
    found = boxes_of([",".join(map(str, row)) for row in rows])

    assert found is not None
    assert found.tolist() == rows


@given(st.lists(ANY_BOX, max_size=12))
def test_numbers_of_any_kind_are_read(rows: list[list[float]]) -> None:
    found = boxes_of([",".join(map(repr, row)) for row in rows])

    assert found is not None
    assert found.tolist() == rows


def test_leading_blanks_are_read_as_in_json() -> None:
    found = boxes_of(["1, 2, 3, 4", "5,6,7,8"])

    assert found is not None
    assert found.tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]


@pytest.mark.parametrize(
    "odd",
    [
        "",
        " ",
        "1,2,3",
        "1,2,3,4,5",
        "1,2,,4",
        ",,,",
        "a,b,c,d",
        "1,2,3,nan",
        "1,2,3,1e999",
        "1,2,3,4\n5,6,7,8",
        "1,[2],3,4",
        "1,2,3,4]",
        "1;2;3;4",
        "\ud800,2,3,4",
        "1:,2,3,4",
        "٣,2,3,4",
        None,
        7,
        [1, 2, 3, 4],
        [],
    ],
)
def test_one_odd_text_among_good_ones_leaves_them_all(odd: object) -> None:
    assert boxes_of(["1,2,3,4", odd, "5,6,7,8"]) is None


def test_a_comma_too_few_is_not_made_good_by_the_next_text() -> None:
    assert boxes_of(["1,2,3", "4,5,6,7,8"]) is None


def test_no_text_is_no_box() -> None:
    found = boxes_of([])

    assert found is not None
    assert found.shape == (0, 4)
