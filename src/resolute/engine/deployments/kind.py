"""Model replicas as a kind of task. What becomes of one is its deployment's decision (`domain.rollout`)."""

from resolute.domain.rights import Permission
from resolute.domain.task import Task, TaskType
from resolute.engine.deployments.replicas import model_path, replica_ended, replica_gang
from resolute.engine.jobs.task_kind import TaskKind
from resolute.engine.ports.database import Transaction


def _title(tx: Transaction, task: Task) -> str:
    config = task.config or {}
    return f"Replica of {config['deployment']} (revision {config['revision']})"


REPLICA = TaskKind(
    type=TaskType.REPLICA,
    gang=replica_gang,
    ended=replica_ended,
    title=_title,
    view=Permission.VIEW_NSC,
    model_path=model_path,
    listens=True,
    enter=None,
)
