"""Port of the database: one repository a kind of thing, joined in a transaction. Nothing here mentions SQL."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from resolute.domain.allocation import Allocation, AllocationState
from resolute.domain.checkpoint import Checkpoint, CheckpointState
from resolute.domain.experiment import Experiment, ExperimentState
from resolute.domain.gang import GangNode
from resolute.domain.job import Job
from resolute.domain.metric import Highlights, MetricReport, MetricSummary, Series
from resolute.domain.rights import Group, RoleAssignment
from resolute.domain.slot_use import SlotUse
from resolute.domain.task import Task
from resolute.domain.template import Template
from resolute.domain.trial import Trial, TrialSource, TrialState
from resolute.domain.user import Session, User
from resolute.domain.workspace import Project, Workspace
from resolute.engine.ports.changes import Changes
from resolute.engine.ports.queries import (
    CheckpointQuery,
    CheckpointView,
    ExperimentQuery,
    ExperimentSummary,
    Page,
    SearcherHead,
    TrialQuery,
)
from resolute.engine.ports.registry import Datasets, Deployments, Models


class Experiments(Protocol):
    def add(self, experiment: Experiment, *, searcher_snapshot: dict[str, object] | None) -> Experiment:
        """Store a new experiment. The returned copy carries the id; the one passed in has id 0."""

    def get(self, experiment_id: int) -> Experiment:
        """Raises NotFound("experiment not found: 99")."""

    def save(self, experiment: Experiment, *, expected: ExperimentState | None = None) -> bool:
        """Write all fields if the stored state is still `expected` (None: whatever it is).
        False: another writer was first."""

    def searcher_snapshot(self, experiment_id: int) -> dict[str, object] | None:
        """The search as it is now, all patches put in. None: the experiment has no searcher."""

    def searcher_head(self, experiment_id: int) -> SearcherHead | None:
        """Which state the search is in, without reading it."""

    def save_searcher_snapshot(self, experiment_id: int, snapshot: dict[str, object], *, stamp: str = "") -> None:
        """Write the whole state; patches are forgotten. `stamp` names this state and never another; empty: no name."""

    def add_searcher_patch(self, experiment_id: int, patch: dict[str, object], *, number: int, stamp: str) -> None:
        """Write what changed (`search.patch`) since the head, whose `patches` is `number` - 1."""

    def progress(self, experiment_ids: Sequence[int]) -> dict[int, float]:
        """How far each is, from 0 to 1, without reading its configuration."""

    def searcher_metrics(self, experiment_ids: Iterable[int]) -> dict[int, tuple[str, bool]]:
        """The first objective of each and whether smaller is better, without reading its configuration."""

    def in_states(self, states: Iterable[ExperimentState]) -> list[Experiment]: ...
    def by_external_id(self, external_id: str) -> Experiment | None: ...
    def search(self, query: ExperimentQuery) -> Page[ExperimentSummary]: ...
    def remove(self, experiment_id: int) -> None:
        """Delete it with its trials, metrics, checkpoints' rows, tasks and allocations."""


class Trials(Protocol):
    def add(self, trial: Trial) -> Trial:
        """As Experiments.add; the id comes back. `task_id` is filled from ids when empty."""

    def get(self, trial_id: int) -> Trial:
        """Raises NotFound("trial not found: 7")."""

    def of_ids(self, trial_ids: Sequence[int]) -> list[Trial]:
        """In the order asked for, each once; those that are not there are left out."""

    def save(self, trial: Trial, *, expected: TrialState | None = None) -> bool: ...
    def by_request_id(self, experiment_id: int, request_id: str) -> Trial | None: ...
    def by_task_id(self, task_id: str) -> Trial | None: ...
    def by_external_id(self, experiment_id: int, external_id: str) -> Trial | None: ...
    def of_experiment(self, experiment_id: int, *, unfinished_only: bool = False) -> list[Trial]: ...
    def ids_of(self, experiment_ids: Sequence[int]) -> list[int]:
        """Of all their trials, ascending, without reading these."""

    def search(self, query: TrialQuery) -> Page[Trial]: ...
    def silent_since(self, moment: datetime) -> list[Trial]:
        """Unmanaged ACTIVE ones whose last heartbeat is older; without one that never sent any."""

    def with_log_retention(self) -> list[Trial]:
        """Ended ones whose logs are not kept for ever."""

    def put_source(self, source: TrialSource) -> None:
        """Written over what this trial said before of the same checkpoint."""

    def sources(self, *, checkpoint_uuid: str | None = None, model: tuple[int, int] | None = None) -> list[TrialSource]:
        """What trials say they worked with; `model`: its id and the number of the version."""

    def checkpoint_totals(self, trial_ids: Sequence[int]) -> dict[int, tuple[int, int]]:
        """Trial id to (count, bytes) of its undeleted checkpoints."""


class Jobs(Protocol):
    def add(self, job: Job) -> None: ...
    def get(self, job_id: str) -> Job:
        """Raises NotFound."""

    def save(self, job: Job) -> None: ...
    def in_queue(self) -> list[Job]:
        """Those with an allocation that is not TERMINATED."""

    def follow_project(self, project_id: int, workspace_id: int) -> None:
        """Jobs of the project's experiments belong to this workspace from now on."""

    def remove(self, job_id: str) -> None: ...


class Tasks(Protocol):
    def add(self, task: Task) -> None: ...
    def get(self, task_id: str) -> Task:
        """Raises NotFound."""

    def save(self, task: Task) -> None: ...
    def search(self, *, types: Iterable[str] = (), active_only: bool = False) -> list[Task]: ...
    def children(self, task_id: str) -> list[Task]:
        """Those that it started, oldest first."""


class Allocations(Protocol):
    def add(self, allocation: Allocation) -> None: ...
    def get(self, allocation_id: str) -> Allocation:
        """Raises NotFound."""

    def save(self, allocation: Allocation, *, expected: AllocationState | None = None) -> bool: ...
    def live(self) -> list[Allocation]:
        """All that are not TERMINATED, oldest first."""

    def of_task(self, task_id: str) -> list[Allocation]:
        """Oldest first."""

    def by_token_hash(self, token_hash: str) -> Allocation | None:
        """Only while it is not TERMINATED."""

    def uses(
        self, start: datetime, end: datetime, *, now: datetime, visible_in: frozenset[int] | None = None
    ) -> list[SlotUse]:
        """Of those that held slots at some time in [start, end), by one statement, oldest first. Those that still hold
        them are taken to end `now`. `visible_in`: only work of these workspaces."""


class GangNodes(Protocol):
    """The nodes of allocations, from their first word on."""

    def save(self, node: GangNode) -> None:
        """Add it, or write over what is stored of this rank of this allocation."""

    def of_allocation(self, allocation_id: str) -> list[GangNode]:
        """In rank order; those that were never heard of are missing."""

    def of_allocations(self, allocation_ids: Sequence[str]) -> dict[str, list[GangNode]]:
        """The same of several, by one statement."""


class Checkpoints(Protocol):
    def add(self, checkpoint: Checkpoint) -> bool:
        """Idempotent on uuid with the same content; returns whether it was new.
        Raises AlreadyExists for another trial's uuid."""

    def get(self, uuid: str) -> Checkpoint:
        """Raises NotFound("checkpoint not found: <uuid>")."""

    def save(self, checkpoint: Checkpoint, *, expected: CheckpointState | None = None) -> bool: ...
    def view(self, uuid: str) -> CheckpointView: ...
    def search(self, query: CheckpointQuery) -> Page[CheckpointView]: ...
    def of_trial(self, trial_id: int) -> list[Checkpoint]:
        """Newest steps first."""

    def of_experiment(self, experiment_id: int) -> list[Checkpoint]: ...
    def best_of(self, trial_ids: Sequence[int]) -> dict[int, Checkpoint]:
        """Each trial's COMPLETED checkpoint with the best searcher metric; without a metric the oldest."""

    def in_use(self, experiment_id: int) -> set[str]:
        """Uuids that must not be collected: warm starts and registered model versions."""


class Metrics(Protocol):
    def append(self, reports: Sequence[MetricReport]) -> int:
        """Store reports; returns how many were new. One of a known (trial, run, group, steps) is merged into it: other
        keys are added, another value of a key replaces the old one, a repeat changes nothing. Updates summaries in the
        same transaction."""

    def latest(self, trial_id: int, group: str) -> MetricReport | None: ...
    def at_steps(self, trial_id: int, group: str, steps: int) -> MetricReport | None: ...
    def reports(
        self, trial_id: int, *, group: str | None = None, after_id: int = 0, limit: int | None = None
    ) -> Iterator[tuple[int, MetricReport, bool]]:
        """(id, report, archived) in the order of steps. `archived`: replaced by a later run of the trial."""

    def summaries(self, trial_id: int) -> list[MetricSummary]: ...
    def summaries_of(self, trial_ids: Sequence[int]) -> dict[int, list[MetricSummary]]: ...
    def series(
        self,
        trial_id: int,
        group: str,
        name: str,
        *,
        max_points: int = 1000,
        since_steps: int | None = None,
        until_steps: int | None = None,
    ) -> Series:
        """Thinned so that each kept stretch keeps its smallest and largest value. NaN and Inf are kept."""

    def series_of(
        self,
        trial_ids: Sequence[int],
        group: str,
        names: Sequence[str],
        *,
        max_points: int = 1000,
        since_steps: int | None = None,
        until_steps: int | None = None,
    ) -> list[Series]:
        """`series` of many trials, by few statements. Those without a point are left out."""

    def highlights(self, trial_ids: Sequence[int], name: str, *, smaller_is_better: bool) -> dict[int, Highlights]:
        """Best and latest validation report per trial, by few statements. NaN is never the best."""

    def names(self, trial_ids: Sequence[int]) -> list[tuple[str, str]]:
        """Distinct (group, name), sorted."""

    def best(self, experiment_id: int, name: str, *, smaller_is_better: bool) -> float | None:
        """Best value of a validation metric over all trials."""


class Users(Protocol):
    def add(self, user: User) -> User:
        """Raises AlreadyExists for a taken username."""

    def get(self, user_id: int) -> User: ...
    def by_name(self, username: str) -> User | None: ...
    def save(self, user: User) -> None: ...
    def all(self) -> list[User]: ...
    def add_session(self, session: Session) -> Session: ...
    def session_by_token_hash(self, token_hash: str) -> Session | None: ...
    def sessions(self, user_id: int | None = None) -> list[Session]: ...
    def save_session(self, session: Session) -> None: ...
    def settings(self, user_id: int) -> dict[str, str]:
        """Web UI settings, `<storage path>/<key>` to JSON text."""

    def save_settings(self, user_id: int, settings: dict[str, str]) -> None: ...


class RightsOfUsers(Protocol):
    """Groups, their members, and role assignments."""

    def add_group(self, group: Group) -> Group:
        """The id comes back. Raises AlreadyExists for a taken name."""

    def group(self, group_id: int) -> Group:
        """Raises NotFound."""

    def groups(self) -> list[Group]: ...
    def save_group(self, group: Group) -> None: ...
    def remove_group(self, group_id: int) -> None:
        """With its members and assignments."""

    def add_member(self, group_id: int, user_id: int) -> None:
        """Repeating changes nothing."""

    def remove_member(self, group_id: int, user_id: int) -> None: ...
    def members(self, group_id: int) -> list[int]: ...
    def groups_of(self, user_id: int) -> list[Group]: ...
    def add_assignment(self, assignment: RoleAssignment) -> RoleAssignment: ...
    def remove_assignment(self, assignment_id: int) -> None: ...
    def assignments(self, *, workspace_id: int | None = None) -> list[RoleAssignment]:
        """Oldest first; with a workspace those that name it."""

    def assignments_of(self, user_id: int) -> list[RoleAssignment]:
        """The user's own and those of every group he is in."""


class Workspaces(Protocol):
    def add(self, workspace: Workspace) -> Workspace: ...
    def get(self, workspace_id: int) -> Workspace: ...
    def by_name(self, name: str) -> Workspace | None: ...
    def save(self, workspace: Workspace) -> None: ...
    def all(self, *, visible_in: frozenset[int] | None = None) -> list[Workspace]: ...
    def remove(self, workspace_id: int) -> None:
        """With its projects and the role assignments that name it."""

    def of_project(self, project_id: int) -> int | None:
        """The workspace that holds it. None: there is no such project."""

    def of_experiment(self, experiment_id: int) -> int | None: ...
    def of_job(self, job_id: str) -> int | None: ...
    def counts(self) -> dict[int, tuple[int, int]]:
        """Workspace id to (projects, experiments)."""

    def add_project(self, project: Project) -> Project: ...
    def project(self, project_id: int) -> Project: ...
    def save_project(self, project: Project) -> None: ...
    def projects(
        self, workspace_id: int | None = None, *, visible_in: frozenset[int] | None = None
    ) -> list[Project]: ...
    def remove_project(self, project_id: int) -> None: ...
    def project_counts(self) -> dict[int, tuple[int, int, datetime | None]]:
        """Project id to (experiments, active experiments, last experiment's start)."""


class Templates(Protocol):
    def put(self, template: Template) -> None: ...
    def get(self, name: str) -> Template:
        """Raises NotFound."""

    def all(self, *, visible_in: frozenset[int] | None = None) -> list[Template]: ...
    def remove(self, name: str) -> None: ...
    def rename(self, old: str, new: str) -> None: ...


class Contexts(Protocol):
    """Uploaded model definitions: tar.gz bytes under their content hash."""

    def put(self, content: bytes) -> str:
        """Store once per content; returns the id (sha256 hex)."""

    def get(self, context_id: str) -> bytes:
        """Raises NotFound."""


class Settings(Protocol):
    """Small facts of the cluster: its id, the next job queue position, disabled slots."""

    def get(self, key: str) -> Any | None: ...
    def put(self, key: str, value: object) -> None: ...


class Transaction(Protocol):
    """Everything in the database, seen and changed as one."""

    @property
    def experiments(self) -> Experiments: ...
    @property
    def trials(self) -> Trials: ...
    @property
    def jobs(self) -> Jobs: ...
    @property
    def tasks(self) -> Tasks: ...
    @property
    def allocations(self) -> Allocations: ...
    @property
    def gang_nodes(self) -> GangNodes: ...
    @property
    def checkpoints(self) -> Checkpoints: ...
    @property
    def metrics(self) -> Metrics: ...
    @property
    def users(self) -> Users: ...
    @property
    def rights(self) -> RightsOfUsers: ...
    @property
    def workspaces(self) -> Workspaces: ...
    @property
    def templates(self) -> Templates: ...
    @property
    def contexts(self) -> Contexts: ...
    @property
    def settings(self) -> Settings: ...
    @property
    def models(self) -> Models: ...
    @property
    def datasets(self) -> Datasets: ...
    @property
    def deployments(self) -> Deployments: ...
    @property
    def changes(self) -> Changes: ...
    def after_commit(self, action: Callable[[], None]) -> None:
        """Run `action` once the transaction is durable; never when it rolled back."""


class Store(Protocol):
    """The database. No network or process call may happen while a transaction is open."""

    def write(self) -> AbstractContextManager[Transaction]:
        """One transaction, committed and durable when the block ends, rolled back when it raises.
        Writers are serialised on SQLite; a full disk raises Unavailable and changes nothing."""

    def read(self) -> AbstractContextManager[Transaction]:
        """A consistent snapshot. Writing in it is a bug."""

    def close(self) -> None: ...


@runtime_checkable
class ReleasesSpace(Protocol):
    """A power some stores have: giving back the disk space of what was deleted."""

    def release_space(self) -> bool:
        """Give some back; writers hardly notice. False: there is nothing to give."""
