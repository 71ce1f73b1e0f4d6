"""Pages of lists that are whole in memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.server.paging import PageParams, pagination


@pytest.mark.parametrize(
    ("offset", "limit", "expected"),
    [
        (0, 0, [0, 1, 2, 3, 4]),
        (0, -1, [0, 1, 2, 3, 4]),
        (1, 2, [1, 2]),
        (4, 9, [4]),
        (9, 2, []),
        (-2, 0, [3, 4]),
        (-9, 2, [0, 1]),
        (0, -2, []),
    ],
)
def test_the_page_that_was_asked_for(offset: int, limit: int, expected: list[int]) -> None:
    assert PageParams(offset, limit).cut(list(range(5))).items == expected


@given(size=st.integers(0, 30), limit=st.integers(1, 7))
def test_a_client_that_goes_on_from_the_end_index_sees_everything_once(size: int, limit: int) -> None:
    items, seen, offset = list(range(size)), [], 0
    while True:
        params = PageParams(offset, limit)
        page = params.cut(items)
        seen += page.items
        told = pagination(page, params)
        if told.end_index >= told.total:
            break
        offset = told.end_index

    assert seen == items


@given(offset=st.integers(-50, 50), limit=st.integers(-2, 50), size=st.integers(0, 30))
def test_what_is_told_matches_what_is_given(offset: int, limit: int, size: int) -> None:
    params = PageParams(offset, limit)

    page = params.cut(list(range(size)))

    told = pagination(page, params)
    assert told.total == size
    assert told.end_index - told.start_index == len(page.items)
    assert page.items == list(range(told.start_index, told.end_index))
