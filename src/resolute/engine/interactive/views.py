"""Commands, notebooks, TensorBoards and shells as lists and pages show them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from resolute.domain.allocation import Allocation
from resolute.domain.errors import IllegalTransition, NotFound
from resolute.domain.job import Job
from resolute.domain.queue import check_priority
from resolute.domain.task import Task, TaskType
from resolute.domain.user import User
from resolute.engine.jobs.queue import JobUpdate, update_jobs
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskView:
    task: Task
    job: Job
    user: User | None
    """None: deleted since."""
    allocations: Sequence[Allocation]
    """Oldest first."""


def task_of(tx: Transaction, task_id: str, type: TaskType) -> Task:
    """Raises NotFound for a task of another kind."""
    task = tx.tasks.get(task_id)
    if task.type is not type:
        raise NotFound(f"{type.lower()} not found: {task_id}")
    return task


def view_of(tx: Transaction, task: Task) -> TaskView:
    users = {user.id: user for user in tx.users.all()}
    return _view(tx, task, users)


def tasks_of(
    tx: Transaction,
    type: TaskType,
    *,
    usernames: Collection[str] = (),
    user_ids: Collection[int] = (),
    workspace_id: int | None = None,
    visible_in: frozenset[int] | None = None,
) -> list[Task]:
    """Oldest first, those that have ended too. `visible_in`: workspaces whose tasks are shown; None: all."""
    named = {user.id for user in tx.users.all() if user.username in usernames}
    owners = {*user_ids, *named}
    is_any = not usernames and not user_ids
    return [
        task
        for task in tx.tasks.search(types=(type,))
        if (is_any or task.user_id in owners)
        and (not workspace_id or task.workspace_id == workspace_id)
        and (visible_in is None or task.workspace_id in visible_in)
    ]


def views_of(tx: Transaction, tasks: Sequence[Task]) -> list[TaskView]:
    users = {user.id: user for user in tx.users.all()}
    return [_view(tx, task, users) for task in tasks]


def set_priority(platform: Platform, task_id: str, priority: int) -> None:
    """Raises IllegalTransition for a task that has ended."""
    check_priority(priority)
    with platform.store.read() as tx:
        task = tx.tasks.get(task_id)
    if task.end_time is not None:
        raise IllegalTransition(f"The {task.type.lower()} {task_id} has ended; it waits for nothing any more.")
    update_jobs(platform, [JobUpdate(job_id=task.job_id, priority=priority)])


def _view(tx: Transaction, task: Task, users: dict[int, User]) -> TaskView:
    return TaskView(
        task=task,
        job=tx.jobs.get(task.job_id),
        user=users.get(task.user_id or 0),
        allocations=tx.allocations.of_task(task.id),
    )
