"""Generic tasks: commands that can be paused and resumed, forked, and start tasks of their own.

A task and all that it started (and those, in turn) are a family: they are paused, resumed and killed together.
"""

from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum

from resolute.domain.allocation import Allocation, AllocationState
from resolute.domain.errors import IllegalTransition, NotFound
from resolute.domain.task import Task, TaskType
from resolute.engine.interactive.command import command_gang
from resolute.engine.interactive.configuration import config_of
from resolute.engine.jobs.allocation_moves import ask_to_leave, live_allocation
from resolute.engine.jobs.task_kind import Ending, TaskKind, end_with_processes
from resolute.engine.jobs.task_moves import kill_task, queue_task, task_topic
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.unit_of_work import Flow, flow


class GenericState(StrEnum):
    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"
    STOPPING_PAUSED = "STOPPING_PAUSED"
    """It was asked to leave its slots, and has not yet."""
    CANCELED = "CANCELED"
    COMPLETED = "COMPLETED"
    ERROR = "ERROR"


def state_of(task: Task, allocations: list[Allocation]) -> GenericState:
    last = allocations[-1] if allocations else None
    if task.end_time is None:
        if task.paused_at is None:
            return GenericState.ACTIVE
        is_over = last is None or last.state is AllocationState.TERMINATED
        return GenericState.PAUSED if is_over else GenericState.STOPPING_PAUSED
    if last is None or last.kill_requested_at is not None or last.exit_code is None:
        return GenericState.CANCELED
    return GenericState.ERROR if last.exit_code else GenericState.COMPLETED


def pause(platform: Platform, task_id: str) -> None:
    """The task and its family give back their slots, and keep what is in their files."""
    with flow(platform) as current:
        task = _living(current.tx, task_id, "be paused")
        if not task.is_pausable:
            raise IllegalTransition(f"Task {task_id} was created with no_pause and cannot be paused. Kill it instead.")
        for each in _family(current.tx, task):
            if each.end_time is None and each.is_pausable and each.paused_at is None:
                _pause(current, each)


def resume(platform: Platform, task_id: str) -> None:
    """Queue the task and its family again. One that is not paused stays as it is."""
    with flow(platform) as current:
        task = _living(current.tx, task_id, "be resumed")
        if task.paused_at is None:
            raise IllegalTransition(f"Task {task_id} is not paused.")
        for each in _family(current.tx, task):
            if each.end_time is None and each.paused_at is not None:
                _resume(current, each)


def kill_family(platform: Platform, task_id: str, *, from_root: bool = False) -> None:
    """With everything that it started; `from_root`: with everything that its oldest ancestor did. Repeating it changes
    nothing."""
    with flow(platform) as current:
        task = generic_task(current.tx, task_id)
        while from_root and task.parent_id is not None:
            task = current.tx.tasks.get(task.parent_id)
        for each in _family(current.tx, task):
            kill_task(current, each.id)


def generic_task(tx: Transaction, task_id: str) -> Task:
    """Raises NotFound for a task of another kind."""
    task = tx.tasks.get(task_id)
    if task.type is not TaskType.GENERIC:
        raise NotFound(f"generic task not found: {task_id} (it is a {task.type.lower()}).")
    return task


def _living(tx: Transaction, task_id: str, deed: str) -> Task:
    task = generic_task(tx, task_id)
    if task.end_time is not None:
        raise IllegalTransition(f"Task {task_id} has ended; it cannot {deed}. Fork it to run it again.")
    return task


def _family(tx: Transaction, task: Task) -> Iterator[Task]:
    """Parents before their children. An id is drawn anew for each task, so no task is its own descendant."""
    yield task
    for child in tx.tasks.children(task.id):
        yield from _family(tx, child)


def _pause(current: Flow, task: Task) -> None:
    current.tx.tasks.save(replace(task, paused_at=current.now))
    current.publish(task_topic(task.id))
    allocation = live_allocation(current, task.id)
    if allocation is None or ask_to_leave(current, allocation):
        current.tell(task.id, "Paused.")
    else:
        current.tell(task.id, "Asked to leave its slots: it is paused.")


def _resume(current: Flow, task: Task) -> None:
    resumed = replace(task, paused_at=None)
    current.tx.tasks.save(resumed)
    current.publish(task_topic(task.id))
    # One that is still leaving is queued when it has left.
    if live_allocation(current, task.id) is None:
        _queue(current, resumed)
    current.tell(task.id, "Resumed.")


def _queue(current: Flow, task: Task) -> None:
    queue_task(
        current,
        task,
        run_id=len(current.tx.allocations.of_task(task.id)) + 1,
        slots=config_of(task).resources.slots,
        resource_pool=current.tx.jobs.get(task.job_id).resource_pool,
        is_preemptible=False,
        single_node=True,
    )


def _ended(current: Flow, ending: Ending) -> None:
    """Paused, it waits; asked to leave for another reason (its node is taken out of service), it is queued again."""
    task, allocation = ending.task, ending.allocation
    was_asked = allocation.preempt_requested_at is not None and allocation.kill_requested_at is None
    if not was_asked or task.end_time is not None:
        end_with_processes(current, ending)
    elif task.paused_at is not None:
        current.tell(task.id, "Paused.")
    else:
        _queue(current, task)


GENERIC = TaskKind(type=TaskType.GENERIC, gang=command_gang, ended=_ended)
