"""Chunks: what goes in comes out, in every mixture of names and types."""

import math
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resolute.domain.metric import MetricReport
from resolute.store.metrics.chunk import (
    Entry,
    before,
    build,
    decode,
    decode_points,
    encode,
    entries,
    entry_at,
    entry_of,
    is_number,
    join,
    report_of,
)

numbers = st.one_of(st.floats(), st.integers(-(2**63), 2**63 - 1))
others = st.one_of(st.none(), st.booleans(), st.text(max_size=5), st.integers(2**63, 2**80), st.lists(st.integers()))
names = st.sampled_from(["loss", "lr", "a b", "ü", ""])
metrics = st.dictionaries(names, st.one_of(numbers, others), max_size=4)


@st.composite
def chunks_of_entries(draw: st.DrawFn) -> list[Entry]:
    steps = sorted(draw(st.sets(st.integers(-5, 10**12), min_size=1, max_size=8)))
    return [Entry(place + 1, step, 10**15 + place, draw(metrics)) for place, step in enumerate(steps)]


def _same(left: Any, right: Any) -> bool:
    """Equal, with NaN equal to itself; a column of mixed numbers comes back as real numbers."""
    if is_number(left) and is_number(right):
        return float(left) == float(right) or (math.isnan(left) and math.isnan(right))
    return bool(left == right)


def _assert_same(found: list[Entry], sent: list[Entry]) -> None:
    assert [(e.id, e.steps, e.time_us, e.batch_metrics) for e in found] == [
        (e.id, e.steps, e.time_us, e.batch_metrics) for e in sent
    ]
    for left, right in zip(found, sent, strict=True):
        assert left.metrics.keys() == right.metrics.keys()
        assert all(_same(left.metrics[name], right.metrics[name]) for name in left.metrics)


@settings(deadline=None, max_examples=60)
@given(chunks_of_entries())
def test_any_reports_survive_the_trip_to_the_disk(sent: list[Entry]) -> None:
    _assert_same(entries(decode(encode(build(sent)))), sent)


@settings(deadline=None, max_examples=40)
@given(chunks_of_entries())
def test_one_report_reads_the_same_alone_as_with_all(sent: list[Entry]) -> None:
    chunk = decode(encode(build(sent)))

    for entry in sent:
        found = entry_at(chunk, entry.steps)
        assert found is not None
        _assert_same([found], [entry])
    assert entry_at(chunk, 10**13) is None


@settings(deadline=None, max_examples=40)
@given(chunks_of_entries(), st.data())
def test_joining_pieces_gives_the_whole_in_any_order(sent: list[Entry], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(sent)))
    pieces = [build(part) for part in (sent[cut:], sent[:cut]) if part]

    _assert_same(entries(join(pieces)), sent)


@settings(deadline=None, max_examples=40)
@given(chunks_of_entries(), st.integers(-6, 10**12))
def test_what_is_below_a_step_is_a_prefix(sent: list[Entry], limit: int) -> None:
    _assert_same(entries(before(build(sent), limit)), [entry for entry in sent if entry.steps < limit])


def test_whole_numbers_stay_whole_and_mixed_columns_become_real() -> None:
    sent = [Entry(1, 1, 0, {"epoch": 1, "loss": 1}), Entry(2, 2, 0, {"epoch": 2, "loss": 0.5})]

    first, _ = entries(decode(encode(build(sent))))

    assert (type(first.metrics["epoch"]), type(first.metrics["loss"])) == (int, float)


def test_one_column_is_read_without_the_others() -> None:
    sent = [Entry(1, 10, 7, {"a": 1.0, "b": 2}), Entry(2, 20, 8, {"b": 3}), Entry(3, 30, 9, {"a": math.nan, "c": "x"})]
    payload = encode(build(sent))

    found = decode_points(payload, "a")

    assert found is not None
    ids, steps, times, values = found
    assert (ids.tolist(), steps.tolist(), times.tolist()) == ([1, 3], [10, 30], [7, 9])
    assert values[0] == 1.0
    assert np.isnan(values[1])
    assert decode_points(payload, "c") is None
    assert decode_points(payload, "missing") is None


def test_a_report_and_its_entry_are_the_same_thing() -> None:
    report = MetricReport(
        trial_id=3,
        run_id=2,
        group="training",
        steps_completed=5,
        report_time=datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
        metrics={"loss": 1.0},
        batch_metrics=[{"loss": 2.0}],
    )

    assert report_of(entry_of(report, 1), trial_id=3, run_id=2, group="training") == report


def test_batch_metrics_stay_with_their_report() -> None:
    sent = [Entry(1, 1, 0, {"a": 1.0}), Entry(2, 2, 0, {}, [{"a": 1.0}, {}])]

    assert [entry.batch_metrics for entry in entries(decode(encode(build(sent))))] == [None, [{"a": 1.0}, {}]]


@pytest.mark.parametrize(
    ("value", "wanted"),
    [(1.0, True), (math.nan, True), (-(2**63), True), (2**63, False), (True, False), ("1", False), (None, False)],
)
def test_flags_and_huge_integers_are_no_numbers(value: object, wanted: bool) -> None:
    assert is_number(value) is wanted
