"""Messages about the job queue and the history of slot use. Pure."""

from resolute.domain.job import DEFAULT_PRIORITY, DEFAULT_WEIGHT, JobKind
from resolute.spec.wire.base import Request, Time, Wire
from resolute.spec.wire.cluster import QueueStats
from resolute.spec.wire.enums import AggregationPeriod, JobState, JobType
from resolute.spec.wire.paging import Pagination


class JobSummary(Wire):
    state: JobState = JobState.UNSPECIFIED
    jobs_ahead: int = 0
    waiting_reason: str = ""
    """Why a task of it waits, in one sentence; empty when none does."""
    waiting_for: str = ""
    """The same for programs: SLOTS, QUOTA, NOTHING (it can never start) and the others of docs/api.md."""


class Job(Wire):
    job_id: str
    entity_id: str
    type: JobType = JobType.EXPERIMENT
    kind: JobKind = JobKind.EXPERIMENT
    """As `type`, with a word for every kind of this platform; `type` is GENERIC for those other clients do not know."""
    name: str = ""
    username: str = ""
    user_id: int = 0
    submission_time: Time
    resource_pool: str = ""
    workspace_id: int = 1
    is_preemptible: bool = True
    requested_slots: int = 0
    allocated_slots: int = 0
    priority: int = DEFAULT_PRIORITY
    weight: float = DEFAULT_WEIGHT
    progress: float = 0.0
    summary: JobSummary = JobSummary()


class RBACJob(Wire):
    full: Job | None = None


class GetJobsResponse(Wire):
    jobs: list[Job] = []
    pagination: Pagination = Pagination()


class GetJobsV2Response(Wire):
    jobs: list[RBACJob] = []
    pagination: Pagination = Pagination()


class QueueControl(Request):
    """One change to one job. Exactly one of the optional fields is given."""

    job_id: str
    ahead_of: str | None = None
    behind_of: str | None = None
    priority: int | None = None
    weight: float | None = None
    resource_pool: str | None = None


class UpdateJobQueueRequest(Request):
    updates: list[QueueControl] = []


class AggregateQueueStats(Wire):
    period_start: str
    seconds: float


class RPQueueStat(Wire):
    resource_pool: str
    stats: QueueStats = QueueStats()
    aggregates: list[AggregateQueueStats] = []


class GetJobQueueStatsResponse(Wire):
    results: list[RPQueueStat] = []


class ResourceAllocationRawEntry(Wire):
    kind: str = ""
    start_time: Time
    end_time: Time | None = None
    experiment_id: int = 0
    username: str = ""
    user_id: int = 0
    labels: list[str] = []
    seconds: float = 0.0
    slots: int = 0


class ResourceAllocationRawResponse(Wire):
    resource_entries: list[ResourceAllocationRawEntry] = []


class ResourceAllocationAggregatedEntry(Wire):
    period_start: str
    period: AggregationPeriod
    seconds: float = 0.0
    by_username: dict[str, float] = {}
    by_experiment_label: dict[str, float] = {}
    by_resource_pool: dict[str, float] = {}
    by_agent_label: dict[str, float] = {}


class ResourceAllocationAggregatedResponse(Wire):
    resource_entries: list[ResourceAllocationAggregatedEntry] = []
