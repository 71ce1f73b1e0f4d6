"""The job queue: in which order jobs are served, and moving them."""

from dataclasses import dataclass, replace
from datetime import datetime

from resolute.domain.allocation import Allocation
from resolute.domain.errors import InvalidInput, NotFound
from resolute.domain.experiment import Experiment
from resolute.domain.queue import QueuedJob, move_ahead_of, move_behind
from resolute.engine.experiments.changes import patch_experiment
from resolute.engine.jobs.scheduling import LIVE
from resolute.engine.platform import Platform
from resolute.engine.unit_of_work import flow


@dataclass(frozen=True, slots=True, kw_only=True)
class JobView:
    job_id: str
    experiment: Experiment
    username: str
    workspace_id: int
    requested_slots: int
    allocated_slots: int
    is_scheduled: bool
    jobs_ahead: int
    submitted_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class JobUpdate:
    """Exactly one of the fields is set."""

    job_id: str
    priority: int | None = None
    weight: float | None = None
    resource_pool: str | None = None
    ahead_of: str | None = None
    behind_of: str | None = None


def list_jobs(platform: Platform, pool: str | None = None, *, descending: bool = False) -> list[JobView]:
    """Jobs with work to do, in the order in which they are served."""
    with platform.store.read() as tx:
        experiments = [e for e in tx.experiments.in_states(LIVE) if pool in (None, e.resource_pool) and not e.unmanaged]
        allocations = tx.allocations.live()
        users = {user.id: user.username for user in tx.users.all()}
        workspaces = {project.id: project.workspace_id for project in tx.workspaces.projects()}
    by_job: dict[str, list[Allocation]] = {}
    for allocation in allocations:
        by_job.setdefault(allocation.job_id, []).append(allocation)
    ordered = sorted((e for e in experiments if e.job_id in by_job), key=_order)
    views = [
        _view(e, by_job[e.job_id], users.get(e.user_id, ""), workspaces.get(e.project_id, 1), index)
        for index, e in enumerate(ordered)
    ]
    return views[::-1] if descending else views


def _order(experiment: Experiment) -> tuple[int, float, datetime]:
    return experiment.priority, experiment.queue_position, experiment.start_time


def _view(
    experiment: Experiment, allocations: list[Allocation], username: str, workspace_id: int, ahead: int
) -> JobView:
    held = [a for a in allocations if a.holds_slots]
    return JobView(
        job_id=experiment.job_id,
        experiment=experiment,
        username=username,
        workspace_id=workspace_id,
        requested_slots=sum(a.slots_needed for a in allocations),
        allocated_slots=sum(a.slots_needed for a in held),
        is_scheduled=bool(held),
        jobs_ahead=ahead,
        submitted_at=experiment.start_time,
    )


def update_jobs(platform: Platform, updates: list[JobUpdate]) -> None:
    for update in updates:
        _update(platform, update)


def _update(platform: Platform, update: JobUpdate) -> None:
    jobs = {view.job_id: view.experiment for view in list_jobs(platform)}
    experiment = jobs.get(update.job_id)
    if experiment is None:
        raise NotFound(f"job not found in the queue: {update.job_id}")
    if update.priority is not None or update.weight is not None:
        patch_experiment(platform, experiment.id, priority=update.priority, weight=update.weight)
    elif update.resource_pool is not None:
        _change_pool(platform, experiment, update.resource_pool)
    else:
        anchor = update.ahead_of or update.behind_of
        if anchor is None:
            raise InvalidInput(f"Job {update.job_id}: say what to change: priority, weight, aheadOf or behindOf.")
        _move_job(platform, jobs, experiment, anchor, ahead=update.ahead_of is not None)


def _change_pool(platform: Platform, experiment: Experiment, pool: str) -> None:
    pools = {node.resource_pool for node in platform.runner.nodes()}
    if pool not in pools:
        raise NotFound(f"resource pool not found: {pool}. There are: {', '.join(sorted(pools))}.")
    with flow(platform) as current:
        current.tx.experiments.save(replace(current.tx.experiments.get(experiment.id), resource_pool=pool))
        for allocation in current.tx.allocations.live():
            if allocation.job_id == experiment.job_id and not allocation.holds_slots:
                current.tx.allocations.save(replace(allocation, resource_pool=pool))
        current.publish("queue", "engine")


def _move_job(
    platform: Platform, jobs: dict[str, Experiment], experiment: Experiment, anchor: str, *, ahead: bool
) -> None:
    queue = [
        QueuedJob(job_id=e.job_id, priority=e.priority, queue_position=e.queue_position, submitted=e.start_time)
        for e in jobs.values()
    ]
    move = move_ahead_of if ahead else move_behind
    with flow(platform) as current:
        for placed in move(queue, experiment.job_id, anchor):
            stored = current.tx.experiments.get(jobs[placed.job_id].id)
            resources = {**(stored.config.get("resources") or {}), "priority": placed.priority}
            current.tx.experiments.save(
                replace(
                    stored,
                    priority=placed.priority,
                    queue_position=placed.queue_position,
                    config={**stored.config, "resources": resources},
                )
            )
        current.publish("queue", "engine", f"experiment/{experiment.id}")
