"""What people do with a task that is its own job, whatever its kind: start it, and kill it.

Trials and replicas are not started here: an experiment's searcher and a deployment's roll-out do that.
"""

import uuid
from dataclasses import dataclass, field

from resolute.domain.job import DEFAULT_POOL, DEFAULT_PRIORITY, Job, JobKind
from resolute.domain.queue import check_priority
from resolute.domain.task import Task, TaskType
from resolute.domain.user import User
from resolute.engine.jobs.pools import find_pool
from resolute.engine.jobs.task_moves import add_task, kill_task, queue_task
from resolute.engine.platform import Platform
from resolute.engine.unit_of_work import flow

__all__ = ["TaskRequest", "kill", "submit_task"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRequest:
    type: TaskType
    name: str
    workspace_id: int
    config: dict[str, object] = field(default_factory=dict)
    """Whatever its kind makes a gang of."""
    context: bytes | None = None
    """The files that go with it, as an archive."""
    slots: int = 0
    resource_pool: str = DEFAULT_POOL
    priority: int = DEFAULT_PRIORITY
    is_preemptible: bool = False
    single_node: bool = False
    parent_id: str | None = None
    forked_from: str | None = None
    is_pausable: bool = True


def submit_task(platform: Platform, request: TaskRequest, *, user: User) -> Task:
    """A job, its task, and the claim on slots. The task's id is the job's entity."""
    task_id = str(uuid.uuid4())
    find_pool(platform, request.resource_pool, key="resources.resource_pool")
    with flow(platform) as current:
        job = current.add(
            Job(
                id=str(uuid.uuid4()),
                kind=JobKind(request.type),
                name=request.name,
                entity_id=task_id,
                user_id=user.id,
                workspace_id=request.workspace_id,
                submitted_at=current.now,
                queue_position=current.now.timestamp(),
                resource_pool=request.resource_pool,
                priority=check_priority(request.priority),
            )
        )
        task = Task(
            id=task_id,
            type=request.type,
            job_id=job.id,
            start_time=current.now,
            user_id=user.id,
            workspace_id=request.workspace_id,
            config=request.config,
            context_id=None if request.context is None else current.tx.contexts.put(request.context),
            parent_id=request.parent_id,
            forked_from=request.forked_from,
            is_pausable=request.is_pausable,
        )
        add_task(current, task)
        queue_task(
            current,
            task,
            slots=request.slots,
            resource_pool=job.resource_pool,
            is_preemptible=request.is_preemptible,
            single_node=request.single_node,
        )
    return task


def kill(platform: Platform, task_id: str) -> None:
    """End it at once. Killing one that has ended changes nothing."""
    with flow(platform) as current:
        kill_task(current, task_id)
