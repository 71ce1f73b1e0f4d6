"""Moves of allocations inside one open transaction. Nothing here calls a runner: it writes down what is wanted
(`preempt_requested_at`, `kill_requested_at`), and the passes act on it.
"""

from dataclasses import replace

from resolute.domain.allocation import Allocation, AllocationState
from resolute.engine.unit_of_work import Flow


def live_allocation(flow: Flow, task_id: str) -> Allocation | None:
    """The one of a task that is not over."""
    allocations = flow.tx.allocations.of_task(task_id)
    if allocations and allocations[-1].state is not AllocationState.TERMINATED:
        return allocations[-1]
    return None


def ask_to_leave(flow: Flow, allocation: Allocation) -> bool:
    """Ask the task to checkpoint and go. True when nothing was running, so that it is gone already."""
    if allocation.state is AllocationState.QUEUED:
        _withdraw(flow, allocation)
        return True
    if allocation.preempt_requested_at is None:
        flow.change(allocation, replace(allocation, preempt_requested_at=flow.now))
        flow.publish("engine")
    return False


def kill_allocation(flow: Flow, allocation: Allocation) -> bool:
    """Have the processes killed. True when nothing was running, so that it is gone already."""
    if allocation.state is AllocationState.QUEUED:
        _withdraw(flow, allocation)
        return True
    if allocation.kill_requested_at is None:
        flow.change(allocation, replace(allocation, kill_requested_at=flow.now))
        flow.publish("engine")
    return False


def _withdraw(flow: Flow, allocation: Allocation) -> None:
    ended = replace(
        allocation.moved_to(AllocationState.TERMINATED, now=flow.now), exit_reason="withdrawn from the queue"
    )
    flow.move(allocation, ended)
