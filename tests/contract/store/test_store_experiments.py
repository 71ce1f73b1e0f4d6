"""`engine.ports.database.Experiments`, on every database."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from resolute.domain.allocation import Allocation, AllocationState
from resolute.domain.checkpoint import Checkpoint, CheckpointState
from resolute.domain.errors import InvalidInput, NotFound
from resolute.domain.experiment import Experiment, ExperimentState
from resolute.domain.metric import MetricReport
from resolute.domain.task import Task, TaskType
from resolute.domain.trial import Trial
from resolute.domain.user import User
from resolute.domain.workspace import Project, Workspace
from resolute.engine.ports.database import Store
from resolute.engine.ports.queries import ExperimentQuery, PageRequest

NewExperiment = Callable[..., Experiment]
NewTrial = Callable[..., Trial]


def _added(store: Store, *experiments: Experiment) -> list[Experiment]:
    with store.write() as transaction:
        return [transaction.experiments.add(item, searcher_snapshot=None) for item in experiments]


def _found(store: Store, **query: object) -> list[int]:
    with store.read() as transaction:
        page = transaction.experiments.search(ExperimentQuery(**query))  # type: ignore[arg-type]
    return [item.experiment.id for item in page.items]


class TestOneExperiment:
    def test_it_comes_back_with_every_field_and_an_id(self, store: Store, new_experiment: NewExperiment) -> None:
        new = new_experiment(
            description="d",
            notes="n",
            labels=("a", "b"),
            archived=True,
            parent_id=3,
            context_id="c" * 64,
            external_id="ext",
            unmanaged=True,
            progress=0.25,
            warnings=("careful",),
        )

        (stored,) = _added(store, new)

        with store.read() as transaction:
            assert transaction.experiments.get(stored.id) == stored == replace(new, id=stored.id)
            assert transaction.experiments.by_external_id("ext") == stored
            assert transaction.experiments.by_external_id("other") is None

    def test_an_unknown_id_is_not_found(self, store: Store) -> None:
        with store.read() as transaction, pytest.raises(NotFound, match="experiment not found: 99"):
            transaction.experiments.get(99)

    def test_saving_writes_every_field(self, store: Store, new_experiment: NewExperiment) -> None:
        (stored,) = _added(store, new_experiment())
        changed = replace(stored, state=ExperimentState.PAUSED, name="other", labels=("x",), notes="n")

        with store.write() as transaction:
            assert transaction.experiments.save(changed, expected=ExperimentState.ACTIVE)

        with store.read() as transaction:
            assert transaction.experiments.get(stored.id) == changed

    def test_saving_over_another_state_than_expected_changes_nothing(
        self, store: Store, new_experiment: NewExperiment
    ) -> None:
        (stored,) = _added(store, new_experiment(state=ExperimentState.PAUSED))

        with store.write() as transaction:
            was_first = transaction.experiments.save(
                replace(stored, state=ExperimentState.STOPPING_KILLED), expected=ExperimentState.ACTIVE
            )

        with store.read() as transaction:
            assert not was_first
            assert transaction.experiments.get(stored.id) == stored

    def test_ids_are_not_used_again_after_a_removal(self, store: Store, new_experiment: NewExperiment) -> None:
        first, second = _added(store, new_experiment(), new_experiment())
        with store.write() as transaction:
            transaction.experiments.remove(second.id)

        (third,) = _added(store, new_experiment())

        assert third.id > second.id > first.id

    def test_the_searchers_snapshot_is_kept_as_it_is(self, store: Store, new_experiment: NewExperiment) -> None:
        snapshot = {"best": float("inf"), "state": 2**127, "rungs": [{"trials": []}], "text": "\u0000 ü"}

        with store.write() as transaction:
            stored = transaction.experiments.add(new_experiment(), searcher_snapshot={"old": 1})
            transaction.experiments.save_searcher_snapshot(stored.id, snapshot)

        with store.read() as transaction:
            assert transaction.experiments.searcher_snapshot(stored.id) == snapshot
            assert transaction.experiments.searcher_snapshot(99) is None

    def test_those_in_given_states_are_listed_oldest_first(self, store: Store, new_experiment: NewExperiment) -> None:
        active, _, paused = _added(
            store,
            new_experiment(),
            new_experiment(state=ExperimentState.COMPLETED),
            new_experiment(state=ExperimentState.PAUSED),
        )

        with store.read() as transaction:
            found = transaction.experiments.in_states({ExperimentState.PAUSED, ExperimentState.ACTIVE})

        assert found == [active, paused]


class TestRemoval:
    def test_what_its_searcher_looks_at_is_known_without_the_configuration(
        self, store: Store, new_experiment: NewExperiment
    ) -> None:
        several = {"searcher": {"metric": ["f1", "loss"], "smaller_is_better": [False, True]}}
        plain, best, none = _added(
            store, new_experiment(), new_experiment(config=several), new_experiment(config={"name": "no search"})
        )

        with store.read() as transaction:
            known = transaction.experiments.searcher_metrics([plain.id, best.id, none.id, 99])
            assert known == {plain.id: ("loss", True), best.id: ("f1", False), none.id: ("", True)}

    def test_removing_takes_everything_of_it_and_nothing_of_others(
        self, store: Store, trial: Trial, new_report: Callable[..., MetricReport], new_experiment: NewExperiment
    ) -> None:
        (other,) = _added(store, new_experiment())
        now = trial.start_time
        with store.write() as transaction:
            experiment = transaction.experiments.get(trial.experiment_id)
            transaction.experiments.save_searcher_snapshot(experiment.id, {})
            transaction.metrics.append([new_report(1, loss=1.0)])
            transaction.tasks.add(Task(id=trial.task_id, type=TaskType.TRIAL, job_id=experiment.job_id, start_time=now))
            transaction.tasks.add(Task(id="other", type=TaskType.COMMAND, job_id=other.job_id, start_time=now))
            transaction.allocations.add(
                Allocation(
                    id=f"{trial.task_id}.1",
                    task_id=trial.task_id,
                    job_id=experiment.job_id,
                    state=AllocationState.QUEUED,
                    changed_at=now,
                    created_at=now,
                    slots_needed=1,
                )
            )
            transaction.checkpoints.add(
                Checkpoint(
                    uuid="u1",
                    state=CheckpointState.COMPLETED,
                    report_time=now,
                    resources={},
                    metadata={},
                    trial_id=trial.id,
                    experiment_id=experiment.id,
                )
            )

        with store.write() as transaction:
            transaction.experiments.remove(experiment.id)

        with store.read() as transaction:
            assert transaction.experiments.search(ExperimentQuery()).items[0].experiment == other
            assert transaction.trials.of_experiment(experiment.id) == []
            assert transaction.metrics.summaries(trial.id) == []
            assert list(transaction.metrics.reports(trial.id)) == []
            assert transaction.allocations.live() == []
            assert transaction.checkpoints.of_experiment(experiment.id) == []
            assert [task.id for task in transaction.tasks.search()] == ["other"]


class TestSearch:
    def test_every_filter_narrows_the_list(self, store: Store, new_experiment: NewExperiment) -> None:
        one, two = _added(
            store,
            new_experiment(name="Alpha 100%", description="first", labels=("x", "y"), user_id=1),
            new_experiment(name="beta", archived=True, user_id=2, state=ExperimentState.COMPLETED, labels=("X",)),
        )

        assert _found(store) == [one.id, two.id]
        assert _found(store, ids=(two.id,)) == [two.id]
        assert _found(store, users=("admin",)) == [one.id]
        assert _found(store, user_ids=(2,)) == [two.id]
        assert _found(store, users=("admin",), user_ids=(2,)) == [one.id, two.id]
        assert _found(store, states=(ExperimentState.COMPLETED,)) == [two.id]
        assert _found(store, archived=False) == [one.id]
        assert _found(store, name_contains="ALPHA") == [one.id]
        assert _found(store, name_contains="0%") == [one.id]
        assert _found(store, name_contains="0_") == []
        assert _found(store, description_contains="FIR") == [one.id]
        assert _found(store, id_from=two.id) == [two.id]
        assert _found(store, id_to=one.id) == [one.id]
        assert _found(store, project_id=1) == [one.id, two.id]
        assert _found(store, project_id=2) == []
        assert _found(store, workspace_id=1, archived=True) == [two.id]

    @pytest.mark.parametrize(
        ("labels", "wanted"),
        [(("a",), True), (("a", "b"), True), (("A",), False), (("a", "c"), False), ((",",), False), (("b\"'",), True)],
    )
    def test_labels_must_all_be_there_whole_and_in_the_same_case(
        self, store: Store, new_experiment: NewExperiment, labels: tuple[str, ...], wanted: bool
    ) -> None:
        _added(store, new_experiment(labels=("a", "b", "b\"'")))

        assert bool(_found(store, labels=labels)) is wanted

    def test_a_page_is_a_cut_of_the_sorted_list_and_knows_the_total(
        self, store: Store, new_experiment: NewExperiment
    ) -> None:
        ids = [item.id for item in _added(store, *(new_experiment(name=f"n{i}") for i in range(5)))]

        with store.read() as transaction:
            middle = transaction.experiments.search(
                ExperimentQuery(sort_by="name", descending=True, page=PageRequest(offset=1, limit=2))
            )
            last = transaction.experiments.search(ExperimentQuery(page=PageRequest(offset=-2)))
            none = transaction.experiments.search(ExperimentQuery(page=PageRequest(offset=9, limit=2)))

        assert [item.experiment.id for item in middle.items] == [ids[3], ids[2]]
        assert (middle.total, middle.offset) == (5, 1)
        assert [item.experiment.id for item in last.items] == ids[3:]
        assert (none.items, none.total) == ([], 5)

    def test_lists_show_names_and_counts_beside_each_experiment(
        self, store: Store, new_experiment: NewExperiment, new_trial: NewTrial
    ) -> None:
        now = new_experiment().start_time
        with store.write() as transaction:
            user = transaction.users.add(User(id=0, username="ada", display_name="Ada", modified_at=now))
            workspace = transaction.workspaces.add(
                Workspace(id=0, name="w", user_id=user.id, is_archived=True, created_at=now)
            )
            project = transaction.workspaces.add_project(
                Project(id=0, workspace_id=workspace.id, name="p", key="P", user_id=user.id, created_at=now)
            )
            experiment = transaction.experiments.add(
                new_experiment(user_id=user.id, project_id=project.id), searcher_snapshot=None
            )
            trials = [
                transaction.trials.add(new_trial(experiment.id, searcher_metric_value=value))
                for value in (0.5, 0.25, None)
            ]
            for name, state, size in (("u1", CheckpointState.COMPLETED, 5), ("u2", CheckpointState.DELETED, 7)):
                transaction.checkpoints.add(
                    Checkpoint(
                        uuid=name,
                        state=state,
                        report_time=now,
                        resources={"f": size},
                        metadata={},
                        trial_id=trials[0].id,
                        experiment_id=experiment.id,
                    )
                )
            for number, state in enumerate(
                (AllocationState.QUEUED, AllocationState.RUNNING, AllocationState.TERMINATED)
            ):
                transaction.allocations.add(
                    Allocation(
                        id=f"a.{number}",
                        task_id="a",
                        job_id=experiment.job_id,
                        state=state,
                        changed_at=now,
                        created_at=now,
                        slots_needed=1,
                    )
                )

        with store.read() as transaction:
            (row,) = transaction.experiments.search(ExperimentQuery(workspace_id=workspace.id)).items

        assert (row.username, row.display_name, row.project_name, row.workspace_name) == ("ada", "Ada", "p", "w")
        assert (row.project_user_id, row.workspace_id, row.is_parent_archived) == (user.id, workspace.id, True)
        assert (row.num_trials, row.best_trial_id, row.best_metric) == (3, trials[1].id, 0.25)
        assert (row.checkpoint_count, row.checkpoint_size) == (1, 5)
        assert (row.queued_allocations, row.running_allocations) == (1, 1)

    def test_the_best_trial_follows_the_searchers_direction(
        self, store: Store, new_experiment: NewExperiment, new_trial: NewTrial
    ) -> None:
        config = {"searcher": {"metric": "accuracy", "smaller_is_better": False}}
        (experiment,) = _added(store, new_experiment(config=config))
        with store.write() as transaction:
            for value in (0.5, 0.75, 0.25):
                transaction.trials.add(new_trial(experiment.id, searcher_metric_value=value))

        with store.read() as transaction:
            (row,) = transaction.experiments.search(ExperimentQuery()).items

        assert row.best_metric == 0.75

    @pytest.mark.parametrize("field", ["num_trials", "best_metric", "checkpoint_count", "checkpoint_size", "username"])
    def test_derived_fields_can_be_sorted_by(
        self, store: Store, new_experiment: NewExperiment, new_trial: NewTrial, field: str
    ) -> None:
        one, two = _added(store, new_experiment(), new_experiment(user_id=2))
        with store.write() as transaction:
            trial = transaction.trials.add(new_trial(two.id, searcher_metric_value=1.0))
            transaction.trials.add(new_trial(one.id, searcher_metric_value=0.5))
            transaction.trials.add(new_trial(two.id, searcher_metric_value=2.0))
            transaction.checkpoints.add(
                Checkpoint(
                    uuid="u",
                    state=CheckpointState.COMPLETED,
                    report_time=two.start_time,
                    resources={"f": 1},
                    metadata={},
                    trial_id=trial.id,
                    experiment_id=two.id,
                )
            )

        assert _found(store, sort_by=field) == [one.id, two.id]
        assert _found(store, sort_by=field, descending=True) == [two.id, one.id]

    def test_what_has_no_end_comes_last_either_way(self, store: Store, new_experiment: NewExperiment) -> None:
        end = new_experiment().start_time + timedelta(hours=1)
        running, done = _added(store, new_experiment(), new_experiment(end_time=end))

        assert _found(store, sort_by="end_time") == [done.id, running.id]
        assert _found(store, sort_by="end_time", descending=True) == [done.id, running.id]

    def test_an_unknown_field_to_sort_by_is_refused(self, store: Store) -> None:
        with pytest.raises(InvalidInput, match="cannot be sorted by 'colour'"):
            _found(store, sort_by="colour")
