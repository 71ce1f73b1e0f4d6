"""Summaries, superseding, thinning and the cache of series: the pure parts of metrics."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resolute.engine.thinning import thin
from resolute.store.metrics.chunk import Entry, build
from resolute.store.metrics.series import Cached, Points, SeriesCache
from resolute.store.metrics.summary import Statistics, finite, joined, of_chunk
from resolute.store.metrics.supersede import Head, cutoffs, is_archived

values_strategy = st.lists(
    st.one_of(st.floats(-1e6, 1e6), st.sampled_from([math.nan, math.inf, -math.inf])), min_size=1
)


def _statistics(values: list[float], first_step: int = 0) -> Statistics:
    rows = [Entry(place, first_step + place, 0, {"x": value}) for place, value in enumerate(values)]
    return of_chunk(build(rows))["x"]


class TestStatistics:
    @settings(deadline=None, max_examples=60)
    @given(values_strategy, values_strategy)
    def test_parts_add_up_to_the_whole(self, left: list[float], right: list[float]) -> None:
        whole = _statistics(left + right)

        parts = joined(_statistics(left), _statistics(right, first_step=len(left)))

        assert (parts.count, parts.non_finite, parts.min, parts.max) == (
            whole.count,
            whole.non_finite,
            whole.min,
            whole.max,
        )
        assert parts.total == pytest.approx(whole.total, rel=1e-9, abs=1e-3)
        assert parts.last_steps == whole.last_steps

    def test_a_late_report_is_not_the_last(self) -> None:
        result = joined(_statistics([5.0], first_step=10), _statistics([1.0], first_step=3))

        assert (result.last, result.last_steps) == (5.0, 10)

    def test_sums_of_large_whole_numbers_do_not_wrap(self) -> None:
        rows = [Entry(place, place, 0, {"x": 2**62}) for place in range(4)]

        assert of_chunk(build(rows))["x"].total == 4.0 * 2**62

    def test_several_types_under_one_name_are_called_a_string(self) -> None:
        rows = [Entry(1, 1, 0, {"x": 1.0}), Entry(2, 2, 0, {"x": "text"})]

        result = of_chunk(build(rows))["x"]

        assert (result.type, result.count, result.last, result.max) == ("string", 2, "text", 1.0)

    @pytest.mark.parametrize(
        ("value", "expected"),
        [(1, 1.0), (0.5, 0.5), (math.nan, None), (-math.inf, None), (True, None), ("1", None), (None, None)],
    )
    def test_only_finite_numbers_can_be_compared(self, value: object, expected: float | None) -> None:
        assert finite(value) == expected


class TestSupersede:
    def test_each_run_is_cut_where_any_later_one_begins(self) -> None:
        heads = [_head(1, 0), _head(2, 50), _head(3, 30), _head(4, 80)]

        assert cutoffs(heads) == {4: None, 3: 80, 2: 30, 1: 30}

    def test_the_cut_itself_is_archived(self) -> None:
        assert is_archived(30, 30)
        assert not is_archived(29, 30)
        assert not is_archived(10**9, None)


def _head(run: int, first: int) -> Head:
    return Head(1, "training", run, first, first + 100, 10, 10)


class TestThinning:
    @settings(deadline=None, max_examples=60)
    @given(st.lists(st.floats(), min_size=1, max_size=600), st.integers(4, 100))
    def test_the_budget_is_kept_and_so_are_ends_and_extremes(self, values: list[float], budget: int) -> None:
        column = np.array(values)

        kept = thin(column, budget)

        finite = column[np.isfinite(column)]
        found = column[kept]
        assert len(kept) <= max(budget, 4)
        assert (kept[0], kept[-1]) == (0, len(values) - 1)
        assert (np.diff(kept) > 0).all()
        if len(finite) and budget >= 10:
            assert (finite.min() in found, finite.max() in found) == (True, True)
        if len(finite) < len(column):
            assert not np.isfinite(found).all()

    def test_every_stretch_keeps_its_smallest_and_largest(self) -> None:
        column = np.random.default_rng(0).standard_normal(10_000)

        kept = set(thin(column, 202).tolist())

        for stretch in np.array_split(np.arange(10_000), 100):
            inner = stretch[5:-5]  # where a stretch ends may differ by a point
            low, high = inner[column[inner].argmin()], inner[column[inner].argmax()]
            assert any(column[place] <= column[low] for place in kept if place in set(stretch.tolist()))
            assert any(column[place] >= column[high] for place in kept if place in set(stretch.tolist()))

    def test_nothing_is_left_out_of_what_fits(self) -> None:
        assert thin(np.arange(10.0), 10).tolist() == list(range(10))
        assert thin(np.empty(0), 10).tolist() == []


class TestPoints:
    def test_points_grow_and_are_cut_by_steps(self) -> None:
        points = Points()

        for start in range(0, 100, 10):
            steps = np.arange(start, start + 10)
            points.extend(steps, steps * 1_000_000, steps.astype(float))

        series = points.thinned((1, "g", "n"), max_points=1000, since=94, until=97)
        assert (series.steps, series.values, series.times) == ([95, 96, 97], [95.0, 96.0, 97.0], [95.0, 96.0, 97.0])
        assert len(points) == 100
        assert points.last_steps == 99

    def test_the_cache_lets_go_of_what_was_not_looked_at(self) -> None:
        cache = SeriesCache(budget=24 * 250)
        for trial in (1, 2, 3):
            points = Points()
            points.extend(np.arange(100), np.arange(100), np.zeros(100))
            cache.put((trial, "g", "n"), Cached(points, ()))
            cache.get((1, "g", "n"))

        assert len(cache) == 2
        assert cache.get((2, "g", "n")) is None
        assert cache.get((1, "g", "n")) is not None

    def test_what_is_larger_than_the_budget_is_not_kept(self) -> None:
        cache = SeriesCache(budget=10)
        points = Points()
        points.extend(np.arange(100), np.arange(100), np.zeros(100))

        cache.put((1, "g", "n"), Cached(points, ()))

        assert len(cache) == 0
