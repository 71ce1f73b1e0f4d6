"""The job queue: in which order jobs are served, and changing that."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from resolute.domain.allocation import Allocation, AllocationState
from resolute.domain.errors import InvalidInput, NotFound
from resolute.domain.job import Job, JobKind
from resolute.domain.queue import check_priority, check_weight, in_order, move_ahead_of, move_behind
from resolute.engine.deployments.deployments import record_in_deployment
from resolute.engine.experiments.changes import record_in_experiment
from resolute.engine.jobs.allocation_moves import ask_to_leave
from resolute.engine.jobs.pools import find_pool
from resolute.engine.jobs.waiting import WaitingReason, job_names, why_it_waits
from resolute.engine.platform import Platform
from resolute.engine.unit_of_work import Flow, flow

RECORDS: dict[JobKind, Callable[[Flow, Job, Mapping[str, object]], None]] = {
    JobKind.EXPERIMENT: record_in_experiment,
    JobKind.DEPLOYMENT: record_in_deployment,
}
"""Who keeps a description of a job of its own, and must hear what was changed in the queue."""
_RECORDED = ("priority", "weight", "resource_pool")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobView:
    job: Job
    username: str
    progress: float
    is_preemptible: bool
    requested_slots: int
    allocated_slots: int
    is_scheduled: bool
    jobs_ahead: int
    waiting: WaitingReason | None = None
    """Of the first of its tasks that waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobUpdate:
    """Exactly one of the fields is set."""

    job_id: str
    priority: int | None = None
    weight: float | None = None
    resource_pool: str | None = None
    ahead_of: str | None = None
    behind_of: str | None = None


# --------------------------------------------------------------------------------------------------------- looking


def list_jobs(
    platform: Platform,
    pool: str | None = None,
    *,
    descending: bool = False,
    visible_in: frozenset[int] | None = None,
) -> list[JobView]:
    """Jobs with work to do, in the order in which they are served.

    `visible_in`: workspaces of the jobs that are shown, and named where others wait for them; None: all. Places in the
    queue count every job.
    """
    with platform.store.read() as tx:
        every = tx.jobs.in_queue()
        allocations = tx.allocations.live()
        users = {user.id: user.username for user in tx.users.all()}
        jobs = in_order([job for job in every if pool in (None, job.resource_pool)])
        progress = tx.experiments.progress([int(j.entity_id) for j in jobs if j.kind is JobKind.EXPERIMENT])
    names = job_names(every, visible_in)
    by_job: dict[str, list[Allocation]] = {}
    for allocation in allocations:
        by_job.setdefault(allocation.job_id, []).append(allocation)
    views = [
        _view(
            job,
            by_job.get(job.id, []),
            waiting=_first_reason(platform, by_job.get(job.id, []), names),
            username=users.get(job.user_id, ""),
            progress=progress.get(int(job.entity_id), 0.0) if job.kind is JobKind.EXPERIMENT else 0.0,
            ahead=index,
        )
        for index, job in enumerate(jobs)
        if job.id in names
    ]
    return views[::-1] if descending else views


def find_job(platform: Platform, job_id: str, *, visible_in: frozenset[int] | None = None) -> JobView | None:
    """As `list_jobs` shows it among the jobs of all pools; None when it has no work to do, or may not be seen."""
    with platform.store.read() as tx:
        every = in_order(tx.jobs.in_queue())
        place, job = next(((n, job) for n, job in enumerate(every) if job.id == job_id), (0, None))
        if job is None:
            return None
        own = [allocation for allocation in tx.allocations.live() if allocation.job_id == job_id]
        username = tx.users.get(job.user_id).username
        progress = tx.experiments.progress([int(job.entity_id)]) if job.kind is JobKind.EXPERIMENT else {}
    names = job_names(every, visible_in)
    if job_id not in names:
        return None
    return _view(
        job,
        own,
        waiting=_first_reason(platform, own, names),
        username=username,
        progress=next(iter(progress.values()), 0.0),
        ahead=place,
    )


def _first_reason(
    platform: Platform, allocations: Sequence[Allocation], names: Mapping[str, str]
) -> WaitingReason | None:
    reasons = (why_it_waits(platform.waiting, allocation, names) for allocation in allocations)
    return next(filter(None, reasons), None)


def _view(
    job: Job,
    allocations: Sequence[Allocation],
    *,
    username: str,
    progress: float,
    ahead: int,
    waiting: WaitingReason | None,
) -> JobView:
    held = [a for a in allocations if a.holds_slots]
    return JobView(
        job=job,
        username=username,
        progress=progress,
        is_preemptible=all(a.is_preemptible for a in allocations),
        requested_slots=sum(a.slots_needed for a in allocations),
        allocated_slots=sum(a.slots_needed for a in held),
        is_scheduled=bool(held),
        jobs_ahead=ahead,
        waiting=waiting,
    )


# -------------------------------------------------------------------------------------------------------- changing


def update_jobs(platform: Platform, updates: Sequence[JobUpdate]) -> None:
    """All of them or, when one cannot be made, none."""
    with flow(platform) as current:
        for update in updates:
            _update(current, platform, update)
        current.publish("queue", "engine")


def _update(current: Flow, platform: Platform, update: JobUpdate) -> None:
    jobs = {job.id: job for job in current.tx.jobs.in_queue()}
    if update.job_id not in jobs:
        raise NotFound(f"job not found in the queue: {update.job_id}")
    for changed in _changed(platform, jobs, update):
        _save(current, jobs[changed.id], changed)


def _changed(platform: Platform, jobs: Mapping[str, Job], update: JobUpdate) -> list[Job]:
    job = jobs[update.job_id]
    if update.priority is not None:
        return [replace(job, priority=check_priority(update.priority))]
    if update.weight is not None:
        return [replace(job, weight=check_weight(update.weight))]
    if update.resource_pool is not None:
        return [replace(job, resource_pool=find_pool(platform, update.resource_pool, key="resourcePool").name)]
    if update.ahead_of is not None:
        return move_ahead_of(list(jobs.values()), job.id, update.ahead_of)
    if update.behind_of is not None:
        return move_behind(list(jobs.values()), job.id, update.behind_of)
    raise InvalidInput(f"Job {job.id}: say what to change: priority, weight, resourcePool, aheadOf or behindOf.")


def _save(current: Flow, before: Job, after: Job) -> None:
    current.change(before, after)
    changes = {key: getattr(after, key) for key in _RECORDED if getattr(after, key) != getattr(before, key)}
    if "resource_pool" in changes:
        for allocation in current.tx.allocations.live():
            if allocation.job_id == after.id and not allocation.holds_slots:
                _move_to_pool(current, allocation, after.resource_pool)
    if changes and after.kind in RECORDS:
        RECORDS[after.kind](current, after, changes)


def _move_to_pool(current: Flow, allocation: Allocation, pool: str) -> None:
    """What an engine has comes back first; it is queued again where its job is by then."""
    if allocation.state is AllocationState.SUBMITTED:
        ask_to_leave(current, allocation)
    else:
        current.change(allocation, replace(allocation, resource_pool=pool))
