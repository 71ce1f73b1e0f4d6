"""The job queue: in which order jobs are served, and changing that."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from resolute.domain.allocation import Allocation
from resolute.domain.errors import InvalidInput, NotFound
from resolute.domain.job import Job, JobKind
from resolute.domain.queue import check_priority, check_weight, in_order, move_ahead_of, move_behind
from resolute.engine.deployments.deployments import record_in_deployment
from resolute.engine.experiments.changes import record_in_experiment
from resolute.engine.jobs.pools import find_pool
from resolute.engine.platform import Platform
from resolute.engine.unit_of_work import Flow, flow

RECORDS: dict[JobKind, Callable[[Flow, Job, Mapping[str, Any]], None]] = {
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


def list_jobs(platform: Platform, pool: str | None = None, *, descending: bool = False) -> list[JobView]:
    """Jobs with work to do, in the order in which they are served."""
    with platform.store.read() as tx:
        jobs = in_order([job for job in tx.jobs.in_queue() if pool in (None, job.resource_pool)])
        allocations = tx.allocations.live()
        users = {user.id: user.username for user in tx.users.all()}
        progress = tx.experiments.progress([int(j.entity_id) for j in jobs if j.kind is JobKind.EXPERIMENT])
    by_job: dict[str, list[Allocation]] = {}
    for allocation in allocations:
        by_job.setdefault(allocation.job_id, []).append(allocation)
    views = [
        _view(
            job,
            by_job.get(job.id, []),
            username=users.get(job.user_id, ""),
            progress=progress.get(int(job.entity_id), 0.0) if job.kind is JobKind.EXPERIMENT else 0.0,
            ahead=index,
        )
        for index, job in enumerate(jobs)
    ]
    return views[::-1] if descending else views


def _view(job: Job, allocations: Sequence[Allocation], *, username: str, progress: float, ahead: int) -> JobView:
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
                current.change(allocation, replace(allocation, resource_pool=after.resource_pool))
    if changes and after.kind in RECORDS:
        RECORDS[after.kind](current, after, changes)
