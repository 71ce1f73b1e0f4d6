"""`engine.ports.database.Metrics`, on every database."""

import math
from collections.abc import Callable, Sequence

import pytest

from resolute.domain.metric import TRAINING, VALIDATION, MetricReport, MetricSummary
from resolute.domain.trial import Trial
from resolute.engine.ports.database import Store

NewReport = Callable[..., MetricReport]


def _append(store: Store, *reports: MetricReport) -> int:
    with store.write() as transaction:
        return transaction.metrics.append(reports)


def _reports(store: Store, trial: Trial, **query: object) -> list[tuple[int, MetricReport, bool]]:
    with store.read() as transaction:
        return list(transaction.metrics.reports(trial.id, **query))  # type: ignore[arg-type]


def _live(store: Store, trial: Trial) -> list[tuple[int, int]]:
    """(run, steps) of what no later run has replaced."""
    found = _reports(store, trial)
    return [(report.run_id, report.steps_completed) for _, report, archived in found if not archived]


def _summary(store: Store, trial: Trial, name: str, group: str = TRAINING) -> MetricSummary:
    with store.read() as transaction:
        (found,) = [s for s in transaction.metrics.summaries(trial.id) if (s.group, s.name) == (group, name)]
    return found


class TestReports:
    def test_a_report_comes_back_as_it_was(self, store: Store, trial: Trial, new_report: NewReport) -> None:
        report = new_report(
            5,
            loss=0.5,
            count=3,
            big=2**70,
            huge=2**62,
            flag=True,
            text="ok",
            nothing=None,
            nested={"a": [1, 2.5, "x"]},
            positive=math.inf,
            negative=-math.inf,
        )

        assert _append(store, report) == 1

        ((_, found, archived),) = _reports(store, trial)
        assert (found, archived) == (report, False)
        assert type(found.metrics["count"]) is int
        assert type(found.metrics["loss"]) is float

    def test_nan_is_kept(self, store: Store, trial: Trial, new_report: NewReport) -> None:
        _append(store, new_report(1, loss=math.nan), new_report(2, loss=1.0))

        values = [report.metrics["loss"] for _, report, _ in _reports(store, trial)]

        assert math.isnan(values[0])
        assert values[1] == 1.0

    def test_metrics_of_single_batches_are_kept(self, store: Store, trial: Trial, new_report: NewReport) -> None:
        plain = new_report(1, loss=1.0)
        with_batches = MetricReport(
            trial_id=trial.id,
            run_id=1,
            group=TRAINING,
            steps_completed=2,
            report_time=trial.start_time,
            metrics={"loss": 2.0},
            batch_metrics=[{"loss": 1.5}, {"loss": 2.5}],
        )

        _append(store, plain, with_batches)

        assert [report.batch_metrics for _, report, _ in _reports(store, trial)] == [
            None,
            [{"loss": 1.5}, {"loss": 2.5}],
        ]

    def test_reports_with_different_names_share_a_batch(
        self, store: Store, trial: Trial, new_report: NewReport
    ) -> None:
        sent = [new_report(1, a=1.0), new_report(2, b=2), new_report(3, a=3.0, b="text"), new_report(4, a=4, b=5)]

        _append(store, *sent)

        assert [report for _, report, _ in _reports(store, trial)] == sent

    def test_they_come_in_the_order_of_steps_over_groups(
        self, store: Store, trial: Trial, new_report: NewReport
    ) -> None:
        _append(store, new_report(1, loss=1.0), new_report(4, loss=1.0))
        _append(store, new_report(2, group=VALIDATION, loss=1.0))
        _append(store, new_report(3, loss=1.0))

        assert [report.steps_completed for _, report, _ in _reports(store, trial)] == [1, 2, 3, 4]
        assert [report.steps_completed for _, report, _ in _reports(store, trial, group=VALIDATION)] == [2]

    def test_reading_on_from_an_id_misses_and_repeats_nothing(
        self, store: Store, trial: Trial, new_report: NewReport
    ) -> None:
        _append(store, *(new_report(step, loss=1.0) for step in range(1, 8)))
        _append(store, *(new_report(step, run=2, loss=1.0) for step in range(4, 9)))
        seen: list[tuple[int, int]] = []
        after = 0

        while page := _reports(store, trial, after_id=after, limit=3):
            seen += [(report.run_id, report.steps_completed) for _, report, _ in page]
            after = max(identity for identity, _, _ in page)

        assert sorted(seen) == [*((1, step) for step in range(1, 8)), *((2, step) for step in range(4, 9))]
        assert _reports(store, trial, after_id=after) == []

    def test_nothing_reported_is_nothing_found(self, store: Store, trial: Trial) -> None:
        with store.read() as transaction:
            metrics = transaction.metrics

            assert metrics.latest(trial.id, TRAINING) is None
            assert metrics.at_steps(trial.id, TRAINING, 1) is None
            assert metrics.summaries(trial.id) == []
            assert metrics.names([trial.id]) == []
            assert metrics.series(trial.id, TRAINING, "loss").total_points == 0
            assert metrics.best(trial.experiment_id, "loss", smaller_is_better=True) is None

    def test_no_reports_at_all_are_no_work(self, store: Store) -> None:
        assert _append(store) == 0


class TestIdempotence:
    def test_a_repeat_is_dropped(self, store: Store, trial: Trial, new_report: NewReport) -> None:
        batch = [new_report(1, loss=1.0), new_report(2, loss=2.0)]

        counts = _append(store, *batch), _append(store, *batch), _append(store, batch[1], new_report(3, loss=3.0))

        assert counts == (2, 0, 1)
        assert [report.metrics["loss"] for _, report, _ in _reports(store, trial)] == [1.0, 2.0, 3.0]
        assert _summary(store, trial, "loss").count == 3

    def test_the_last_value_of_a_step_stays(self, store: Store, trial: Trial, new_report: NewReport) -> None:
        _append(store, new_report(1, loss=9.0), new_report(2, loss=2.0))

        assert _append(store, new_report(1, loss=1.0)) == 1
        assert _append(store, new_report(1, loss=1.0)) == 0

        found = _summary(store, trial, "loss")
        assert (found.count, found.min, found.max, found.last) == (2, 1.0, 2.0, 2.0)

    def test_nan_that_is_sent_again_brings_nothing_new(self, store: Store, trial: Trial, new_report: NewReport) -> None:
        _append(store, new_report(1, loss=math.nan))

        assert _append(store, new_report(1, loss=math.nan)) == 0

    def test_other_names_at_a_known_step_are_merged(self, store: Store, trial: Trial, new_report: NewReport) -> None:
        _append(store, new_report(1, loss=1.0), new_report(2, loss=2.0))

        count = _append(store, new_report(1, loss=9.0, lr=0.1))

        ((_, first, _), _) = _reports(store, trial)
        assert count == 1
        assert first.metrics == {"loss": 9.0, "lr": 0.1}
        assert (_summary(store, trial, "lr").count, _summary(store, trial, "loss").count) == (1, 2)

    def test_a_step_twice_in_one_batch_is_one_report(self, store: Store, trial: Trial, new_report: NewReport) -> None:
        count = _append(store, new_report(2, a=1.0), new_report(1, a=5.0), new_report(2, b=2.0, a=7.0))

        assert count == 2
        assert [report.metrics for _, report, _ in _reports(store, trial)] == [{"a": 5.0}, {"a": 7.0, "b": 2.0}]

    def test_a_late_report_of_an_earlier_step_is_new(self, store: Store, trial: Trial, new_report: NewReport) -> None:
        _append(store, new_report(1, loss=1.0), new_report(5, loss=5.0))

        assert _append(store, new_report(3, loss=3.0)) == 1

        assert [report.steps_completed for _, report, _ in _reports(store, trial)] == [1, 3, 5]
        assert _summary(store, trial, "loss").last == 5.0

    def test_groups_runs_and_trials_do_not_mix(self, store: Store, trial: Trial, new_report: NewReport) -> None:
        sent = [
            new_report(1, loss=1.0),
            new_report(1, group=VALIDATION, loss=2.0),
            new_report(1, run=2, loss=3.0),
        ]

        assert _append(store, *sent) == 3


class TestRestarts:
    def test_a_later_run_replaces_what_older_runs_reported_from_its_first_step_on(
        self, store: Store, trial: Trial, new_report: NewReport
    ) -> None:
        _append(store, *(new_report(step, loss=float(step)) for step in (1, 2, 3, 4)))

        _append(store, *(new_report(step, run=2, loss=10.0 * step) for step in (3, 4)))

        assert _live(store, trial) == [(1, 1), (1, 2), (2, 3), (2, 4)]
        assert len(_reports(store, trial)) == 6

    def test_a_run_that_goes_on_where_the_last_ended_replaces_nothing(
        self, store: Store, trial: Trial, new_report: NewReport
    ) -> None:
        _append(store, new_report(1, loss=1.0), new_report(2, loss=2.0))

        _append(store, new_report(3, run=2, loss=3.0))

        assert _live(store, trial) == [(1, 1), (1, 2), (2, 3)]

    def test_groups_are_replaced_one_by_one(self, store: Store, trial: Trial, new_report: NewReport) -> None:
        _append(store, new_report(1, loss=1.0), new_report(1, group=VALIDATION, loss=1.0))

        _append(store, new_report(1, run=2, loss=2.0))

        assert _live(store, trial) == [(1, 1), (2, 1)]

    def test_summaries_latest_and_series_forget_what_was_replaced(
        self, store: Store, trial: Trial, new_report: NewReport
    ) -> None:
        _append(store, *(new_report(step, loss=100.0 * step, old=1.0) for step in (1, 2, 3)))

        _append(store, new_report(2, run=2, loss=1.0))

        with store.read() as transaction:
            latest = transaction.metrics.latest(trial.id, TRAINING)
            series = transaction.metrics.series(trial.id, TRAINING, "loss")
        summary = _summary(store, trial, "loss")
        assert latest is not None
        assert (latest.run_id, latest.steps_completed) == (2, 2)
        assert (series.steps, series.values) == ([1, 2], [100.0, 1.0])
        assert (summary.count, summary.total, summary.max, summary.last) == (2, 101.0, 100.0, 1.0)
        assert _summary(store, trial, "old").count == 1

    def test_an_older_run_that_still_reports_changes_no_summary(
        self, store: Store, trial: Trial, new_report: NewReport
    ) -> None:
        _append(store, new_report(1, run=2, loss=1.0))

        _append(store, new_report(5, run=1, loss=500.0))

        assert _summary(store, trial, "loss").count == 1
        assert _live(store, trial) == [(2, 1)]


class TestSummaries:
    def test_numbers_are_summed_up(self, store: Store, trial: Trial, new_report: NewReport) -> None:
        _append(store, new_report(1, loss=4.0), new_report(2, loss=1.0))
        _append(store, new_report(3, loss=2.5))

        summary = _summary(store, trial, "loss")

        assert (summary.count, summary.min, summary.max, summary.mean, summary.last) == (3, 1.0, 4.0, 2.5, 2.5)
        assert summary.type == "number"

    def test_nan_and_inf_count_but_do_not_spoil_the_rest(
        self, store: Store, trial: Trial, new_report: NewReport
    ) -> None:
        values = [1.0, math.nan, math.inf, -math.inf, 3.0]
        _append(store, *(new_report(step, loss=value) for step, value in enumerate(values)))
        _append(store, new_report(10, loss=math.nan))

        summary = _summary(store, trial, "loss")

        assert (summary.count, summary.non_finite, summary.min, summary.max, summary.mean) == (6, 4, 1.0, 3.0, 2.0)
        assert math.isnan(summary.last)

    @pytest.mark.parametrize(
        ("value", "type_name"),
        [("a", "string"), (True, "boolean"), ({"a": 1}, "object"), ([1], "array"), (None, "null"), (1, "number")],
    )
    def test_the_type_is_named(
        self, store: Store, trial: Trial, new_report: NewReport, value: object, type_name: str
    ) -> None:
        _append(store, new_report(1, it=value))

        summary = _summary(store, trial, "it")

        assert (summary.type, summary.last, summary.count) == (type_name, value, 1)

    def test_many_trials_are_answered_at_once(self, store: Store, trial: Trial, new_report: NewReport) -> None:
        _append(store, new_report(1, b=1.0, a=1.0), new_report(1, group=VALIDATION, loss=0.5))

        with store.read() as transaction:
            found = transaction.metrics.summaries_of([trial.id, 99])
            names = transaction.metrics.names([trial.id, 99])

        assert list(found) == [trial.id]
        assert names == [(TRAINING, "a"), (TRAINING, "b"), (VALIDATION, "loss")]

    def test_the_best_value_of_an_experiment_is_over_all_its_trials(
        self, store: Store, trial: Trial, new_trial: Callable[..., Trial], new_report: NewReport
    ) -> None:
        with store.write() as transaction:
            other = transaction.trials.add(new_trial(trial.experiment_id))
            report = new_report(1, group=VALIDATION, loss=0.5)
            transaction.metrics.append([report])
            transaction.metrics.append([_of_trial(other, report, [0.25, math.nan, 0.75])[step] for step in range(3)])

        with store.read() as transaction:
            best = transaction.metrics.best
            assert best(trial.experiment_id, "loss", smaller_is_better=True) == 0.25
            assert best(trial.experiment_id, "loss", smaller_is_better=False) == 0.75
            assert best(trial.experiment_id, "other", smaller_is_better=True) is None


class TestSeries:
    def test_a_short_series_is_whole(self, store: Store, trial: Trial, new_report: NewReport) -> None:
        reports = [new_report(step, loss=float(step)) for step in (1, 2, 5)]
        _append(store, *reports, new_report(6, other=1.0))

        with store.read() as transaction:
            series = transaction.metrics.series(trial.id, TRAINING, "loss")

        assert (series.steps, series.values, series.total_points) == ([1, 2, 5], [1.0, 2.0, 5.0], 3)
        assert series.times == [report.report_time.timestamp() for report in reports]

    def test_a_long_one_is_thinned_and_keeps_its_peaks(self, store: Store, trial: Trial, new_report: NewReport) -> None:
        values = [float(step % 7) for step in range(5000)]
        values[1234], values[4321], values[2500] = 99.0, -99.0, math.nan
        _append(store, *(new_report(step, loss=value) for step, value in enumerate(values)))

        with store.read() as transaction:
            series = transaction.metrics.series(trial.id, TRAINING, "loss", max_points=100)

        kept = dict(zip(series.steps, series.values, strict=True))
        assert len(series.steps) <= 100
        assert series.total_points == 5000
        assert (kept[1234], kept[4321]) == (99.0, -99.0)
        assert math.isnan(kept[2500])
        assert (series.steps[0], series.steps[-1]) == (0, 4999)
        assert series.steps == sorted(series.steps)

    def test_a_stretch_can_be_asked_for(self, store: Store, trial: Trial, new_report: NewReport) -> None:
        _append(store, *(new_report(step, loss=float(step)) for step in range(10)))

        with store.read() as transaction:
            series = transaction.metrics.series(trial.id, TRAINING, "loss", since_steps=3, until_steps=6)
            none = transaction.metrics.series(trial.id, TRAINING, "loss", since_steps=9)

        assert series.steps == [4, 5, 6]
        assert (none.steps, none.total_points) == ([], 0)

    def test_what_is_new_shows_at_once_however_it_came(self, store: Store, trial: Trial, new_report: NewReport) -> None:
        """Forward, merged into a known step, late, and by a restart; each after the series had been looked at."""
        changes: Sequence[tuple[MetricReport, list[int]]] = [
            (new_report(1, loss=1.0), [1]),
            (new_report(3, loss=3.0), [1, 3]),
            (new_report(4, other=1.0), [1, 3]),
            (new_report(4, loss=4.0), [1, 3, 4]),
            (new_report(2, loss=2.0), [1, 2, 3, 4]),
            (new_report(3, run=2, loss=30.0), [1, 2, 3]),
            (new_report(5, run=2, loss=50.0), [1, 2, 3, 5]),
        ]

        for report, expected in changes:
            _append(store, report)
            with store.read() as transaction:
                assert transaction.metrics.series(trial.id, TRAINING, "loss").steps == expected

    def test_a_transaction_that_rolls_back_leaves_no_points_behind(
        self, store: Store, trial: Trial, new_report: NewReport
    ) -> None:
        def fail() -> None:
            with store.write() as transaction:
                transaction.metrics.append([new_report(1, loss=1.0)])
                assert transaction.metrics.series(trial.id, TRAINING, "loss").steps == [1]
                raise ValueError("stop")

        with pytest.raises(ValueError, match="stop"):
            fail()

        with store.read() as transaction:
            assert transaction.metrics.series(trial.id, TRAINING, "loss").steps == []


class TestManySingleReports:
    def test_thousands_of_them_read_back_exactly(self, store: Store, trial: Trial, new_report: NewReport) -> None:
        """Enough for small chunks to be joined more than once, with looks at the series in between."""
        count = 300
        with store.write() as transaction:
            for step in range(count):
                transaction.metrics.append([new_report(step, loss=float(step), note=str(step))])
        with store.read() as transaction:
            transaction.metrics.series(trial.id, TRAINING, "loss")

        with store.write() as transaction:
            for step in range(count, 2 * count):
                transaction.metrics.append([new_report(step, loss=float(step))])
            repeated = transaction.metrics.append([new_report(17, loss=17.0)])

        with store.read() as transaction:
            series = transaction.metrics.series(trial.id, TRAINING, "loss", max_points=10_000)
            found = list(transaction.metrics.reports(trial.id))
            at_17 = transaction.metrics.at_steps(trial.id, TRAINING, 17)
        assert repeated == 0
        assert series.steps == list(range(2 * count))
        assert series.values == [float(step) for step in range(2 * count)]
        assert [identity for identity, _, _ in found] == list(range(1, 2 * count + 1))
        assert at_17 is not None
        assert at_17.metrics == {"loss": 17.0, "note": "17"}
        assert _summary(store, trial, "loss").count == 2 * count


def _of_trial(trial: Trial, like: MetricReport, values: Sequence[float]) -> list[MetricReport]:
    return [
        MetricReport(
            trial_id=trial.id,
            run_id=1,
            group=like.group,
            steps_completed=step,
            report_time=like.report_time,
            metrics={"loss": value},
        )
        for step, value in enumerate(values)
    ]
