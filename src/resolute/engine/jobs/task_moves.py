"""Moves of tasks inside one open transaction, whatever their kind: made, queued, drained, ended."""

from dataclasses import replace

from resolute.domain.allocation import Allocation, AllocationState
from resolute.domain.job import DEFAULT_POOL
from resolute.domain.task import Task
from resolute.engine.jobs.allocation_moves import kill_allocation, live_allocation
from resolute.engine.unit_of_work import Flow


def task_topic(task_id: str) -> str:
    """Who waits for a change of a task, of any of its allocations too, listens to this."""
    return f"task/{task_id}"


def add_task(flow: Flow, task: Task) -> Task:
    flow.tx.tasks.add(task)
    flow.publish(task_topic(task.id))
    return task


def queue_task(
    flow: Flow,
    task: Task,
    *,
    run_id: int = 1,
    slots: int = 0,
    resource_pool: str = DEFAULT_POOL,
    single_node: bool = False,
    is_preemptible: bool = True,
    excluded_nodes: tuple[str, ...] = (),
    trial_id: int | None = None,
) -> Allocation:
    """Ask for slots, for run number `run_id` of the task."""
    allocation = Allocation(
        id=f"{task.id}.{run_id}",
        task_id=task.id,
        job_id=task.job_id,
        state=AllocationState.QUEUED,
        changed_at=flow.now,
        created_at=flow.now,
        slots_needed=slots,
        resource_pool=resource_pool,
        trial_id=trial_id,
        run_id=run_id,
        single_node=single_node,
        is_preemptible=is_preemptible,
        excluded_nodes=excluded_nodes,
    )
    flow.add(allocation)
    flow.publish("engine", "queue", task_topic(task.id))
    return allocation


def drain_task(flow: Flow, task_id: str) -> None:
    """It takes no new work from now on; it ends when what it has is done."""
    flow.tx.tasks.save(replace(flow.tx.tasks.get(task_id), draining_since=flow.now))
    flow.publish(task_topic(task_id))


def kill_task(flow: Flow, task_id: str) -> None:
    """Its processes are killed, and it ends with them; at once where there are none."""
    allocation = live_allocation(flow, task_id)
    if allocation is None or kill_allocation(flow, allocation):
        end_task(flow, task_id)


def end_task(flow: Flow, task_id: str) -> None:
    """It is over. Repeating it changes nothing."""
    task = flow.tx.tasks.get(task_id)
    if task.end_time is None:
        flow.tx.tasks.save(replace(task, end_time=flow.now))
        flow.publish(task_topic(task_id))
