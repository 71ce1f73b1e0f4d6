"""Outlines of chunks: what they keep, how they are joined, and their form on the disk."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resolute.store.metrics.chunk import Chunk, Entry, build
from resolute.store.metrics.outline import (
    LEAST,
    NOTHING,
    Outline,
    decode,
    encode,
    is_enough,
    joined,
    outlined,
    outlines_of,
    whole,
)
from resolute.store.metrics.series import Cached, OutlineEntry, Points, SeriesCache


def points(values: list[float], *, first: int = 0) -> Outline:
    steps = np.arange(first, first + len(values))
    return whole(steps, steps * 1000, np.array(values, dtype=np.float64))


def wave(count: int, *, first: int = 0) -> Outline:
    return points(np.sin(np.arange(count) / 50).tolist(), first=first)


def a_chunk(count: int) -> Chunk:
    return build(
        [Entry(step + 1, step, step * 1000, {"loss": step * 0.5, "epoch": step // 10}) for step in range(count)]
    )


class TestOutlining:
    @settings(deadline=None, max_examples=60)
    @given(st.lists(st.floats(), min_size=1, max_size=800))
    def test_ends_extremes_and_a_value_that_is_no_number_stay(self, values: list[float]) -> None:
        column = np.array(values)

        outline = outlined(points(values))

        finite = column[np.isfinite(column)]
        assert outline.count == len(values)
        assert (outline.steps[0], outline.steps[-1]) == (0, len(values) - 1)
        np.testing.assert_array_equal(outline.values, column[outline.steps])
        np.testing.assert_array_equal(outline.times_us, outline.steps * 1000)
        if len(finite):
            assert {finite.min(), finite.max()} <= set(outline.values.tolist())
        if len(finite) < len(column):
            assert not np.isfinite(outline.values).all()

    def test_one_point_in_64_is_kept(self) -> None:
        assert len(outlined(wave(64_000)).steps) == pytest.approx(1000, abs=10)

    def test_what_is_small_is_kept_whole(self) -> None:
        assert outlined(wave(32)).is_whole
        assert not outlined(wave(LEAST)).is_whole

    def test_a_large_chunk_can_be_forgotten_once_it_is_outlined(self) -> None:
        outline = outlined(wave(64_000))

        assert outline.nbytes < 30_000
        assert outline.steps.base is None or outline.steps.base.nbytes < 30_000

    def test_every_metric_of_a_chunk_has_one_and_whole_numbers_become_real(self) -> None:
        found = outlines_of(a_chunk(1000))

        assert sorted(found) == ["epoch", "loss"]
        assert found["epoch"].values.dtype == np.float64
        assert found["loss"].count == 1000

    def test_a_metric_that_only_some_reports_have_keeps_its_own_steps(self) -> None:
        rows = [Entry(n + 1, n, n, {"loss": 1.0} | ({"rate": n / 10} if n % 100 == 7 else {})) for n in range(600)]

        outline = outlines_of(build(rows))["rate"]

        assert outline.steps.tolist() == [7, 107, 207, 307, 407, 507]
        assert outline.is_whole

    def test_words_have_none(self) -> None:
        assert outlines_of(build([Entry(1, 1, 1, {"note": "hello"})])) == {}


class TestJoining:
    def test_parts_follow_each_other(self) -> None:
        found = joined([points([1.0, 2.0]), NOTHING, points([3.0], first=2)])

        assert (found.steps.tolist(), found.values.tolist(), found.count) == ([0, 1, 2], [1.0, 2.0, 3.0], 3)

    def test_parts_that_overlap_are_sorted(self) -> None:
        early, late = points([1.0, 2.0], first=4), points([0.0], first=1)

        found = joined([early, late])

        assert (found.steps.tolist(), found.values.tolist()) == ([1, 4, 5], [0.0, 1.0, 2.0])
        assert found.times_us.tolist() == [1000, 4000, 5000]

    def test_points_that_were_left_out_are_counted(self) -> None:
        assert joined([outlined(wave(6400)), outlined(wave(100, first=6400))]).count == 6500

    def test_nothing_joined_is_nothing(self) -> None:
        assert joined([]).count == 0

    def test_enough_is_twice_what_is_asked_for_or_all_there_is(self) -> None:
        outline = outlined(wave(6400))

        assert is_enough([outline], len(outline.steps) // 2)
        assert not is_enough([outline], len(outline.steps))
        assert is_enough([wave(10), NOTHING], 1000)
        assert is_enough([], 1000)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.floats(), max_size=100), st.integers(0, 10**12))
def test_an_outline_comes_back_from_the_disk_as_it_was(values: list[float], count: int) -> None:
    full = points(values)
    outline = Outline(count, full.steps, full.times_us, full.values)

    found = decode(encode(outline))

    assert found.count == count
    for mine, theirs in zip(
        (found.steps, found.times_us, found.values), (full.steps, full.times_us, full.values), strict=True
    ):
        np.testing.assert_array_equal(mine, theirs)
        assert mine.dtype == theirs.dtype


class TestInMemory:
    def test_outlines_count_against_the_budget(self) -> None:
        cache = SeriesCache(budget=10_000)
        for trial in (1, 2, 3):
            cache.put((trial, "g", "n"), OutlineEntry((), {1: wave(200)}))

        assert len(cache) == 1
        assert isinstance(cache.get((3, "g", "n")), OutlineEntry)

    def test_a_series_that_grew_long_gives_back_what_its_points_took(self) -> None:
        cache = SeriesCache(budget=24 * 1000)
        short, long = (1, "g", "n"), (2, "g", "n")
        full = Points()
        full.extend(np.arange(500), np.arange(500), np.zeros(500))
        cache.put(short, Cached(full, ()))

        cache.put(short, OutlineEntry((), {1: wave(10)}))
        cache.put(long, OutlineEntry((), {1: wave(900)}))

        assert len(cache) == 2


def test_nan_alone_leaves_an_outline_of_nan() -> None:
    outline = outlined(points([math.nan] * 1000))

    assert np.isnan(outline.values).all()
    assert outline.count == 1000
