"""Commands, notebooks, TensorBoards and shells as messages."""

from resolute.domain.allocation import AllocationState
from resolute.engine.interactive.tensorboard import shown_by
from resolute.engine.interactive.views import TaskView
from resolute.engine.jobs.kinds import kind_of
from resolute.server.shapes.states import task_state
from resolute.spec.wire import interactive as wire
from resolute.spec.wire.enums import TaskState


def tensorboard_message(view: TaskView, *, waiting: str = "") -> wire.Tensorboard:
    experiment_ids, trial_ids = shown_by(view.task)
    shared = dict(interactive_message(view, waiting=waiting))
    return wire.Tensorboard(**shared, experiment_ids=experiment_ids, trial_ids=trial_ids)


def interactive_message(view: TaskView, *, waiting: str = "") -> wire.InteractiveTask:
    task, job, user = view.task, view.job, view.user
    last = view.allocations[-1] if view.allocations else None
    return wire.InteractiveTask(
        id=task.id,
        description=job.name,
        state=_state(view),
        start_time=task.start_time,
        end_time=task.end_time,
        username=user.username if user else "",
        display_name=user.display_name if user else "",
        user_id=task.user_id or 0,
        resource_pool=job.resource_pool,
        slots=last.slots_needed if last else 0,
        priority=job.priority,
        exit_status=_exit_status(view),
        exit_code=last.exit_code if last else None,
        is_ready=bool(last and last.is_ready and task.end_time is None),
        job_id=job.id,
        workspace_id=job.workspace_id,
        service_address=f"/proxy/{task.id}/" if kind_of(task).listens else "",
        waiting_reason=waiting,
    )


def _state(view: TaskView) -> TaskState:
    if view.task.end_time is not None or not view.allocations:
        return TaskState.TERMINATED
    return task_state(view.allocations[-1].state, [])


def _exit_status(view: TaskView) -> str | None:
    last = view.allocations[-1] if view.allocations else None
    if last is None or last.state is not AllocationState.TERMINATED:
        return None
    if last.kill_requested_at is not None:
        return "killed"
    return last.exit_reason or (None if last.exit_code is None else f"exited with code {last.exit_code}")
