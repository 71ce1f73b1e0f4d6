"""Long series are drawn from outlines: the same promises as for short ones, on every database."""

import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from sqlalchemy import delete, func, select

from resolute.domain.metric import TRAINING, MetricReport, Series
from resolute.domain.trial import Trial
from resolute.store.db import DatabaseStore, tables
from resolute.store.db.metric_ingest import heads_of
from resolute.store.db.metric_outlines import LONG, Window, long_series
from resolute.store.metrics.series import SeriesCache

NewReport = Callable[..., MetricReport]
CALL = 2000


def value_at(step: int) -> float:
    return math.sin(step / 300) + (step * 7919 % 101) / 500


def append(store: DatabaseStore, reports: list[MetricReport]) -> None:
    with store.write() as transaction:
        transaction.metrics.append(reports)


def drawn(
    store: DatabaseStore, trial: Trial, *, cache: SeriesCache | None = None, name: str = "loss", **window: int
) -> Series:
    """From outlines, however short the series is."""
    asked = Window(**{"max_points": 50, **window})
    with store.read() as transaction:
        connection = transaction._connection
        return long_series(connection, (trial.id, TRAINING, name), heads_of(connection, [trial.id]), cache, asked)


def exact(store: DatabaseStore, trial: Trial, *, name: str = "loss", max_points: int = 10**6, **window: int) -> Series:
    with store.read() as transaction:
        return transaction.metrics.series(trial.id, TRAINING, name, max_points=max_points, **window)


def outline_count(store: DatabaseStore) -> int:
    with store.read() as transaction:
        found = transaction._connection.execute(select(func.count()).select_from(tables.metric_outlines))
        return int(found.scalar_one())


@pytest.fixture
def calls(new_report: NewReport) -> Iterator[list[MetricReport]]:
    """Three calls of 2,000 reports each."""
    return iter(
        [new_report(step, loss=value_at(step)) for step in range(start, start + CALL)] for start in (0, CALL, 2 * CALL)
    )


@pytest.fixture
def long_trial(store: DatabaseStore, trial: Trial, calls: Iterator[list[MetricReport]]) -> Trial:
    for call in calls:
        append(store, call)
    return trial


class TestDrawing:
    def test_a_long_series_looks_like_the_exact_one(self, store: DatabaseStore, long_trial: Trial) -> None:
        whole = exact(store, long_trial)

        series = drawn(store, long_trial, max_points=40)

        known = dict(zip(whole.steps, zip(whole.values, whole.times, strict=True), strict=True))
        assert len(series.steps) <= 40
        assert series.total_points == 3 * CALL
        assert (series.steps[0], series.steps[-1]) == (0, 3 * CALL - 1)
        assert series.steps == sorted(series.steps)
        assert [known[step] for step in series.steps] == list(zip(series.values, series.times, strict=True))
        assert (min(series.values), max(series.values)) == (min(whole.values), max(whole.values))

    def test_who_asks_for_every_point_gets_it(self, store: DatabaseStore, long_trial: Trial) -> None:
        assert drawn(store, long_trial, max_points=10**6) == exact(store, long_trial)

    @pytest.mark.parametrize(
        "window",
        [
            {"since": 100, "until": 140},
            {"since": CALL - 20, "until": CALL + 20},
            {"since": 3 * CALL - 10},
            {"until": 30},
            {"since": 50, "until": 50},
        ],
    )
    def test_a_stretch_is_exact(self, store: DatabaseStore, long_trial: Trial, window: dict[str, int]) -> None:
        steps = {f"{key}_steps": value for key, value in window.items()}

        assert drawn(store, long_trial, **window) == exact(store, long_trial, **steps)

    def test_a_wide_stretch_is_counted_exactly(self, store: DatabaseStore, long_trial: Trial) -> None:
        series = drawn(store, long_trial, since=999, until=4998, max_points=20)

        assert series.total_points == 3999
        assert (series.steps[0], series.steps[-1]) == (1000, 4998)

    def test_a_peak_and_a_value_that_is_no_number_are_seen(
        self, store: DatabaseStore, trial: Trial, new_report: NewReport
    ) -> None:
        values = [float(step % 7) for step in range(CALL)]
        values[1234], values[321], values[777] = 99.0, -99.0, math.nan
        append(store, [new_report(step, loss=value) for step, value in enumerate(values)])

        series = drawn(store, trial, max_points=12)

        kept = dict(zip(series.steps, series.values, strict=True))
        assert (kept[1234], kept[321]) == (99.0, -99.0)
        assert math.isnan(kept[777])

    def test_a_metric_that_nobody_reported_has_no_points(self, store: DatabaseStore, long_trial: Trial) -> None:
        series = drawn(store, long_trial, name="accuracy")

        assert (series.steps, series.total_points) == ([], 0)


class TestChange:
    def test_what_a_restart_replaced_is_not_drawn(
        self, store: DatabaseStore, long_trial: Trial, new_report: NewReport
    ) -> None:
        append(store, [new_report(step, run=2, loss=50.0) for step in range(3000, 3700)])

        series = drawn(store, long_trial, max_points=30)

        assert series.total_points == 3700
        assert series.steps[-1] == 3699
        assert all((value == 50.0) == (step >= 3000) for step, value in zip(series.steps, series.values, strict=True))

    def test_new_reports_show_beside_what_is_remembered(
        self, store: DatabaseStore, long_trial: Trial, new_report: NewReport
    ) -> None:
        cache = SeriesCache()
        drawn(store, long_trial, cache=cache)

        append(store, [new_report(3 * CALL, loss=77.0)])

        series = drawn(store, long_trial, cache=cache)
        assert (series.steps[-1], series.values[-1], series.total_points) == (3 * CALL, 77.0, 3 * CALL + 1)

    def test_what_is_remembered_is_drawn_alike(self, store: DatabaseStore, long_trial: Trial) -> None:
        cache = SeriesCache()
        first = drawn(store, long_trial, cache=cache)
        part = drawn(store, long_trial, cache=cache, since=10, until=5000)

        assert drawn(store, long_trial, cache=cache) == first == drawn(store, long_trial)
        assert drawn(store, long_trial, cache=cache, since=10, until=5000) == part

    def test_a_metric_added_to_known_steps_is_drawn(
        self, store: DatabaseStore, long_trial: Trial, new_report: NewReport
    ) -> None:
        cache = SeriesCache()
        assert drawn(store, long_trial, cache=cache, name="rate").total_points == 0

        append(store, [new_report(step, rate=float(step)) for step in range(100, 400)])

        series = drawn(store, long_trial, cache=cache, name="rate", max_points=400)
        assert series.steps == list(range(100, 400))
        assert drawn(store, long_trial, cache=cache).total_points == 3 * CALL

    def test_reports_that_come_late_find_their_place(
        self, store: DatabaseStore, trial: Trial, new_report: NewReport
    ) -> None:
        append(store, [new_report(step, loss=float(step)) for step in range(0, 2 * CALL, 2)])

        append(store, [new_report(step, loss=float(step)) for step in range(1, 2 * CALL, 2)])

        series = drawn(store, trial, max_points=60)
        assert series.total_points == 2 * CALL
        assert series.steps == sorted(set(series.steps)) == [int(value) for value in series.values]

    def test_small_chunks_that_were_joined_are_outlined(
        self, store: DatabaseStore, trial: Trial, new_report: NewReport
    ) -> None:
        with store.write() as transaction:
            for start in range(0, 64 * 63, 63):
                transaction.metrics.append([new_report(step, loss=float(step)) for step in range(start, start + 63)])

        assert outline_count(store) == 1
        assert drawn(store, trial, max_points=30).total_points == 64 * 63


class TestOutlines:
    def test_large_chunks_have_one_per_metric(self, store: DatabaseStore, trial: Trial, new_report: NewReport) -> None:
        append(store, [new_report(step, loss=1.0, rate=2.0, note="x") for step in range(600)])
        append(store, [new_report(step, loss=1.0) for step in range(600, 700)])

        assert outline_count(store) == 2

    def test_they_go_with_their_experiment(self, store: DatabaseStore, long_trial: Trial) -> None:
        assert outline_count(store) == 3

        with store.write() as transaction:
            transaction.experiments.remove(long_trial.experiment_id)

        assert outline_count(store) == 0

    def test_a_database_of_an_earlier_release_has_none_and_is_drawn_alike(
        self, store: DatabaseStore, long_trial: Trial
    ) -> None:
        before = drawn(store, long_trial)
        with store.write() as transaction:
            transaction._connection.execute(delete(tables.metric_outlines))

        assert drawn(store, long_trial) == before
        assert drawn(store, long_trial, cache=SeriesCache()) == before


def test_the_port_draws_long_series_from_outlines(store: DatabaseStore, trial: Trial, new_report: NewReport) -> None:
    values = np.sin(np.arange(LONG + 1000) / 500).tolist()
    values[54_321] = 9.0
    for start in range(0, len(values), 25_000):
        steps = range(start, min(start + 25_000, len(values)))
        append(store, [new_report(step, loss=values[step]) for step in steps])

    with store.read() as transaction:
        one = transaction.metrics.series(trial.id, TRAINING, "loss", max_points=100)
        (many,) = transaction.metrics.series_of([trial.id], TRAINING, ["loss", "other"], max_points=100)
        near = transaction.metrics.series(trial.id, TRAINING, "loss", since_steps=54_300, until_steps=54_340)

    assert one == many
    assert one.total_points == len(values)
    assert len(one.steps) <= 100
    assert (54_321, 9.0) in zip(one.steps, one.values, strict=True)
    assert near.values == values[54_301:54_341]
