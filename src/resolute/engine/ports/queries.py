"""What the engine asks the database for, and what comes back: filters, pages, rows joined for a list."""

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from resolute.domain.checkpoint import Checkpoint, CheckpointState
from resolute.domain.experiment import Experiment, ExperimentState
from resolute.domain.job import DEFAULT_POOL
from resolute.domain.trial import TrialState

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    """`limit` None: all. A negative offset counts from the end."""

    offset: int = 0
    limit: int | None = None

    def cut(self, items: list[T]) -> "Page[T]":
        """This page of a list that is whole in memory."""
        total = len(items)
        start = max(total + self.offset, 0) if self.offset < 0 else min(self.offset, total)
        end = total if self.limit is None else min(start + self.limit, total)
        return Page(items[start:end], total, start)


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    items: list[T]
    total: int
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentQuery:
    """Every filter that is set must match. `sort_by` is a field of `ExperimentSummary` or `Experiment`."""

    ids: tuple[int, ...] = ()
    excluded_ids: tuple[int, ...] = ()
    users: tuple[str, ...] = ()
    user_ids: tuple[int, ...] = ()
    states: tuple[ExperimentState, ...] = ()
    archived: bool | None = None
    hides_archived_parents: bool = False
    """Leave out what is in an archived project or workspace, too."""
    name_contains: str = ""
    description_contains: str = ""
    labels: tuple[str, ...] = ()
    project_id: int | None = None
    workspace_id: int | None = None
    visible_in: frozenset[int] | None = None
    """Workspaces that the caller may see; None: all."""
    id_from: int | None = None
    id_to: int | None = None
    sort_by: str = "id"
    descending: bool = False
    page: PageRequest = PageRequest()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentSummary:
    """An experiment with what lists show beside it."""

    experiment: Experiment
    username: str
    display_name: str
    project_name: str
    project_user_id: int
    workspace_id: int
    workspace_name: str
    resource_pool: str = DEFAULT_POOL
    """Of its job."""
    is_parent_archived: bool = False
    num_trials: int = 0
    best_trial_id: int | None = None
    best_metric: float | None = None
    checkpoint_count: int = 0
    checkpoint_size: int = 0
    running_allocations: int = 0
    queued_allocations: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialQuery:
    """`sort_by`: id, start_time, end_time, state, best_metric, latest_metric, total_batches, duration, restarts,
    checkpoint_size. `best_metric` puts the best first unless `descending` says otherwise."""

    experiment_id: int | None = None
    states: tuple[TrialState, ...] = ()
    sort_by: str = "id"
    descending: bool = False
    page: PageRequest = PageRequest()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointQuery:
    """`sort_by`: uuid, trial_id, steps_completed, report_time, state, searcher_metric, or metric (`sort_metric`).
    `searcher_metric` puts the best first, honouring the experiment's direction, when `descending` is None."""

    experiment_id: int | None = None
    trial_id: int | None = None
    states: tuple[CheckpointState, ...] = ()
    sort_by: str = "report_time"
    sort_metric: str = ""
    descending: bool | None = None
    page: PageRequest = PageRequest()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointView:
    """A checkpoint joined with the metrics reported at its step."""

    checkpoint: Checkpoint
    experiment_config: dict[str, object] | None = None
    hparams: dict[str, object] | None = None
    searcher_metric: float | None = None
    training_metrics: dict[str, object] = field(default_factory=dict)
    validation_metrics: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SearcherHead:
    """The newest stored state of a search."""

    stamp: str
    """Names this state and no other; empty where it has no name."""
    patches: int
    """How many there are since the last whole snapshot."""
