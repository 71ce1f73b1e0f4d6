"""Column types, pages and batches of keys: small pure parts of the database adapter."""

import json
import math
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.dialects import sqlite

from resolute.domain.allocation import NodeShare
from resolute.domain.trial import TrialState
from resolute.engine.ports.queries import PageRequest
from resolute.store.db.columns import LIST_SEPARATOR, Choice, Document, Elements, Moment, Shares
from resolute.store.db.paging import batched, window
from resolute.store.moment import from_microseconds, to_microseconds

DIALECT = sqlite.dialect()
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001
def test_a_moment_comes_back_to_the_microsecond(moment: datetime) -> None:
    assert from_microseconds(to_microseconds(moment)) == moment


@given(st.datetimes(timezones=st.just(UTC)), st.datetimes(timezones=st.just(UTC)))
def test_moments_sort_as_their_numbers_do(left: datetime, right: datetime) -> None:
    assert (left < right) == (to_microseconds(left) < to_microseconds(right))


def test_a_moment_of_another_zone_is_the_same_moment() -> None:
    berlin = timezone(timedelta(hours=2))
    moment = datetime(2026, 7, 1, 14, tzinfo=berlin)

    stored = Moment().process_bind_param(moment, DIALECT)

    assert Moment().process_result_value(stored, DIALECT) == datetime(2026, 7, 1, 12, tzinfo=UTC)


@given(json_values)
def test_a_document_comes_back_as_it_was(value: object) -> None:
    stored = Document().process_bind_param(value, DIALECT)

    assert Document().process_result_value(stored, DIALECT) == value


def test_documents_keep_what_json_alone_would_lose() -> None:
    value = {"nan": math.nan, "inf": -math.inf, "huge": 2**200}

    found = Document().process_result_value(Document().process_bind_param(value, DIALECT), DIALECT)

    assert math.isnan(found["nan"])
    assert (found["inf"], found["huge"]) == (-math.inf, 2**200)


@given(st.lists(st.text(), max_size=5).map(tuple))
def test_the_separator_of_elements_stands_in_no_element(value: tuple[str, ...]) -> None:
    stored = Elements().process_bind_param(value, DIALECT)

    assert stored is not None
    assert stored.count(LIST_SEPARATOR) == max(0, len(value) - 1)
    assert all(LIST_SEPARATOR not in json.dumps(item) for item in value)
    assert Elements().process_result_value(stored, DIALECT) == value


def test_nothing_is_nothing() -> None:
    for column in (Moment(), Document(), Choice(TrialState)):
        assert column.process_bind_param(None, DIALECT) is None
        assert column.process_result_value(None, DIALECT) is None
    assert Elements().process_result_value(None, DIALECT) == ()
    assert Shares().process_result_value(None, DIALECT) == ()


def test_a_choice_is_stored_by_its_value() -> None:
    column = Choice(TrialState)

    assert column.process_bind_param(TrialState.PAUSED, DIALECT) == "PAUSED"
    assert column.process_result_value("PAUSED", DIALECT) is TrialState.PAUSED


def test_shares_come_back_as_they_were() -> None:
    shares = (NodeShare("a", (0, 3)), NodeShare("b", ()))

    assert Shares().process_result_value(Shares().process_bind_param(shares, DIALECT), DIALECT) == shares


@pytest.mark.parametrize(
    ("page", "total", "expected"),
    [
        (PageRequest(), 10, (0, None)),
        (PageRequest(offset=3, limit=2), 10, (3, 2)),
        (PageRequest(offset=-3), 10, (7, None)),
        (PageRequest(offset=-30, limit=4), 10, (0, 4)),
    ],
)
def test_a_negative_offset_counts_from_the_end(page: PageRequest, total: int, expected: tuple[int, int | None]) -> None:
    assert window(page, total) == expected


@given(st.integers(0, 20_000))
def test_batches_of_keys_cover_them_once_in_order(count: int) -> None:
    parts = list(batched(range(count)))

    assert [key for part in parts for key in part] == list(range(count))
    assert all(0 < len(part) <= 5000 for part in parts)
