"""States as clients name them: what we call ACTIVE is queued, starting or running for a person who looks."""

from collections.abc import Iterable, Sequence

from resolute.domain.allocation import Allocation, AllocationState
from resolute.domain.experiment import ExperimentState
from resolute.domain.gang import Phase, phase_of
from resolute.domain.trial import TrialState
from resolute.engine.ports.queries import ExperimentSummary
from resolute.spec.wire import enums as wire

_RUNNING_KINDS = frozenset({"QUEUED", "PULLING", "STARTING", "RUNNING"})


def experiment_state(summary: ExperimentSummary) -> wire.ExperimentState:
    state = summary.experiment.state
    if state is ExperimentState.ACTIVE and summary.running_allocations:
        return wire.ExperimentState.RUNNING
    if state is ExperimentState.ACTIVE and summary.queued_allocations:
        return wire.ExperimentState.QUEUED
    return wire.ExperimentState(f"STATE_{state}")


def trial_state(state: TrialState, allocation: Allocation | None) -> wire.TrialState:
    if state is not TrialState.ACTIVE or allocation is None:
        return wire.TrialState(f"STATE_{state}")
    return _OF_ALLOCATION[allocation.state]


_OF_ALLOCATION = {
    AllocationState.QUEUED: wire.TrialState.QUEUED,
    AllocationState.SUBMITTED: wire.TrialState.QUEUED,
    AllocationState.ASSIGNED: wire.TrialState.STARTING,
    AllocationState.RUNNING: wire.TrialState.RUNNING,
    AllocationState.TERMINATING: wire.TrialState.RUNNING,
    AllocationState.TERMINATED: wire.TrialState.ACTIVE,
}


def experiment_states(states: Iterable[wire.ExperimentState]) -> tuple[ExperimentState, ...]:
    """The domain's states for a filter."""
    return tuple(ExperimentState(name) for name in _names(states))


def trial_states(states: Iterable[wire.TrialState]) -> tuple[TrialState, ...]:
    return tuple(TrialState(name) for name in _names(states))


def _names(states: Iterable[str]) -> list[str]:
    names = (str(state).removeprefix("STATE_") for state in states)
    known = ("ACTIVE" if name in _RUNNING_KINDS else name for name in names if name != "UNSPECIFIED")
    return list(dict.fromkeys(known))


def task_state(state: AllocationState, phases: Sequence[Phase]) -> wire.TaskState:
    """`phases`: of its nodes. What runs is as far as the slowest of them."""
    if state is AllocationState.RUNNING and phases:
        return _OF_PHASE[phase_of(phases)]
    return _TASK_STATES[state]


_TASK_STATES = {
    AllocationState.QUEUED: wire.TaskState.QUEUED,
    AllocationState.SUBMITTED: wire.TaskState.QUEUED,
    AllocationState.ASSIGNED: wire.TaskState.STARTING,
    AllocationState.RUNNING: wire.TaskState.RUNNING,
    AllocationState.TERMINATING: wire.TaskState.TERMINATING,
    AllocationState.TERMINATED: wire.TaskState.TERMINATED,
}
_OF_PHASE = {
    Phase.PENDING: wire.TaskState.STARTING,
    Phase.PULLING: wire.TaskState.PULLING,
    Phase.STARTING: wire.TaskState.STARTING,
    Phase.RUNNING: wire.TaskState.RUNNING,
    Phase.ENDED: wire.TaskState.TERMINATING,
}
