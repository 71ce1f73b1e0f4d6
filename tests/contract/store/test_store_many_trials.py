"""Reads over many trials at once, on every database: the same answers as one by one."""

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from resolute.domain.checkpoint import Checkpoint, CheckpointState
from resolute.domain.metric import TRAINING, VALIDATION, MetricReport
from resolute.domain.trial import Trial
from resolute.engine.ports.database import Store
from resolute.store.db.metric_series import FEW

NewReport = Callable[..., MetricReport]


@pytest.fixture
def trials(store: Store, trial: Trial, new_trial: Callable[..., Trial]) -> list[Trial]:
    with store.write() as transaction:
        return [trial, *(transaction.trials.add(new_trial(trial.experiment_id)) for _ in range(2))]


def _append(store: Store, trial: Trial, *reports: MetricReport) -> None:
    with store.write() as transaction:
        transaction.metrics.append([replace(report, trial_id=trial.id) for report in reports])


class TestHighlights:
    def test_each_trial_has_its_best_and_its_latest_report(
        self, store: Store, trials: list[Trial], new_report: NewReport
    ) -> None:
        first, second, silent = trials
        _append(store, first, *(new_report(n, group=VALIDATION, loss=abs(n - 2.0), n=n) for n in range(1, 5)))
        _append(store, second, new_report(7, group=VALIDATION, loss=3.0), new_report(8, loss=0.0))

        with store.read() as tx:
            least = tx.metrics.highlights([t.id for t in trials], "loss", smaller_is_better=True)
            most = tx.metrics.highlights([t.id for t in trials], "loss", smaller_is_better=False)

        assert least[first.id].best is not None
        assert least[first.id].best.metrics == {"loss": 0.0, "n": 2}
        assert most[first.id].best is not None
        assert most[first.id].best.steps_completed == 4
        assert least[first.id].latest is not None
        assert least[first.id].latest.steps_completed == 4
        assert least[second.id].best == least[second.id].latest
        assert silent.id not in least

    def test_among_equals_the_earliest_is_best(self, store: Store, trial: Trial, new_report: NewReport) -> None:
        _append(store, trial, *(new_report(n, group=VALIDATION, loss=1.0) for n in (3, 5, 9)))

        with store.read() as tx:
            for smaller_is_better in (True, False):
                found = tx.metrics.highlights([trial.id], "loss", smaller_is_better=smaller_is_better)[trial.id]
                assert found.best is not None
                assert found.best.steps_completed == 3

    @pytest.mark.parametrize("values", [[math.nan], [math.nan, math.inf]])
    def test_nan_is_never_best(self, store: Store, trial: Trial, new_report: NewReport, values: list[float]) -> None:
        _append(store, trial, *(new_report(n, group=VALIDATION, loss=value) for n, value in enumerate(values)))

        with store.read() as tx:
            found = tx.metrics.highlights([trial.id], "loss", smaller_is_better=True)[trial.id]

        best = None if found.best is None else found.best.metrics["loss"]
        assert best == (math.inf if math.inf in values else None)

    def test_what_a_later_run_replaced_is_not_shown(self, store: Store, trial: Trial, new_report: NewReport) -> None:
        _append(store, trial, *(new_report(n, group=VALIDATION, loss=10.0 - n) for n in range(1, 9)))
        _append(store, trial, new_report(4, run=2, group=VALIDATION, loss=20.0))

        with store.read() as tx:
            found = tx.metrics.highlights([trial.id], "loss", smaller_is_better=True)[trial.id]

        assert found.best is not None
        assert found.best.steps_completed == 3
        assert found.latest is not None
        assert (found.latest.run_id, found.latest.steps_completed) == (2, 4)

    def test_a_long_trial_is_answered_like_a_short_one(self, store: Store, trial: Trial, new_report: NewReport) -> None:
        reports = [new_report(n, group=VALIDATION, loss=abs(n - 1500.0)) for n in range(FEW + 500)]
        _append(store, trial, *reports)

        with store.read() as tx:
            found = tx.metrics.highlights([trial.id], "loss", smaller_is_better=True)[trial.id]

        assert found.best == reports[1500]
        assert found.latest == reports[-1]

    def test_no_trials_are_no_work(self, store: Store) -> None:
        with store.read() as tx:
            assert tx.metrics.highlights([], "loss", smaller_is_better=True) == {}
            assert tx.checkpoints.best_of([]) == {}
            assert tx.metrics.series_of([], TRAINING, ["loss"]) == []


class TestSeriesOfMany:
    def test_they_equal_those_asked_for_one_by_one(
        self, store: Store, trials: list[Trial], new_report: NewReport
    ) -> None:
        for number, trial in enumerate(trials[:2]):
            _append(store, trial, *(new_report(n, loss=n * 1.0, extra=number) for n in range(50 * number + 3)))
        _append(store, trials[1], *(new_report(n, run=2, loss=-1.0 * n) for n in range(20, 90)))
        ids = [trial.id for trial in trials]

        with store.read() as tx:
            for _ in range(2):  # from the chunks, then from memory
                found = tx.metrics.series_of(ids, TRAINING, ["loss", "extra"], max_points=20, since_steps=1)
                alone = [
                    tx.metrics.series(t, TRAINING, n, max_points=20, since_steps=1)
                    for t in ids
                    for n in ("loss", "extra")
                ]

                assert found == [series for series in alone if series.steps]

    def test_new_points_show_at_once(self, store: Store, trial: Trial, new_report: NewReport) -> None:
        _append(store, trial, new_report(1, loss=1.0))
        with store.read() as tx:
            tx.metrics.series_of([trial.id], TRAINING, ["loss"])

        _append(store, trial, new_report(2, loss=2.0))

        with store.read() as tx:
            (series,) = tx.metrics.series_of([trial.id], TRAINING, ["loss"])
        assert series.values == [1.0, 2.0]


class TestBestCheckpoints:
    def test_each_trial_has_the_one_with_the_best_metric(
        self, store: Store, trials: list[Trial], new_report: NewReport
    ) -> None:
        first, second, without = trials
        for trial, losses in ((first, (3.0, 1.0, 2.0)), (second, ())):
            _append(store, trial, *(new_report(n, group=VALIDATION, loss=loss) for n, loss in enumerate(losses)))
        with store.write() as tx:
            for trial in (first, second):
                for steps in range(3):
                    tx.checkpoints.add(_checkpoint(trial, f"{trial.id}-{steps}", steps))
            deleted = replace(tx.checkpoints.get(f"{second.id}-0"), state=CheckpointState.DELETED)
            tx.checkpoints.save(deleted)

        with store.read() as tx:
            found = tx.checkpoints.best_of([trial.id for trial in trials])

        assert {trial_id: item.uuid for trial_id, item in found.items()} == {
            first.id: f"{first.id}-1",
            second.id: f"{second.id}-1",
        }
        assert without.id not in found


def _checkpoint(trial: Trial, uuid: str, steps: int) -> Checkpoint:
    return Checkpoint(
        uuid=uuid,
        state=CheckpointState.COMPLETED,
        report_time=trial.start_time + timedelta(seconds=steps),
        resources={"weights": 30},
        metadata={},
        trial_id=trial.id,
        experiment_id=trial.experiment_id,
        steps_completed=steps,
    )
