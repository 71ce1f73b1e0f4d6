"""Tasks and allocations as messages."""

from collections.abc import Mapping

from resolute.domain.allocation import Allocation
from resolute.domain.node import Node
from resolute.domain.task import Task
from resolute.server.shapes.cluster import container_id, device_message
from resolute.server.shapes.states import task_state
from resolute.spec.wire import tasks as wire
from resolute.spec.wire.enums import TaskType


def task_message(task: Task, allocations: list[Allocation]) -> wire.Task:
    """Newest allocation first: clients wait for the first one to be ready."""
    return wire.Task(
        task_id=task.id,
        task_type=_task_type(task),
        allocations=[allocation_message(each) for each in reversed(allocations)],
        start_time=task.start_time,
        end_time=task.end_time,
    )


def _task_type(task: Task) -> TaskType:
    """Kinds that clients of this API have no word for are generic to them."""
    word = f"TASK_TYPE_{task.type}"
    return TaskType(word) if word in set(TaskType) else TaskType.GENERIC


def allocation_message(allocation: Allocation) -> wire.Allocation:
    return wire.Allocation(
        task_id=allocation.task_id,
        allocation_id=allocation.id,
        state=task_state(allocation.state),
        is_ready=allocation.is_ready,
        start_time=allocation.start_time,
        end_time=allocation.end_time,
        slots=allocation.slots_needed,
        exit_reason=allocation.exit_reason or None,
        status_code=allocation.exit_code,
    )


def allocation_summary(
    allocation: Allocation, *, name: str, priority: int | None, scheduler: str, nodes: Mapping[str, Node]
) -> wire.AllocationSummary:
    return wire.AllocationSummary(
        task_id=allocation.task_id,
        allocation_id=allocation.id,
        name=name,
        registered_time=allocation.created_at,
        resource_pool=allocation.resource_pool,
        slots_needed=allocation.slots_needed,
        resources=[
            wire.ResourcesSummary(
                resources_id=f"{allocation.id}.{rank}",
                resources_type="process",
                allocation_id=allocation.id,
                container_id=container_id(allocation, share.node_id),
                agent_devices={
                    share.node_id: wire.ResourcesSummaryDevices(
                        devices=[
                            device_message(slot)
                            for slot in (nodes[share.node_id].slots if share.node_id in nodes else ())
                            if slot.id in share.slot_ids
                        ]
                    )
                },
            )
            for rank, share in enumerate(allocation.shares)
        ],
        scheduler_type=scheduler,
        priority=priority,
    )
