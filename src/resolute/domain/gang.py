"""The nodes of one allocation: what each of them is told about itself, and what it reports back. Pure."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from resolute.domain.allocation import Allocation, AllocationState, NodeShare
from resolute.domain.errors import InvalidInput, NotFound

CLUSTER_INFO = "info/cluster.json"
RENDEZVOUS_INFO = "info/rendezvous.json"
PORT_NAMES = ("C10D_PORT", "DTRAIN_SSH_PORT", "INTER_TRAIN_PROCESS_COMM_PORT_1", "INTER_TRAIN_PROCESS_COMM_PORT_2")
"""Where the ranks of a gang meet: free ports of the node of rank 0, under the names that the harness reads."""


class Phase(StrEnum):
    """How far a gang has come, in the words that clients know for the state of an allocation."""

    PENDING = "PENDING"
    """The engine has it and has not found room for it."""
    PULLING = "PULLING"
    """An image is fetched, or an environment built."""
    STARTING = "STARTING"
    RUNNING = "RUNNING"
    ENDED = "ENDED"


_ORDER = tuple(Phase)
_LONGEST_ADDRESS = 260
_MOST_PORTS = 16
_MOST_SLOTS = 4096
"""Of one node; cores count where there are no devices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GangNode:
    """One node of an allocation, as its supervisor reports it."""

    allocation_id: str
    rank: int
    node_id: str = ""
    address: str = ""
    """Empty: it has not joined yet."""
    slot_ids: tuple[int, ...] = ()
    ports: tuple[int, ...] = ()
    """In the order of PORT_NAMES; those of rank 0 are everybody's."""
    phase: Phase = Phase.PENDING
    phase_since: datetime | None = None
    exit_code: int | None = None
    reason: str = ""
    log_sequence: int = 0
    """Number of the newest batch of log lines that was taken from it, or is being taken; the next has the next one."""
    log_start: int = 0
    """Size of the task's log when that batch was taken up: it stands there or later, or is not written yet."""

    def joined(self, *, node_id: str, address: str, slot_ids: tuple[int, ...], ports: tuple[int, ...]) -> "GangNode":
        """It is reached there. Raises InvalidInput for what nobody could reach."""
        if not address or len(address) > _LONGEST_ADDRESS or not address.isprintable() or " " in address:
            raise InvalidInput(f"address: {address[:100]!r} is none. Send the one under which other nodes reach this.")
        if len(ports) > _MOST_PORTS or not all(0 < port < 65536 for port in ports):
            raise InvalidInput(f"ports: {list(ports)[:10]} are not up to {_MOST_PORTS} ports between 1 and 65535.")
        if len(slot_ids) > _MOST_SLOTS or len(node_id) > _LONGEST_ADDRESS:
            raise InvalidInput(f"slotIds, nodeId: no node has more than {_MOST_SLOTS} slots, or a name that long.")
        return replace(self, node_id=node_id, address=address, slot_ids=slot_ids, ports=ports)

    def in_phase(self, phase: Phase, *, now: datetime, exit_code: int | None = None, reason: str = "") -> "GangNode":
        """Itself when it is as far already: a report may come twice, or late."""
        if self.phase_since is not None and _ORDER.index(phase) <= _ORDER.index(self.phase):
            return self
        return replace(self, phase=phase, phase_since=now, exit_code=exit_code, reason=reason)

    def with_output(self, sequence: int, *, log_size: int) -> "GangNode":
        """One batch further. Itself when that one was taken up before. Raises InvalidInput when one is missing."""
        if sequence <= self.log_sequence:
            return self
        if sequence != self.log_sequence + 1:
            raise InvalidInput(
                f"Batch {sequence} of the output of {resources_id(self.allocation_id, self.rank)} came after batch "
                f"{self.log_sequence}. Send batch {self.log_sequence + 1} first."
            )
        return replace(self, log_sequence=sequence, log_start=log_size)


def resources_id(allocation_id: str, rank: int) -> str:
    """One node's part of an allocation."""
    return f"{allocation_id}.{rank}"


def rank_of(resources: str, allocation_id: str) -> int:
    """Inverse of `resources_id`; an allocation's own id means its first node. Raises NotFound."""
    own_id, _, rank = resources.rpartition(".") if resources != allocation_id else (allocation_id, "", "0")
    if own_id != allocation_id or not (rank.isascii() and rank.isdecimal()) or len(rank) > 9:
        raise NotFound(
            f"resources not found: {resources[:200]}. Those of allocation {allocation_id} are {allocation_id}.<rank>."
        )
    return int(rank)


def node_variables(allocation_id: str, rank: int, share: NodeShare) -> dict[str, str]:
    """What tells the processes of one node from those of the others."""
    own_id = resources_id(allocation_id, rank)
    return {
        "DET_AGENT_ID": share.node_id,
        "DET_SLOT_IDS": json.dumps(list(share.slot_ids)),
        "DET_RESOURCES_ID": own_id,
        "DET_CONTAINER_ID": own_id,
        "RESOLUTE_NODE_RANK": str(rank),
    }


def cluster_info(shared: str, share: NodeShare) -> str:
    """The harness's file about the cluster, with what differs from node to node."""
    return json.dumps({**json.loads(shared), "agent_id": share.node_id, "slot_ids": list(share.slot_ids)})


@dataclass(frozen=True, slots=True)
class Meeting:
    """Who is there, in rank order, once all have joined."""

    addresses: tuple[str, ...]
    slots: tuple[int, ...]
    ports: tuple[int, ...]
    """Empty for a task of one node that asked for none."""


def meeting_of(nodes: Sequence[GangNode], count: int) -> Meeting | None:
    """None while somebody is missing."""
    by_rank = {node.rank: node for node in nodes if node.address}
    if set(by_rank) < set(range(count)) or not count:
        return None
    present = [by_rank[rank] for rank in range(count)]
    return Meeting(
        addresses=tuple(node.address for node in present),
        slots=tuple(len(node.slot_ids) for node in present),
        ports=present[0].ports,
    )


def meeting_variables(meeting: Meeting, rank: int) -> dict[str, str]:
    """For the harness and our launcher; with several nodes also what torchrun takes for its options."""
    variables = {name: str(port) for name, port in zip(PORT_NAMES, meeting.ports, strict=False)}
    if len(meeting.addresses) == 1:
        return variables
    facts = {"addresses": meeting.addresses, "rank": rank, "slots": meeting.slots}
    return {
        **variables,
        "RESOLUTE_RENDEZVOUS": json.dumps(facts),
        "PET_NNODES": str(len(meeting.addresses)),
        "PET_NPROC_PER_NODE": str(max(1, meeting.slots[rank])),
        "PET_NODE_RANK": str(rank),
        "PET_MASTER_ADDR": meeting.addresses[0],
        "PET_MASTER_PORT": str(meeting.ports[0]),
    }


def rendezvous_info(meeting: Meeting, rank: int) -> str:
    """The harness's file about the other nodes."""
    return json.dumps(
        {
            "container_addrs": meeting.addresses,
            "container_rank": rank,
            "container_slot_counts": meeting.slots,
        }
    )


def all_nodes(allocation: Allocation, heard: Sequence[GangNode], phase: Phase) -> tuple[GangNode, ...]:
    """In rank order, also those that never said a word. `phase`: of the whole gang, where nobody knows better."""
    by_rank = {node.rank: node for node in heard}
    count = max(len(allocation.shares), max(by_rank, default=-1) + 1)
    nodes = (by_rank.get(rank) or _quiet(allocation, rank, Phase.PENDING if heard else phase) for rank in range(count))
    if allocation.state is not AllocationState.TERMINATED:
        return tuple(nodes)
    # The last word of a node may have come too late to be taken.
    return tuple(replace(node, phase=Phase.ENDED) for node in nodes)


def _quiet(allocation: Allocation, rank: int, phase: Phase) -> GangNode:
    share = allocation.shares[rank] if rank < len(allocation.shares) else NodeShare("", ())
    return GangNode(
        allocation_id=allocation.id,
        rank=rank,
        node_id=share.node_id,
        address=share.address,
        slot_ids=share.slot_ids,
        phase=phase,
    )


def phase_of(phases: Sequence[Phase]) -> Phase:
    """Of the whole: a gang is as far as the slowest of its nodes."""
    return min(phases, key=_ORDER.index, default=Phase.PENDING)
