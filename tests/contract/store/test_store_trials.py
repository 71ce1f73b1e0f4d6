"""`engine.ports.database.Trials`, `Tasks` and `Allocations`, on every database."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from resolute.domain.allocation import Allocation, AllocationState, NodeShare
from resolute.domain.checkpoint import Checkpoint, CheckpointState
from resolute.domain.errors import AlreadyExists, InvalidInput, NotFound
from resolute.domain.experiment import Experiment
from resolute.domain.metric import VALIDATION, MetricReport
from resolute.domain.slot_use import SlotUse
from resolute.domain.task import Task, TaskType
from resolute.domain.trial import Trial, TrialState
from resolute.engine.ports.database import Store
from resolute.engine.ports.queries import PageRequest, TrialQuery

NewTrial = Callable[..., Trial]


class TestTrials:
    def test_it_comes_back_with_every_field(self, store: Store, trial: Trial, new_trial: NewTrial) -> None:
        new = new_trial(
            trial.experiment_id,
            end_time=trial.start_time,
            run_id=3,
            restarts=2,
            total_batches=10**12,
            target_length=5,
            is_waiting=True,
            warm_start_checkpoint="w",
            latest_checkpoint="l",
            runner_state="pulling",
            progress=0.5,
            searcher_metric_value=float("-inf"),
            best_checkpoint="b",
            exit_reason="because",
            early_exit="INVALID_HP",
            excluded_nodes=("n1", "n2"),
            log_policy_matched="oom",
            metadata={"k": [1, {"z": None}]},
            unmanaged=True,
            external_id="e",
            seed=2**40,
            hparams={"nested": {"lr": 1e-300}, "list": [1, 2.5]},
        )

        with store.write() as transaction:
            stored = transaction.trials.add(new)

        with store.read() as transaction:
            assert transaction.trials.get(stored.id) == stored == replace(new, id=stored.id, task_id=stored.task_id)

    def test_its_task_is_named_after_the_ids_when_none_is_given(self, store: Store, trial: Trial) -> None:
        assert trial.task_id == f"{trial.experiment_id}.{trial.request_id}"

    def test_it_is_found_by_each_of_its_names(self, store: Store, trial: Trial) -> None:
        with store.write() as transaction:
            named = replace(trial, external_id="ext")
            transaction.trials.save(named)

        with store.read() as transaction:
            trials = transaction.trials
            assert trials.by_request_id(trial.experiment_id, trial.request_id) == named
            assert trials.by_task_id(trial.task_id) == named
            assert trials.by_external_id(trial.experiment_id, "ext") == named
            assert trials.by_request_id(trial.experiment_id, "other") is None
            assert trials.by_task_id("other") is None
            assert trials.by_external_id(99, "ext") is None
            with pytest.raises(NotFound, match="trial not found: 77"):
                trials.get(77)

    def test_several_come_in_the_order_asked_for_and_strangers_are_left_out(
        self, store: Store, trial: Trial, new_trial: NewTrial
    ) -> None:
        with store.write() as transaction:
            other = transaction.trials.add(new_trial(trial.experiment_id))

        with store.read() as transaction:
            assert transaction.trials.of_ids([other.id, 99, trial.id, other.id]) == [other, trial]
            assert transaction.trials.of_ids([]) == []

    def test_a_save_that_expected_another_state_changes_nothing(self, store: Store, trial: Trial) -> None:
        with store.write() as transaction:
            first = transaction.trials.save(replace(trial, state=TrialState.PAUSED), expected=TrialState.ACTIVE)
            second = transaction.trials.save(replace(trial, state=TrialState.ERROR), expected=TrialState.ACTIVE)

        with store.read() as transaction:
            assert (first, second) == (True, False)
            assert transaction.trials.get(trial.id).state is TrialState.PAUSED

    def test_the_unfinished_ones_of_an_experiment_can_be_asked_for(
        self, store: Store, trial: Trial, new_trial: NewTrial
    ) -> None:
        with store.write() as transaction:
            done = transaction.trials.add(new_trial(trial.experiment_id, state=TrialState.COMPLETED))

        with store.read() as transaction:
            everything = transaction.trials.of_experiment(trial.experiment_id)
            unfinished = transaction.trials.of_experiment(trial.experiment_id, unfinished_only=True)

        assert (everything, unfinished) == ([trial, done], [trial])

    def test_checkpoints_are_counted_without_deleted_ones(self, store: Store, trial: Trial) -> None:
        with store.write() as transaction:
            for name, state in (("a", CheckpointState.COMPLETED), ("b", CheckpointState.PARTIALLY_DELETED)):
                transaction.checkpoints.add(_checkpoint(trial, name, state))
            transaction.checkpoints.add(_checkpoint(trial, "c", CheckpointState.DELETED))

        with store.read() as transaction:
            assert transaction.trials.checkpoint_totals([trial.id, 99]) == {trial.id: (2, 20)}
            assert transaction.trials.checkpoint_totals([]) == {}

    def test_a_second_trial_under_the_same_request_is_refused(
        self, store: Store, trial: Trial, new_trial: NewTrial
    ) -> None:
        with pytest.raises(AlreadyExists, match="stored already"):
            _add(store, new_trial(trial.experiment_id, request_id=trial.request_id, task_id="other"))

    def test_a_trial_of_no_experiment_is_refused(self, store: Store, new_trial: NewTrial) -> None:
        with pytest.raises(NotFound, match="does not exist"):
            _add(store, new_trial(99))


class TestTrialSearch:
    @pytest.fixture
    def three(self, store: Store, trial: Trial, new_trial: NewTrial) -> list[int]:
        """The second is the best, the longest and has the largest checkpoint; the third has no metric at all."""
        hour = timedelta(hours=1)
        with store.write() as transaction:
            first = replace(trial, searcher_metric_value=0.5, end_time=trial.start_time + hour, total_batches=5)
            transaction.trials.save(first)
            second = transaction.trials.add(
                new_trial(trial.experiment_id, searcher_metric_value=0.25, end_time=trial.start_time + 2 * hour)
            )
            third = transaction.trials.add(
                new_trial(trial.experiment_id, state=TrialState.ERROR, restarts=3, start_time=trial.start_time + hour)
            )
            transaction.checkpoints.add(_checkpoint(second, "x", CheckpointState.COMPLETED))
            for one, value in ((first, 0.1), (second, 0.9)):
                transaction.metrics.append([_validation(one, value)])
        return [first.id, second.id, third.id]

    @pytest.mark.parametrize(
        ("field", "order"),
        [
            ("id", [0, 1, 2]),
            ("start_time", [0, 1, 2]),
            ("end_time", [0, 1, 2]),
            ("state", [0, 1, 2]),
            ("best_metric", [1, 0, 2]),
            ("latest_metric", [0, 1, 2]),
            ("total_batches", [1, 2, 0]),
            ("duration", [0, 1, 2]),
            ("restarts", [0, 1, 2]),
            ("checkpoint_size", [0, 2, 1]),
        ],
    )
    def test_every_field_sorts(self, store: Store, three: list[int], field: str, order: list[int]) -> None:
        with store.read() as transaction:
            page = transaction.trials.search(TrialQuery(sort_by=field))

        assert [item.id for item in page.items] == [three[place] for place in order]

    def test_the_best_come_first_in_the_direction_of_their_experiment(
        self, store: Store, new_experiment: Callable[..., Experiment], new_trial: NewTrial
    ) -> None:
        config = {"searcher": {"metric": "accuracy", "smaller_is_better": False}}
        with store.write() as transaction:
            experiment = transaction.experiments.add(new_experiment(config=config), searcher_snapshot=None)
            low, high = (transaction.trials.add(new_trial(experiment.id, searcher_metric_value=v)) for v in (0.1, 0.9))

        with store.read() as transaction:
            best = transaction.trials.search(TrialQuery(sort_by="best_metric")).items
            worst = transaction.trials.search(TrialQuery(sort_by="best_metric", descending=True)).items

        assert [item.id for item in best] == [high.id, low.id]
        assert [item.id for item in worst] == [low.id, high.id]

    def test_filters_and_pages_work_together(self, store: Store, three: list[int], trial: Trial) -> None:
        with store.read() as transaction:
            failed = transaction.trials.search(TrialQuery(states=(TrialState.ERROR,)))
            page = transaction.trials.search(
                TrialQuery(experiment_id=trial.experiment_id, descending=True, page=PageRequest(offset=1, limit=1))
            )
            nobody = transaction.trials.search(TrialQuery(experiment_id=99))

        assert [item.id for item in failed.items] == [three[2]]
        assert ([item.id for item in page.items], page.total, page.offset) == ([three[1]], 3, 1)
        assert (nobody.items, nobody.total) == ([], 0)

    def test_an_unknown_field_is_refused_with_the_known_ones(self, store: Store) -> None:
        with store.read() as transaction, pytest.raises(InvalidInput, match=r"'colour'\. Use one of: id, start_time"):
            transaction.trials.search(TrialQuery(sort_by="colour"))


class TestTasks:
    def test_a_task_is_kept_ended_and_listed(self, store: Store, trial: Trial) -> None:
        now = trial.start_time
        shell = Task(
            id="t1", type=TaskType.SHELL, job_id="j", start_time=now, user_id=1, config={"a": 1}, context_id="c"
        )
        notebook = Task(id="t2", type=TaskType.NOTEBOOK, job_id="j", start_time=now + timedelta(seconds=1))
        with store.write() as transaction:
            transaction.tasks.add(shell)
            transaction.tasks.add(notebook)
            ended = replace(notebook, end_time=now + timedelta(hours=1))
            transaction.tasks.save(ended)

        with store.read() as transaction:
            assert transaction.tasks.get("t1") == shell
            assert transaction.tasks.search() == [shell, ended]
            assert transaction.tasks.search(types=[TaskType.NOTEBOOK]) == [ended]
            assert transaction.tasks.search(active_only=True) == [shell]

    def test_an_unknown_task_is_not_found(self, store: Store, trial: Trial) -> None:
        unknown = Task(id="t9", type=TaskType.SHELL, job_id="j", start_time=trial.start_time)

        with store.write() as transaction:
            with pytest.raises(NotFound, match="task not found: t9"):
                transaction.tasks.get("t9")
            with pytest.raises(NotFound, match="task not found: t9"):
                transaction.tasks.save(unknown)


class TestAllocations:
    def test_it_comes_back_with_every_field(self, store: Store, trial: Trial) -> None:
        now = trial.start_time
        allocation = replace(
            _allocation(trial, 1),
            shares=(NodeShare("n1", (0, 1)), NodeShare("n2", (), "10.0.0.2")),
            handle="pid:1",
            is_ready=True,
            start_time=now,
            end_time=now,
            preempt_requested_at=now,
            preempt_acked=True,
            kill_requested_at=now,
            exit_code=137,
            exit_reason="killed",
            token_hash="h",
            ports=(1, 2),
            proxy_address="127.0.0.1:1",
            log_matches=("0", "1:node a"),
            run_id=4,
            is_preemptible=False,
            single_node=True,
        )

        with store.write() as transaction:
            transaction.allocations.add(allocation)

        with store.read() as transaction:
            assert transaction.allocations.get(allocation.id) == allocation
            with pytest.raises(NotFound, match="allocation not found: nope"):
                transaction.allocations.get("nope")

    def test_the_live_ones_are_listed_oldest_first(self, store: Store, trial: Trial) -> None:
        first, second, over = _allocation(trial, 1), _allocation(trial, 2), _allocation(trial, 3)
        over = replace(over, state=AllocationState.TERMINATED)
        with store.write() as transaction:
            for allocation in (second, over, first):
                transaction.allocations.add(allocation)

        with store.read() as transaction:
            assert transaction.allocations.live() == [first, second]
            assert transaction.allocations.of_task(trial.task_id) == [first, second, over]

    def test_a_token_works_only_while_its_allocation_lives(self, store: Store, trial: Trial) -> None:
        allocation = replace(_allocation(trial, 1), token_hash="secret")
        ended = replace(allocation, state=AllocationState.TERMINATED)
        with store.write() as transaction:
            transaction.allocations.add(allocation)
            found = transaction.allocations.by_token_hash("secret")
            was_first = transaction.allocations.save(ended, expected=AllocationState.QUEUED)
            is_repeated = transaction.allocations.save(ended, expected=AllocationState.QUEUED)

        with store.read() as transaction:
            assert found == allocation
            assert (was_first, is_repeated) == (True, False)
            assert transaction.allocations.by_token_hash("secret") is None
            assert transaction.allocations.by_token_hash("") is None

    def test_slots_held_in_a_stretch_of_time_are_told_with_whose_they_were(self, store: Store, trial: Trial) -> None:
        noon, hour = trial.start_time, timedelta(hours=1)
        never, running, over = (_allocation(trial, number) for number in (1, 2, 3))
        running = replace(running, start_time=noon)
        over = replace(over, start_time=noon - hour, end_time=noon)
        with store.write() as transaction:
            for allocation in (never, running, over):
                transaction.allocations.add(allocation)
            owner = transaction.users.get(1)
            experiment = transaction.experiments.get(trial.experiment_id)
            transaction.experiments.save(replace(experiment, labels=("a", "b")))

        def held(start: int, end: int, **options: Any) -> list[SlotUse]:
            return transaction.allocations.uses(noon + start * hour, noon + end * hour, now=noon + 3 * hour, **options)

        whose = SlotUse(
            start=noon,
            end=noon + 3 * hour,
            slots=running.slots_needed,
            pool=running.resource_pool,
            username=owner.username,
            user_id=owner.id,
            experiment_id=trial.experiment_id,
            labels=("a", "b"),
            allocation_id=running.id,
            workspace_name="Uncategorized",
        )
        earlier = replace(whose, start=noon - hour, end=noon, allocation_id=over.id)
        with store.read() as transaction:
            assert held(0, 1) == [whose]
            assert held(-1, 0) == [earlier]
            assert held(-1, 1) == [earlier, whose]
            assert held(-2, -1) == []
            assert held(-1, 1, visible_in=frozenset({1})) == [earlier, whose]
            assert held(-1, 1, visible_in=frozenset({2})) == held(-1, 1, visible_in=frozenset()) == []

    def test_slots_of_a_task_that_is_no_trial_belong_to_its_user_and_workspace(
        self, store: Store, trial: Trial
    ) -> None:
        noon = trial.start_time
        shell = Task(id="t", type=TaskType.SHELL, job_id="j", start_time=noon, user_id=2, workspace_id=7)
        allocation = replace(_allocation(trial, 1), task_id="t", trial_id=None, start_time=noon, end_time=noon)
        allocation = replace(allocation, end_time=noon + timedelta(seconds=5))
        with store.write() as transaction:
            transaction.tasks.add(shell)
            transaction.allocations.add(allocation)

        with store.read() as transaction:
            span = (noon, noon + timedelta(hours=1))
            (use,) = transaction.allocations.uses(*span, now=noon, visible_in=frozenset({7}))
            assert (use.experiment_id, use.user_id, use.labels, use.seconds) == (None, 2, (), 5)
            assert transaction.allocations.uses(*span, now=noon, visible_in=frozenset({1})) == []


def _add(store: Store, trial: Trial) -> None:
    with store.write() as transaction:
        transaction.trials.add(trial)


def _allocation(trial: Trial, number: int) -> Allocation:
    created = trial.start_time + timedelta(seconds=number)
    return Allocation(
        id=f"{trial.task_id}.{number}",
        task_id=trial.task_id,
        job_id="j",
        state=AllocationState.QUEUED,
        changed_at=created,
        created_at=created,
        slots_needed=2,
        trial_id=trial.id,
    )


def _checkpoint(trial: Trial, name: str, state: CheckpointState) -> Checkpoint:
    return Checkpoint(
        uuid=name,
        state=state,
        report_time=trial.start_time,
        resources={"f": 10, "d/": 0},
        metadata={},
        trial_id=trial.id,
        experiment_id=trial.experiment_id,
    )


def _validation(trial: Trial, value: float) -> MetricReport:
    return MetricReport(
        trial_id=trial.id,
        run_id=1,
        group=VALIDATION,
        steps_completed=1,
        report_time=trial.start_time,
        metrics={"loss": value},
    )
