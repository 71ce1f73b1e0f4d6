"""States as people see them, and filters by them."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from resolute.domain.allocation import Allocation, AllocationState
from resolute.domain.experiment import Experiment, ExperimentState
from resolute.domain.gang import Phase
from resolute.domain.trial import TrialState
from resolute.engine.ports.queries import ExperimentSummary
from resolute.server.shapes.states import (
    experiment_state,
    experiment_states,
    task_state,
    trial_state,
    trial_states,
)
from resolute.spec.wire import enums

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
EXPERIMENT = Experiment(
    id=1,
    state=ExperimentState.ACTIVE,
    changed_at=NOON,
    config={},
    original_config="",
    user_id=1,
    project_id=1,
    job_id="j",
    start_time=NOON,
)
SUMMARY = ExperimentSummary(
    experiment=EXPERIMENT,
    username="u",
    display_name="",
    project_name="p",
    project_user_id=1,
    workspace_id=1,
    workspace_name="w",
)
ALLOCATION = Allocation(
    id="a.1",
    task_id="a",
    job_id="j",
    state=AllocationState.QUEUED,
    changed_at=NOON,
    created_at=NOON,
    slots_needed=1,
)


@pytest.mark.parametrize("state", list(ExperimentState))
def test_every_experiment_state_has_a_word(state: ExperimentState) -> None:
    shown = experiment_state(replace(SUMMARY, experiment=replace(EXPERIMENT, state=state)))

    assert shown == f"STATE_{state}"


@pytest.mark.parametrize(
    ("running", "queued", "shown"),
    [(0, 0, "STATE_ACTIVE"), (0, 2, "STATE_QUEUED"), (1, 2, "STATE_RUNNING")],
)
def test_an_active_experiment_is_queued_or_running(running: int, queued: int, shown: str) -> None:
    summary = replace(SUMMARY, running_allocations=running, queued_allocations=queued)

    assert experiment_state(summary) == shown


@pytest.mark.parametrize("state", list(TrialState))
def test_every_trial_state_has_a_word(state: TrialState) -> None:
    assert trial_state(state, None) == f"STATE_{state}"


@pytest.mark.parametrize("state", list(AllocationState))
def test_an_active_trial_shows_its_allocation_and_others_do_not(state: AllocationState) -> None:
    allocation = replace(ALLOCATION, state=state)

    assert trial_state(TrialState.ACTIVE, allocation) in set(enums.TrialState)
    assert trial_state(TrialState.PAUSED, allocation) is enums.TrialState.PAUSED
    assert task_state(state, ()) in set(enums.TaskState)


@pytest.mark.parametrize(
    ("phases", "shown"),
    [
        ((Phase.RUNNING, Phase.PULLING), "PULLING"),
        ((Phase.RUNNING, Phase.PENDING), "STARTING"),
        ((Phase.ENDED, Phase.RUNNING), "RUNNING"),
        ((Phase.ENDED, Phase.ENDED), "TERMINATING"),
        ((), "RUNNING"),
    ],
)
def test_what_runs_is_as_far_as_the_slowest_of_its_nodes(phases: tuple[Phase, ...], shown: str) -> None:
    assert task_state(AllocationState.RUNNING, phases) == f"STATE_{shown}"
    assert task_state(AllocationState.QUEUED, phases) == "STATE_QUEUED"


def test_filters_by_kinds_of_running_find_active_ones_once() -> None:
    wanted = [enums.ExperimentState.QUEUED, enums.ExperimentState.RUNNING, enums.ExperimentState.ERROR]

    assert experiment_states(wanted) == (ExperimentState.ACTIVE, ExperimentState.ERROR)


def test_an_unspecified_state_filters_nothing() -> None:
    assert trial_states([enums.TrialState.UNSPECIFIED]) == ()
