"""Experiments, trials, allocations and checkpoints: only the moves in their tables are possible."""

from datetime import UTC, datetime
from itertools import product

import pytest

from resolute.domain import allocation, checkpoint, experiment, trial
from resolute.domain.allocation import Allocation, AllocationState
from resolute.domain.checkpoint import Checkpoint, CheckpointState
from resolute.domain.errors import IllegalTransition
from resolute.domain.experiment import Experiment, ExperimentState
from resolute.domain.trial import Trial, TrialState

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LATER = datetime(2026, 1, 1, 13, tzinfo=UTC)


def an_experiment(state: ExperimentState) -> Experiment:
    return Experiment(
        id=1,
        state=state,
        changed_at=NOON,
        config={"searcher": {"metric": "loss"}},
        original_config="",
        user_id=1,
        project_id=1,
        job_id="j",
        start_time=NOON,
    )


def a_trial(state: TrialState) -> Trial:
    return Trial(
        id=1,
        experiment_id=1,
        request_id="r",
        task_id="1.r",
        state=state,
        changed_at=NOON,
        hparams={},
        seed=0,
        start_time=NOON,
    )


def an_allocation(state: AllocationState) -> Allocation:
    return Allocation(
        id="1.r.1", task_id="1.r", job_id="j", state=state, changed_at=NOON, created_at=NOON, slots_needed=1
    )


@pytest.mark.parametrize(("start", "goal"), list(product(ExperimentState, repeat=2)))
def test_only_listed_moves_of_an_experiment_are_possible(start: ExperimentState, goal: ExperimentState) -> None:
    subject = an_experiment(start)

    if goal in experiment.ALLOWED[start]:
        assert subject.moved_to(goal, now=LATER).state is goal
    else:
        with pytest.raises(IllegalTransition, match=f"Experiment 1 is {start}; it cannot become {goal}"):
            subject.moved_to(goal, now=LATER)


@pytest.mark.parametrize(("start", "goal"), list(product(TrialState, repeat=2)))
def test_only_listed_moves_of_a_trial_are_possible(start: TrialState, goal: TrialState) -> None:
    subject = a_trial(start)

    if goal in trial.ALLOWED[start]:
        assert subject.moved_to(goal, now=LATER).state is goal
    else:
        with pytest.raises(IllegalTransition, match=f"Trial 1 is {start}; it cannot become {goal}"):
            subject.moved_to(goal, now=LATER)


@pytest.mark.parametrize(("start", "goal"), list(product(AllocationState, repeat=2)))
def test_only_listed_moves_of_an_allocation_are_possible(start: AllocationState, goal: AllocationState) -> None:
    subject = an_allocation(start)

    if goal in allocation.ALLOWED[start]:
        assert subject.moved_to(goal, now=LATER).state is goal
    else:
        with pytest.raises(IllegalTransition, match=f"is {start}; it cannot become {goal}"):
            subject.moved_to(goal, now=LATER)


@pytest.mark.parametrize(("start", "goal"), list(product(CheckpointState, repeat=2)))
def test_only_listed_moves_of_a_checkpoint_are_possible(start: CheckpointState, goal: CheckpointState) -> None:
    subject = Checkpoint(uuid="u", state=start, report_time=NOON, resources={}, metadata={})

    if goal in checkpoint.ALLOWED[start]:
        assert subject.moved_to(goal).state is goal
    else:
        with pytest.raises(IllegalTransition, match=f"is {start}; it cannot become {goal}"):
            subject.moved_to(goal)


@pytest.mark.parametrize("state", sorted(experiment.STOPPING))
def test_every_way_of_stopping_an_experiment_ends_somewhere_it_may_go(state: ExperimentState) -> None:
    end = experiment.END_OF[state]

    assert end in experiment.ALLOWED[state]
    assert end in experiment.FINISHED


@pytest.mark.parametrize("state", sorted(trial.STOPPING))
def test_every_way_of_stopping_a_trial_ends_somewhere_it_may_go(state: TrialState) -> None:
    end = trial.END_OF[state]

    assert end in trial.ALLOWED[state]
    assert end in trial.FINISHED


def test_a_finished_experiment_has_an_end_time_and_loses_it_when_it_is_continued() -> None:
    finished = an_experiment(ExperimentState.STOPPING_COMPLETED).moved_to(ExperimentState.COMPLETED, now=LATER)

    continued = finished.moved_to(ExperimentState.ACTIVE, now=LATER)

    assert finished.end_time == LATER
    assert continued.end_time is None


def test_an_allocation_notes_when_it_ran() -> None:
    running = an_allocation(AllocationState.ASSIGNED).moved_to(AllocationState.RUNNING, now=NOON)

    ended = running.moved_to(AllocationState.TERMINATED, now=LATER)

    assert (ended.start_time, ended.end_time) == (NOON, LATER)
    assert not ended.holds_slots
