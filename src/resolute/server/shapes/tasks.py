"""Tasks and allocations as messages."""

from collections.abc import Mapping, Sequence

from resolute.domain.allocation import Allocation
from resolute.domain.gang import GangNode, Phase, resources_id
from resolute.domain.node import Node
from resolute.domain.task import Task
from resolute.domain.task import TaskType as Kind
from resolute.engine.interactive.generic import state_of
from resolute.server.shapes.cluster import device_message
from resolute.server.shapes.states import task_state
from resolute.spec.wire import tasks as wire
from resolute.spec.wire.enums import FailureType, GenericTaskState, TaskType

Nodes = Mapping[str, Sequence[GangNode]]
"""Of each allocation, by its id."""


def task_message(task: Task, allocations: list[Allocation], nodes: Nodes, *, waiting: Mapping[str, str]) -> wire.Task:
    """Newest allocation first: clients wait for the first one to be ready. `waiting`: sentences by allocation id."""
    return wire.Task(
        task_id=task.id,
        task_type=_task_type(task),
        allocations=[
            allocation_message(each, nodes[each.id], waiting=waiting.get(each.id, "")) for each in reversed(allocations)
        ],
        start_time=task.start_time,
        end_time=task.end_time,
        parent_id=task.parent_id,
        forked_from=task.forked_from,
        no_pause=None if task.is_pausable else True,
        task_state=_generic_state(task, allocations),
    )


def _generic_state(task: Task, allocations: list[Allocation]) -> GenericTaskState | None:
    if task.type is not Kind.GENERIC:
        return None
    return GenericTaskState(f"GENERIC_TASK_STATE_{state_of(task, allocations)}")


def _task_type(task: Task) -> TaskType:
    """Kinds that clients of this API have no word for are generic to them."""
    word = f"TASK_TYPE_{task.type}"
    return TaskType(word) if word in set(TaskType) else TaskType.GENERIC


def allocation_message(allocation: Allocation, nodes: Sequence[GangNode], *, waiting: str) -> wire.Allocation:
    return wire.Allocation(
        task_id=allocation.task_id,
        allocation_id=allocation.id,
        state=task_state(allocation.state, [node.phase for node in nodes]),
        is_ready=allocation.is_ready,
        start_time=allocation.start_time,
        end_time=allocation.end_time,
        slots=allocation.slots_needed,
        exit_reason=allocation.exit_reason or None,
        status_code=allocation.exit_code,
        nodes=[_node_message(node) for node in nodes],
        waiting_reason=waiting,
    )


def _node_message(node: GangNode) -> wire.AllocationNode:
    return wire.AllocationNode(
        rank=node.rank,
        node_id=node.node_id,
        address=node.address,
        slot_ids=list(node.slot_ids),
        phase=node.phase,
        phase_since=node.phase_since,
        exit_code=node.exit_code,
        reason=node.reason,
    )


def allocation_summary(
    allocation: Allocation,
    nodes: Sequence[GangNode],
    *,
    name: str,
    priority: int | None,
    scheduler: str,
    cluster: Mapping[str, Node],
    waiting: str,
) -> wire.AllocationSummary:
    """`cluster`: its nodes by their ids."""
    return wire.AllocationSummary(
        task_id=allocation.task_id,
        allocation_id=allocation.id,
        name=name,
        registered_time=allocation.created_at,
        resource_pool=allocation.resource_pool,
        slots_needed=allocation.slots_needed,
        resources=[_resources(allocation, node, cluster) for node in nodes],
        scheduler_type=scheduler,
        priority=priority,
        waiting_reason=waiting,
    )


def _resources(allocation: Allocation, node: GangNode, cluster: Mapping[str, Node]) -> wire.ResourcesSummary:
    slots = cluster[node.node_id].slots if node.node_id in cluster else ()
    devices = [device_message(slot) for slot in slots if slot.id in node.slot_ids]
    return wire.ResourcesSummary(
        resources_id=resources_id(allocation.id, node.rank),
        resources_type="process",
        allocation_id=allocation.id,
        container_id=resources_id(allocation.id, node.rank),
        agent_devices={node.node_id: wire.ResourcesSummaryDevices(devices=devices)} if node.node_id else {},
        started=_started(node, allocation.handle or "") if node.phase in (Phase.RUNNING, Phase.ENDED) else None,
        exited=_exited(node) if node.phase is Phase.ENDED else None,
    )


def _started(node: GangNode, handle: str) -> wire.ResourcesStarted:
    ports = node.ports or (0,)
    addresses = [
        wire.Address(container_ip=node.address, container_port=port, host_ip=node.address, host_port=port)
        for port in ports
    ]
    return wire.ResourcesStarted(addresses=addresses if node.address else [], native_resources_id=handle)


def _exited(node: GangNode) -> wire.ResourcesStopped:
    if not node.exit_code and not node.reason:
        return wire.ResourcesStopped()
    kind = FailureType.RESOURCES_FAILED if node.exit_code else FailureType.TASK_ERROR
    return wire.ResourcesStopped(
        failure=wire.ResourcesFailure(failure_type=kind, err_msg=node.reason, exit_code=node.exit_code)
    )
