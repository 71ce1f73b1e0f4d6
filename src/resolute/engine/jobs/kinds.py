"""The table of task kinds, and what is asked of a task whatever its kind. A new kind is one module and one row here."""

from collections.abc import Mapping
from dataclasses import dataclass

from resolute.domain.errors import EnvironmentFailed, NotFound
from resolute.domain.task import Task, TaskType
from resolute.engine.deployments.kind import REPLICA
from resolute.engine.interactive.command import COMMAND
from resolute.engine.interactive.generic import GENERIC
from resolute.engine.interactive.notebook import NOTEBOOK
from resolute.engine.interactive.tensorboard import TENSORBOARD
from resolute.engine.jobs.gang import Launch
from resolute.engine.jobs.task_kind import TaskKind
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.ports.runner import Gang
from resolute.engine.trials.kind import TRIAL

KINDS: dict[TaskType, TaskKind] = {
    TaskType.TRIAL: TRIAL,
    TaskType.REPLICA: REPLICA,
    TaskType.COMMAND: COMMAND,
    TaskType.GENERIC: GENERIC,
    TaskType.TENSORBOARD: TENSORBOARD,
    TaskType.NOTEBOOK: NOTEBOOK,
}


def kind_of(task: Task) -> TaskKind:
    return KINDS.get(task.type) or TaskKind(type=task.type, gang=_refuse)


def _refuse(platform: Platform, launch: Launch) -> Gang:
    """A home that a later release wrote to."""
    raise EnvironmentFailed(
        f"Task {launch.task.id} is a {launch.task.type}; this master does not run tasks of that kind."
    )


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose rights a task has, and where it belongs."""

    user_id: int
    workspace_id: int


def owner_of(tx: Transaction, task: Task) -> Owner:
    """Its job's, which follows a project that moves. A task outlives the job of a deployment that was deleted."""
    try:
        job = tx.jobs.get(task.job_id)
    except NotFound:
        return Owner(task.user_id or 0, task.workspace_id)
    return Owner(job.user_id, job.workspace_id)


def title_of(tx: Transaction, task: Task) -> str:
    try:
        return kind_of(task).title(tx, task)
    except NotFound:
        return task.id


def names_of(tx: Transaction, task: Task) -> Mapping[str, object]:
    """What a task is and runs for, by the names that paths of the API have for it."""
    return {"task_id": task.id, **kind_of(task).names(tx, task)}
