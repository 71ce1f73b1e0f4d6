"""A column and what it says has changed: right after any changes, and said without comparing after the usual ones."""

import gc
import json
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.search.patch import changes, patched
from resolute.search.tracked_list import Splice, TrackedList

NUMBERS = st.integers(0, 9)
PLACES = st.integers(-3, 12)
Change = Callable[[TrackedList[int]], Any]


def _at(name: str, *values: Any) -> Change:
    return lambda column: getattr(column, name)(*values)


def _set(at: int, item: int) -> Change:
    return lambda column: column.__setitem__(at, item) if -len(column) <= at < len(column) else None


def _cut(start: int, end: int) -> Change:
    return lambda column: column.__delitem__(slice(start, end))


def _pop(at: int) -> Change:
    return lambda column: column.pop(at) if -len(column) <= at < len(column) else None


CHANGES = st.one_of(
    st.builds(_at, st.just("append"), NUMBERS),
    st.builds(_at, st.just("insert"), PLACES, NUMBERS),
    st.builds(_set, PLACES, NUMBERS),
    st.builds(_pop, PLACES),
    st.builds(_cut, PLACES, PLACES),
    st.builds(_at, st.just("extend"), st.lists(NUMBERS, max_size=3)),
    st.builds(_at, st.just("__iadd__"), st.lists(NUMBERS, max_size=3)),
    st.sampled_from([_at("sort"), _at("reverse"), _at("clear")]),
)


@given(start=st.lists(NUMBERS, max_size=8), steps=st.lists(st.lists(CHANGES, max_size=3), max_size=8))
def test_the_patches_of_a_column_add_up_to_it_whatever_happens_to_it(
    start: list[int], steps: list[list[Change]]
) -> None:
    column = TrackedList(start)
    written = column.written()
    stored: Any = json.loads(json.dumps(written))

    for step in steps:
        for change in step:
            change(column)
        fresh = column.written()
        stored = patched(stored, json.loads(json.dumps(changes(written, fresh))))
        written = fresh

        assert stored == list(column)


@pytest.mark.parametrize(
    ("change", "splice"),
    [
        (_at("append", 9), Splice(3, 0, 1)),
        (_at("insert", 1, 9), Splice(1, 0, 1)),
        (_set(2, 9), Splice(2, 1, 1)),
    ],
    ids=["append", "insert", "replace"],
)
def test_one_change_is_known_without_a_comparison(change: Change, splice: Splice) -> None:
    column = TrackedList([1, 2, 3])
    before = column.written()

    change(column)

    assert column.written().splice_from(before) == splice


def test_a_row_of_additions_is_one_change() -> None:
    column = TrackedList([1])
    before = column.written()

    for item in (2, 3, 4):
        column.append(item)

    assert column.written().splice_from(before) == Splice(1, 0, 3)


def test_replacing_the_same_item_again_is_still_one_change() -> None:
    column = TrackedList([1, 2])
    before = column.written()

    column[1] = 5
    column[1] = 6

    assert column.written().splice_from(before) == Splice(1, 1, 1)
    assert changes(before, column.written()) == {"at": 1, "cut": 1, "put": [6]}


@pytest.mark.parametrize("change", [_at("sort"), _at("pop"), _at("remove", 3), _at("reverse"), _set(-1, 4)])
def test_other_changes_are_found_by_comparison(change: Change) -> None:
    column = TrackedList([3, 1, 2])
    before = column.written()

    change(column)

    assert column.written().splice_from(before) is None
    assert patched(list(before), changes(before, column.written())) == list(column)


def test_what_is_written_stays_as_it_was() -> None:
    column = TrackedList([1, 2])
    before = column.written()

    column.append(3)

    assert before == [1, 2]
    assert column.written() is column.written()
    assert column.written() is not before


def test_a_change_is_told_only_to_the_list_that_it_was_made_on() -> None:
    column = TrackedList([1])
    first = column.written()
    column.append(2)
    column.written()
    column.append(3)

    newest = column.written()

    assert newest.splice_from(first) is None
    assert newest.splice_from([1, 2]) is None
    assert changes(first, newest) == {"at": 1, "cut": 0, "put": [2, 3]}


def test_old_copies_are_not_kept() -> None:
    column = TrackedList([1])
    oldest = weakref.ref(column.written())

    column.append(2)
    column.written()
    gc.collect()

    assert oldest() is None
