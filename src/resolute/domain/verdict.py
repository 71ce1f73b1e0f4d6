"""What becomes of a trial when its processes have ended. Pure."""

from dataclasses import dataclass
from enum import StrEnum

from resolute.domain.allocation import Allocation
from resolute.domain.trial import END_OF, Trial, TrialState

INVALID_HP = "INVALID_HP"
USER_REQUESTED_STOP = "USER_REQUESTED_STOP"


class Next(StrEnum):
    END = "end"
    """The trial is over, in `Verdict.state`."""
    RESTART = "restart"
    """It failed and may try again from its latest checkpoint; counts against max_restarts."""
    REQUEUE = "requeue"
    """It left because it was asked to, or through no fault of its own; goes back to the queue."""
    WAIT = "wait"
    """It gives its slots back until the searcher or the user wants more of it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    next: Next
    state: TrialState | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """How the processes ended. `is_lost`: nobody knows (the machine went away)."""

    code: int
    reason: str = ""
    is_lost: bool = False


def judge(
    trial: Trial, allocation: Allocation, exit: Exit, *, max_restarts: int, retries_cancelled: str = ""
) -> Verdict:
    """Decide. `retries_cancelled` names the log policy that forbids another try, if one matched."""
    if trial.is_stopping:
        return Verdict(Next.END, END_OF[trial.state], exit.reason)
    if trial.early_exit is not None and exit.code == 0:
        return _left_on_purpose(trial.early_exit)
    if exit.is_lost:
        return _gone(trial, "its machine or its processes vanished")
    if exit.code == 0:
        return _clean_exit(trial, allocation)
    if trial.state is TrialState.PAUSED or allocation.preempt_requested_at is not None:
        return _gone(trial, exit.reason)
    return _failed(trial, exit, max_restarts=max_restarts, retries_cancelled=retries_cancelled)


def _left_on_purpose(early_exit: str) -> Verdict:
    if early_exit == INVALID_HP:
        return Verdict(Next.END, TrialState.ERROR, "The trial reported that its hyperparameters are invalid.")
    return Verdict(Next.END, TrialState.COMPLETED, "The trial asked to stop.")


def _clean_exit(trial: Trial, allocation: Allocation) -> Verdict:
    if trial.is_waiting:
        return Verdict(Next.WAIT)
    if allocation.was_preempted:
        return _gone(trial, "preempted")
    return Verdict(Next.END, TrialState.COMPLETED)


def _gone(trial: Trial, reason: str) -> Verdict:
    if trial.state is TrialState.PAUSED or trial.is_waiting:
        return Verdict(Next.WAIT, reason=reason)
    return Verdict(Next.REQUEUE, reason=reason)


def _failed(trial: Trial, exit: Exit, *, max_restarts: int, retries_cancelled: str) -> Verdict:
    sentence = exit.reason or f"exit code {exit.code}"
    what = sentence.removesuffix(".")
    if retries_cancelled:
        return Verdict(Next.END, TrialState.ERROR, f"{what}; not retried: log policy {retries_cancelled!r} matched")
    if trial.restarts >= max_restarts:
        reason = f"{what} after {trial.restarts} restarts (max_restarts {max_restarts})"
        return Verdict(Next.END, TrialState.ERROR, reason)
    return Verdict(Next.RESTART, reason=sentence)
