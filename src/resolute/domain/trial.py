"""A trial: one training run with fixed hyperparameters, and the states it passes through.

Pure: callers pass `now` in and store what comes out.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from resolute.domain.transitions import check_move


class TrialState(StrEnum):
    ACTIVE = "ACTIVE"
    """Wants to run: it has an allocation, queued or running, or waits for the searcher."""
    PAUSED = "PAUSED"
    STOPPING_COMPLETED = "STOPPING_COMPLETED"
    STOPPING_CANCELED = "STOPPING_CANCELED"
    STOPPING_KILLED = "STOPPING_KILLED"
    STOPPING_ERROR = "STOPPING_ERROR"
    COMPLETED = "COMPLETED"
    CANCELED = "CANCELED"
    ERROR = "ERROR"


_T = TrialState
_ENDS = frozenset({_T.COMPLETED, _T.CANCELED, _T.ERROR})
_STOPS = frozenset({_T.STOPPING_COMPLETED, _T.STOPPING_CANCELED, _T.STOPPING_KILLED, _T.STOPPING_ERROR})
ALLOWED: dict[TrialState, frozenset[TrialState]] = {
    _T.ACTIVE: frozenset({_T.PAUSED}) | _STOPS | _ENDS,
    _T.PAUSED: frozenset({_T.ACTIVE}) | _STOPS | _ENDS,
    _T.STOPPING_COMPLETED: frozenset({_T.STOPPING_CANCELED, _T.STOPPING_KILLED}) | _ENDS,
    _T.STOPPING_CANCELED: frozenset({_T.STOPPING_KILLED, _T.CANCELED, _T.ERROR}),
    _T.STOPPING_KILLED: frozenset({_T.CANCELED, _T.ERROR}),
    _T.STOPPING_ERROR: frozenset({_T.STOPPING_KILLED, _T.CANCELED, _T.ERROR}),
    # A continued experiment wakes its trials.
    _T.COMPLETED: frozenset({_T.ACTIVE}),
    _T.CANCELED: frozenset({_T.ACTIVE}),
    _T.ERROR: frozenset({_T.ACTIVE}),
}
FINISHED: frozenset[TrialState] = _ENDS
STOPPING: frozenset[TrialState] = _STOPS
END_OF: dict[TrialState, TrialState] = {
    _T.STOPPING_COMPLETED: _T.COMPLETED,
    _T.STOPPING_CANCELED: _T.CANCELED,
    _T.STOPPING_KILLED: _T.CANCELED,
    _T.STOPPING_ERROR: _T.ERROR,
}


class SourceKind(StrEnum):
    """What a trial does with a checkpoint that others made."""

    INFERENCE = "INFERENCE"
    FINE_TUNING = "FINE_TUNING"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSource:
    """A checkpoint that a trial says it works with, and the model version by which it found it."""

    trial_id: int
    checkpoint_uuid: str
    kind: SourceKind
    model_id: int | None = None
    model_version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    id: int
    experiment_id: int
    request_id: str
    """The searcher's name for it; a uuid, unique in the experiment."""
    task_id: str
    """`<experiment id>.<request id>`; stays the same over restarts."""
    state: TrialState
    changed_at: datetime
    hparams: dict[str, object]
    seed: int
    start_time: datetime
    end_time: datetime | None = None
    run_id: int = 0
    """Fencing number: raised by one each time an allocation is made. Older runs' writes are refused."""
    restarts: int = 0
    total_batches: int = 0
    """Most steps ever reported."""
    target_length: int | None = None
    """How far the searcher has asked it to train, in the searcher's unit; None: to the end."""
    is_waiting: bool = False
    """It reached `target_length` and gave its slots back until the searcher raises it."""
    warm_start_checkpoint: str | None = None
    latest_checkpoint: str | None = None
    """Newest whole checkpoint; a restart begins there."""
    runner_state: str = ""
    progress: float = 0.0
    searcher_metric_value: float | None = None
    """Best value of the searcher's metric so far."""
    best_checkpoint: str | None = None
    exit_reason: str = ""
    """One sentence on why it ended, for people."""
    early_exit: str | None = None
    """Reason the trial itself gave for stopping: INVALID_HP or USER_REQUESTED_STOP."""
    excluded_nodes: tuple[str, ...] = ()
    log_policy_matched: str = ""
    metadata: dict[str, object] | None = None
    unmanaged: bool = False
    external_id: str | None = None
    heartbeat_at: datetime | None = None
    """When an unmanaged trial last said that it is there; None: it never did."""
    log_retention_days: int | None = None
    """Days that its log is kept after its end; None or -1: until the experiment is deleted."""

    def moved_to(self, state: TrialState, *, now: datetime, reason: str = "") -> "Trial":
        check_move(f"Trial {self.id}", ALLOWED, self.state, state)
        end_time = now if state in FINISHED else None
        return replace(self, state=state, changed_at=now, end_time=end_time, exit_reason=reason or self.exit_reason)

    @property
    def is_finished(self) -> bool:
        return self.state in FINISHED

    @property
    def is_stopping(self) -> bool:
        return self.state in STOPPING
