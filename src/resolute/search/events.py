"""What a searcher hears and what it asks for. Values only; no behaviour.

Lengths and times are in the searcher's own unit (batches, records, epochs, or the user's time metric).
Metrics arrive as the user reported them; a searcher knows the direction from its configuration.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal


class ExitReason(StrEnum):
    ERRORED = "ERRORED"
    """Failed more often than `max_restarts` allows."""
    INVALID_HP = "INVALID_HP"
    """The trial said that its hyperparameters cannot work."""
    USER_REQUESTED_STOP = "USER_REQUESTED_STOP"
    USER_CANCELED = "USER_CANCELED"


# Events: what happened.


@dataclass(frozen=True, slots=True)
class SearchStarted:
    """First event of every search; answered with the initial trials."""

    kind: Literal["search_started"] = "search_started"


@dataclass(frozen=True, slots=True)
class Validated:
    """A validation was reported. `metrics` holds every objective by name; NaN counts as worst."""

    request_id: str
    time: float
    metrics: dict[str, float]
    kind: Literal["validated"] = "validated"


@dataclass(frozen=True, slots=True)
class TrialClosed:
    """The trial ended by itself with exit code 0, or after the searcher stopped it."""

    request_id: str
    kind: Literal["trial_closed"] = "trial_closed"


@dataclass(frozen=True, slots=True)
class TrialExitedEarly:
    request_id: str
    reason: ExitReason
    kind: Literal["trial_exited_early"] = "trial_exited_early"


@dataclass(frozen=True, slots=True)
class TrialProgressed:
    """Share of the trial's own work that is done, 0 to 1. Only for progress bars."""

    request_id: str
    progress: float
    kind: Literal["trial_progressed"] = "trial_progressed"


Event = SearchStarted | Validated | TrialClosed | TrialExitedEarly | TrialProgressed


# Actions: what the engine must do, in order.


@dataclass(frozen=True, slots=True)
class CreateTrial:
    request_id: str
    hparams: dict[str, Any]
    seed: int
    train_to: int | None = None
    """Give the slots back on reaching this length and wait; None: train to the end."""
    copy_of: str | None = None
    """Start from the latest checkpoint of this trial (population based training); its own length counts from 0."""


@dataclass(frozen=True, slots=True)
class TrainTo:
    """Raise a waiting or running trial's target; None: to the end."""

    request_id: str
    length: int | None


@dataclass(frozen=True, slots=True)
class StopTrial:
    """No further training is wanted; the trial checkpoints and closes."""

    request_id: str


@dataclass(frozen=True, slots=True)
class Shutdown:
    """The search is over. The experiment ends when its last trial does."""

    failed: bool = False
    cancelled: bool = False
    reason: str = ""


Action = CreateTrial | TrainTo | StopTrial | Shutdown


@dataclass(slots=True)
class Outcome:
    """Actions of one event and, where there is something to tell a person, a sentence each."""

    actions: list[Action] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
