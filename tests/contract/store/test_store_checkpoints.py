"""`engine.ports.database.Checkpoints`, on every database."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from resolute.domain.checkpoint import Checkpoint, CheckpointState
from resolute.domain.errors import AlreadyExists, InvalidInput, NotFound
from resolute.domain.metric import VALIDATION, MetricReport
from resolute.domain.trial import Trial
from resolute.engine.ports.database import Store
from resolute.engine.ports.queries import CheckpointQuery, PageRequest

NewReport = Callable[..., MetricReport]


def _checkpoint(trial: Trial, uuid: str, steps: int = 1, **changes: Any) -> Checkpoint:
    checkpoint = Checkpoint(
        uuid=uuid,
        state=CheckpointState.COMPLETED,
        report_time=trial.start_time + timedelta(seconds=steps),
        resources={"model/": 0, "model/weights": 30},
        metadata={"framework": "torch"},
        task_id=trial.task_id,
        allocation_id=f"{trial.task_id}.1",
        trial_id=trial.id,
        experiment_id=trial.experiment_id,
        steps_completed=steps,
    )
    return replace(checkpoint, **changes)


def _add(store: Store, *checkpoints: Checkpoint) -> None:
    with store.write() as transaction:
        for checkpoint in checkpoints:
            transaction.checkpoints.add(checkpoint)


def _found(store: Store, **query: Any) -> list[str]:
    with store.read() as transaction:
        return [view.checkpoint.uuid for view in transaction.checkpoints.search(CheckpointQuery(**query)).items]


class TestOneCheckpoint:
    def test_it_comes_back_with_every_field(self, store: Store, trial: Trial) -> None:
        checkpoint = _checkpoint(trial, "u", run_id=2, storage={"type": "s3"}, digests={"model/weights": "00"})

        _add(store, checkpoint)

        with store.read() as transaction:
            assert transaction.checkpoints.get("u") == checkpoint
            with pytest.raises(NotFound, match="checkpoint not found: nope"):
                transaction.checkpoints.get("nope")

    def test_reporting_it_again_changes_nothing(self, store: Store, trial: Trial) -> None:
        checkpoint = _checkpoint(trial, "u")

        _add(store, checkpoint, checkpoint)

        assert _found(store) == ["u"]

    def test_the_uuid_of_another_trial_is_refused(self, store: Store, trial: Trial) -> None:
        _add(store, _checkpoint(trial, "u"))

        with pytest.raises(AlreadyExists, match=f"belongs to trial {trial.id}"):
            _add(store, _checkpoint(trial, "u", trial_id=trial.id + 1))

    def test_the_same_uuid_with_other_files_is_refused(self, store: Store, trial: Trial) -> None:
        _add(store, _checkpoint(trial, "u"))

        with pytest.raises(AlreadyExists, match="with other files"):
            _add(store, _checkpoint(trial, "u", resources={"other": 1}))

    def test_saving_moves_the_state_only_from_the_expected_one(self, store: Store, trial: Trial) -> None:
        checkpoint = _checkpoint(trial, "u")
        _add(store, checkpoint)
        deleted = replace(checkpoint, state=CheckpointState.DELETED, resources={})

        with store.write() as transaction:
            first = transaction.checkpoints.save(deleted, expected=CheckpointState.COMPLETED)
            second = transaction.checkpoints.save(checkpoint, expected=CheckpointState.COMPLETED)

        with store.read() as transaction:
            assert (first, second) == (True, False)
            assert transaction.checkpoints.get("u") == deleted

    def test_those_of_a_trial_come_newest_first(self, store: Store, trial: Trial) -> None:
        _add(store, _checkpoint(trial, "a", 1), _checkpoint(trial, "b", 3), _checkpoint(trial, "c", 2))

        with store.read() as transaction:
            assert [item.uuid for item in transaction.checkpoints.of_trial(trial.id)] == ["b", "c", "a"]
            assert len(transaction.checkpoints.of_experiment(trial.experiment_id)) == 3
            assert transaction.checkpoints.of_trial(99) == []

    def test_one_that_a_trial_started_from_is_in_use(
        self, store: Store, trial: Trial, new_trial: Callable[..., Trial]
    ) -> None:
        _add(store, _checkpoint(trial, "a", 1), _checkpoint(trial, "b", 2))
        with store.write() as transaction:
            transaction.trials.add(new_trial(trial.experiment_id, warm_start_checkpoint="a"))

        with store.read() as transaction:
            assert transaction.checkpoints.in_use(trial.experiment_id) == {"a"}


class TestViews:
    def test_a_view_joins_what_was_reported_at_its_step(
        self, store: Store, trial: Trial, new_report: NewReport
    ) -> None:
        _add(store, _checkpoint(trial, "u", 2))
        with store.write() as transaction:
            transaction.metrics.append([new_report(step, train_loss=float(step)) for step in (1, 2, 3)])
            transaction.metrics.append([new_report(step, group=VALIDATION, loss=step / 10) for step in (2, 4)])

        with store.read() as transaction:
            view = transaction.checkpoints.view("u")
            experiment = transaction.experiments.get(trial.experiment_id)

        assert (view.training_metrics, view.validation_metrics) == ({"train_loss": 2.0}, {"loss": 0.2})
        assert (view.experiment_config, view.hparams) == (experiment.config, trial.hparams)
        assert view.searcher_metric == 0.2

    @pytest.mark.parametrize("is_checkpoint_first", [True, False])
    def test_the_searchers_metric_is_known_whichever_came_first(
        self, store: Store, trial: Trial, new_report: NewReport, is_checkpoint_first: bool
    ) -> None:
        actions = [
            lambda: _add(store, _checkpoint(trial, "u", 2)),
            lambda: _report(store, new_report(2, group=VALIDATION, loss=0.5)),
        ]

        for action in actions if is_checkpoint_first else reversed(actions):
            action()

        with store.read() as transaction:
            assert transaction.checkpoints.view("u").searcher_metric == 0.5

    def test_a_validation_of_a_later_run_at_the_same_step_counts(
        self, store: Store, trial: Trial, new_report: NewReport
    ) -> None:
        _add(store, _checkpoint(trial, "u", 2))

        _report(store, new_report(2, group=VALIDATION, loss=0.5), new_report(2, run=2, group=VALIDATION, loss=0.25))

        with store.read() as transaction:
            view = transaction.checkpoints.view("u")
        assert (view.searcher_metric, view.validation_metrics) == (0.25, {"loss": 0.25})


class TestSearch:
    @pytest.fixture(autouse=True)
    def four(self, store: Store, trial: Trial, new_report: NewReport) -> None:
        """Losses at steps 1 to 3 are 0.3, 0.1 and 0.2; the fourth was never validated."""
        _add(store, *(_checkpoint(trial, name, steps) for name, steps in (("a", 1), ("b", 2), ("c", 3), ("d", 4))))
        losses = {1: 0.3, 2: 0.1, 3: 0.2}
        _report(
            store, *(new_report(steps, group=VALIDATION, loss=loss, acc=1 - loss) for steps, loss in losses.items())
        )

    @pytest.mark.parametrize(
        ("query", "order"),
        [
            ({}, "abcd"),
            ({"descending": True}, "dcba"),
            ({"sort_by": "uuid", "descending": True}, "dcba"),
            ({"sort_by": "steps_completed"}, "abcd"),
            ({"sort_by": "trial_id"}, "abcd"),
            ({"sort_by": "state"}, "abcd"),
            ({"sort_by": "searcher_metric"}, "bcad"),
            ({"sort_by": "searcher_metric", "descending": True}, "acbd"),
            ({"sort_by": "metric", "sort_metric": "acc", "descending": True}, "bcad"),
            ({"sort_by": "metric", "sort_metric": "acc", "descending": False}, "acbd"),
        ],
    )
    def test_every_order_puts_what_has_no_value_last(self, store: Store, query: dict[str, Any], order: str) -> None:
        assert _found(store, **query) == list(order)

    def test_best_first_follows_the_experiments_direction(self, store: Store, trial: Trial) -> None:
        with store.write() as transaction:
            experiment = transaction.experiments.get(trial.experiment_id)
            searcher = {"metric": "loss", "smaller_is_better": False}
            transaction.experiments.save(replace(experiment, config={"searcher": searcher}))

        assert _found(store, sort_by="searcher_metric") == ["a", "c", "b", "d"]

    @pytest.mark.parametrize("sort_by", ["searcher_metric", "metric"])
    def test_pages_know_the_total(self, store: Store, trial: Trial, sort_by: str) -> None:
        query = CheckpointQuery(
            experiment_id=trial.experiment_id,
            trial_id=trial.id,
            sort_by=sort_by,
            sort_metric="loss",
            page=PageRequest(offset=1, limit=2),
        )

        with store.read() as transaction:
            page = transaction.checkpoints.search(query)

        assert ([view.checkpoint.uuid for view in page.items], page.total, page.offset) == (["c", "a"], 4, 1)

    def test_states_narrow_the_list(self, store: Store, trial: Trial) -> None:
        with store.write() as transaction:
            transaction.checkpoints.save(replace(_checkpoint(trial, "b", 2), state=CheckpointState.DELETED))

        assert _found(store, states=(CheckpointState.DELETED,)) == ["b"]
        assert _found(store, experiment_id=99) == []

    def test_an_unknown_order_is_refused(self, store: Store) -> None:
        with pytest.raises(InvalidInput, match="cannot be sorted by 'colour'"):
            _found(store, sort_by="colour")


def _report(store: Store, *reports: MetricReport) -> None:
    with store.write() as transaction:
        transaction.metrics.append(reports)
