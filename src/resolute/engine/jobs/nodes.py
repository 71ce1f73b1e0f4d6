"""What the nodes of an allocation tell the master, and what they ask: their model definition, where the others are, how
far each has come, and its output.

The supervisor of a node part calls with its allocation's token and repeats every call until it is answered, so each of
these may be called any number of times. What the harness asks about the other nodes is read from the same rows.
"""

from collections.abc import Sequence
from pathlib import Path

from resolute.domain.allocation import Allocation, AllocationState
from resolute.domain.errors import Fenced, InvalidInput, NotFound, Unavailable
from resolute.domain.gang import GangNode, Meeting, Phase, all_nodes, meeting_of, rank_of, resources_id
from resolute.engine.jobs.kinds import kind_of
from resolute.engine.jobs.task_moves import task_topic
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.unit_of_work import Flow, flow

_LONGEST_REASON = 4000
_RUNS = frozenset({AllocationState.RUNNING, AllocationState.TERMINATING})


def model_definition(platform: Platform, allocation_id: str) -> bytes:
    """The archive that every node of it unpacks."""
    with platform.store.read() as tx:
        task = tx.tasks.get(tx.allocations.get(allocation_id).task_id)
        if task.context_id is None:
            raise NotFound(f"Allocation {allocation_id} has no model definition: its task came without files.")
        return tx.contexts.get(task.context_id)


def model_path(platform: Platform, allocation_id: str) -> Path:
    """The folder or file with the trained model that its task works with."""
    with platform.store.read() as tx:
        task = tx.tasks.get(tx.allocations.get(allocation_id).task_id)
    path = kind_of(task).model_path(platform, task)
    if path is None:
        raise NotFound(f"Allocation {allocation_id} has no model to fetch: its task names none, or one by its path.")
    if not path.exists():
        raise Unavailable(f"The model of allocation {allocation_id} is not on the master's machine yet; ask again.")
    return path


def join(
    platform: Platform,
    allocation_id: str,
    resources: str,
    *,
    node_id: str,
    address: str,
    slot_ids: tuple[int, ...],
    ports: tuple[int, ...],
    count: int,
) -> Meeting | None:
    """One node says how it is reached. None: not all `count` of them have."""
    with flow(platform) as current:
        allocation = _live_allocation(current.tx, allocation_id)
        _check_count(allocation, count)
        nodes = current.tx.gang_nodes.of_allocation(allocation_id)
        before = _node_of(nodes, allocation, rank_of(resources, allocation_id))
        after = before.joined(node_id=node_id, address=address, slot_ids=slot_ids, ports=ports)
        if after != before:
            _save(current, allocation, after)
        return meeting_of([after, *(node for node in nodes if node.rank != after.rank)], count)


def report_phase(
    platform: Platform,
    allocation_id: str,
    resources: str,
    phase: Phase,
    *,
    exit_code: int | None = None,
    reason: str = "",
) -> None:
    with flow(platform) as current:
        allocation = _live_allocation(current.tx, allocation_id)
        rank = rank_of(resources, allocation_id)
        before = _node_of(current.tx.gang_nodes.of_allocation(allocation_id), allocation, rank)
        after = before.in_phase(phase, now=current.now, exit_code=exit_code, reason=reason[:_LONGEST_REASON])
        if after != before:
            _save(current, allocation, after)


def take_output(platform: Platform, allocation_id: str, resources: str, sequence: int, records: bytes) -> None:
    """Batch number `sequence`, from 1, of whole records of `domain.log`.

    The number is written down first, with where the log ended: whether the batch reached the log, the log itself says.
    """
    if not records.endswith(b"\n"):
        raise InvalidInput("The output does not end with a whole record. Send records as the supervisor writes them.")
    rank = rank_of(resources, allocation_id)
    with platform.store.read() as tx:
        task_id = tx.allocations.get(allocation_id).task_id
    log_size = platform.logs.size(task_id)
    with platform.store.write() as tx:
        allocation = _live_allocation(tx, allocation_id)
        before = _node_of(tx.gang_nodes.of_allocation(allocation_id), allocation, rank)
        after = before.with_output(sequence, log_size=log_size)
        if after != before:
            tx.gang_nodes.save(after)
    if sequence == after.log_sequence:
        name = f"{resources_id(allocation_id, rank)} {sequence}"
        platform.logs.append_once(task_id, name, records, start=after.log_start)


def meeting(platform: Platform, allocation_id: str, rank: int) -> Meeting:
    """What the node of that rank learns of all of them. Raises Unavailable while some have not joined."""
    with platform.store.read() as tx:
        allocation = tx.allocations.get(allocation_id)
        nodes = tx.gang_nodes.of_allocation(allocation_id)
    _node_of(nodes, allocation, rank)
    if len(allocation.shares) == 1:
        return _alone(platform, allocation)
    met = meeting_of(nodes, len(allocation.shares))
    if met is None:
        joined, wanted = sum(bool(node.address) for node in nodes), len(allocation.shares) or "an unknown number of"
        raise Unavailable(f"{joined} of {wanted} nodes of allocation {allocation_id} have joined so far; ask again.")
    return met


def nodes_of(platform: Platform, allocations: Sequence[Allocation]) -> dict[str, tuple[GangNode, ...]]:
    """By allocation id, in rank order. Of gangs whose nodes report nothing, the runner says how far they are."""
    with platform.store.read() as tx:
        heard = tx.gang_nodes.of_allocations([allocation.id for allocation in allocations])
    asked = {a.id: a.handle for a in allocations if a.handle and a.state in _RUNS and not heard[a.id]}
    statuses = platform.runner.poll(list(asked.values())) if asked else {}
    nodes = {}
    for each in allocations:
        status = statuses.get(asked.get(each.id, ""))
        nodes[each.id] = all_nodes(each, heard[each.id], status.phase if status else Phase.PENDING)
    return nodes


def _alone(platform: Platform, allocation: Allocation) -> Meeting:
    """One node meets nobody, and its supervisor does not join."""
    share = allocation.shares[0]
    addresses = {node.id: node.addresses[0] for node in platform.runner.nodes() if node.addresses}
    address = share.address or addresses.get(share.node_id, "127.0.0.1")
    return Meeting(addresses=(address,), slots=(len(share.slot_ids),), ports=())


def _live_allocation(tx: Transaction, allocation_id: str) -> Allocation:
    allocation = tx.allocations.get(allocation_id)
    if allocation.state is AllocationState.TERMINATED:
        raise Fenced(f"Allocation {allocation_id} has ended. Stop this process: nothing that it sends is taken.")
    return allocation


def _check_count(allocation: Allocation, count: int) -> None:
    """Where an engine places, the master may not know yet how many there are."""
    known = len(allocation.shares)
    if known and count != known:
        raise InvalidInput(f"nodes: {count} is wrong; allocation {allocation.id} has {known}.")
    if not 1 <= count <= _most_nodes(allocation):
        raise InvalidInput(f"nodes: {count} is not between 1 and {_most_nodes(allocation)}.")


def _node_of(nodes: list[GangNode], allocation: Allocation, rank: int) -> GangNode:
    if rank >= _most_nodes(allocation):
        raise NotFound(
            f"resources not found: {resources_id(allocation.id, rank)}. Allocation {allocation.id} has "
            f"{_most_nodes(allocation)} at most, from {resources_id(allocation.id, 0)}."
        )
    known = next((node for node in nodes if node.rank == rank), None)
    node_id = allocation.shares[rank].node_id if rank < len(allocation.shares) else ""
    return known or GangNode(allocation_id=allocation.id, rank=rank, node_id=node_id)


def _most_nodes(allocation: Allocation) -> int:
    """A node holds a slot at least, but for a task without any."""
    return len(allocation.shares) or max(1, allocation.slots_needed)


def _save(current: Flow, allocation: Allocation, node: GangNode) -> None:
    current.tx.gang_nodes.save(node)
    current.publish(f"allocation/{allocation.id}", task_topic(allocation.task_id))
