"""An experiment: one configuration, its searcher, and the trials that the searcher asked for.

Pure: callers pass `now` in and store what comes out.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from resolute.domain.transitions import check_move
from resolute.domain.trial import FINISHED as FINISHED_TRIAL
from resolute.domain.trial import TrialState


class ExperimentState(StrEnum):
    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"
    STOPPING_COMPLETED = "STOPPING_COMPLETED"
    STOPPING_CANCELED = "STOPPING_CANCELED"
    STOPPING_KILLED = "STOPPING_KILLED"
    STOPPING_ERROR = "STOPPING_ERROR"
    COMPLETED = "COMPLETED"
    CANCELED = "CANCELED"
    ERROR = "ERROR"
    DELETING = "DELETING"
    DELETE_FAILED = "DELETE_FAILED"
    DELETED = "DELETED"


_E = ExperimentState
ALLOWED: dict[ExperimentState, frozenset[ExperimentState]] = {
    _E.ACTIVE: frozenset(
        {_E.PAUSED, _E.STOPPING_COMPLETED, _E.STOPPING_CANCELED, _E.STOPPING_KILLED, _E.STOPPING_ERROR}
    ),
    _E.PAUSED: frozenset(
        {_E.ACTIVE, _E.STOPPING_COMPLETED, _E.STOPPING_CANCELED, _E.STOPPING_KILLED, _E.STOPPING_ERROR}
    ),
    _E.STOPPING_COMPLETED: frozenset({_E.COMPLETED, _E.STOPPING_CANCELED, _E.STOPPING_KILLED}),
    _E.STOPPING_CANCELED: frozenset({_E.CANCELED, _E.STOPPING_KILLED}),
    _E.STOPPING_KILLED: frozenset({_E.CANCELED}),
    _E.STOPPING_ERROR: frozenset({_E.ERROR, _E.STOPPING_KILLED}),
    # A finished experiment can be continued (more length or more trials) or deleted.
    _E.COMPLETED: frozenset({_E.ACTIVE, _E.DELETING}),
    _E.CANCELED: frozenset({_E.ACTIVE, _E.DELETING}),
    _E.ERROR: frozenset({_E.ACTIVE, _E.DELETING}),
    _E.DELETING: frozenset({_E.DELETED, _E.DELETE_FAILED}),
    _E.DELETE_FAILED: frozenset({_E.DELETING}),
    _E.DELETED: frozenset(),
}

STOPPING: frozenset[ExperimentState] = frozenset(
    {_E.STOPPING_COMPLETED, _E.STOPPING_CANCELED, _E.STOPPING_KILLED, _E.STOPPING_ERROR}
)
FINISHED: frozenset[ExperimentState] = frozenset({_E.COMPLETED, _E.CANCELED, _E.ERROR})
# Where each way of stopping ends.
END_OF: dict[ExperimentState, ExperimentState] = {
    _E.STOPPING_COMPLETED: _E.COMPLETED,
    _E.STOPPING_CANCELED: _E.CANCELED,
    _E.STOPPING_KILLED: _E.CANCELED,
    _E.STOPPING_ERROR: _E.ERROR,
}


def outcome_of(trials: Collection[TrialState]) -> ExperimentState:
    """How an experiment fares whose trials are in these states: as badly as the worst, once none is left."""
    if not trials or any(state not in FINISHED_TRIAL for state in trials):
        return _E.ACTIVE
    if TrialState.ERROR in trials:
        return _E.ERROR
    return _E.CANCELED if TrialState.CANCELED in trials else _E.COMPLETED


STOPPED_TO: dict[ExperimentState, ExperimentState] = {
    _E.COMPLETED: _E.STOPPING_COMPLETED,
    _E.CANCELED: _E.STOPPING_CANCELED,
    _E.ERROR: _E.STOPPING_ERROR,
}
"""The way to each end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    id: int
    state: ExperimentState
    changed_at: datetime
    config: dict[str, object]
    """Resolved: every default filled in, exactly what trials are given."""
    original_config: str
    """As submitted, comments included."""
    user_id: int
    project_id: int
    job_id: str
    """Pool, priority and place in the queue stand there (`domain.job`)."""
    start_time: datetime
    end_time: datetime | None = None
    name: str = ""
    description: str = ""
    notes: str = ""
    labels: tuple[str, ...] = ()
    archived: bool = False
    parent_id: int | None = None
    context_id: str | None = None
    """Content hash of the uploaded model definition; None when nothing was uploaded."""
    unmanaged: bool = False
    external_id: str | None = None
    progress: float = 0.0
    warnings: tuple[str, ...] = field(default=())

    def moved_to(self, state: ExperimentState, *, now: datetime) -> "Experiment":
        check_move(f"Experiment {self.id}", ALLOWED, self.state, state)
        end_time = now if state in FINISHED else (None if state is _E.ACTIVE else self.end_time)
        return replace(self, state=state, changed_at=now, end_time=end_time)

    @property
    def is_finished(self) -> bool:
        return self.state in FINISHED

    @property
    def is_stopping(self) -> bool:
        return self.state in STOPPING

    @property
    def hyperparameters(self) -> Mapping[str, object]:
        """As configured: ranges, not what a trial was given."""
        section = self.config.get("hyperparameters")
        return section if isinstance(section, dict) else {}

    @property
    def searcher_name(self) -> str:
        """Empty where there is no search."""
        return str(self._searcher.get("name", ""))

    @property
    def searcher_metrics(self) -> tuple[str, ...]:
        """All objectives; more than one only in a multi-objective search, an empty one where there is no search."""
        metric = self._searcher.get("metric", "")
        return tuple(metric) if isinstance(metric, list) else (str(metric),)

    @property
    def searcher_metric(self) -> str:
        """The first objective: what lists are sorted by."""
        return self.searcher_metrics[0]

    @property
    def smaller_is_better(self) -> bool:
        """Direction of the first objective."""
        given = self._searcher.get("smaller_is_better", True)
        return bool(given[0] if isinstance(given, list) else given)

    @property
    def _searcher(self) -> Mapping[str, object]:
        """Experiments that others run may have none."""
        section = self.config.get("searcher")
        return section if isinstance(section, dict) else {}
