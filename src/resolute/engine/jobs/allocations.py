"""What a task's processes ask about their allocation: should we leave, we are ready, what do the others say."""

import threading
from dataclasses import dataclass, field, replace
from typing import Any

from resolute.domain.allocation import Allocation
from resolute.domain.errors import InvalidInput, Unavailable
from resolute.domain.listening import check_address
from resolute.engine.jobs.allocation_moves import ask_to_leave
from resolute.engine.jobs.kinds import kind_of
from resolute.engine.platform import Platform
from resolute.engine.unit_of_work import flow

_LONGEST_ADDRESS = 260


def should_preempt(platform: Platform, allocation_id: str) -> bool:
    """Asking is remembered: a gang that never asks is told by signal instead."""
    with platform.store.read() as tx:
        allocation = tx.allocations.get(allocation_id)
    platform.listeners[allocation_id] = platform.clock()
    return allocation.preempt_requested_at is not None


def ack_preemption(platform: Platform, allocation_id: str) -> None:
    """The trial has heard and will checkpoint and exit with code 0."""
    _change(platform, allocation_id, preempt_acked=True)


def pending_preemption(platform: Platform, allocation_id: str) -> None:
    """The engine below (Slurm, say) is about to take the slots away."""
    with flow(platform) as current:
        ask_to_leave(current, current.tx.allocations.get(allocation_id))


def mark_ready(platform: Platform, allocation_id: str) -> None:
    _change(platform, allocation_id, is_ready=True)


def set_proxy_address(platform: Platform, allocation_id: str, address: str) -> None:
    """Where a task listens. Where requests are sent there, it must be where the task was started."""
    with platform.store.read() as tx:
        allocation = tx.allocations.get(allocation_id)
        listens = kind_of(tx.tasks.get(allocation.task_id)).listens
    if listens:
        check_address(
            address,
            node_addresses=_addresses(platform, allocation),
            taken_ports=platform.config.own_ports,
        )
    elif len(address) > _LONGEST_ADDRESS or not address.isprintable():
        raise InvalidInput(f"proxyAddress: {address[:100]!r} is not an address. Send a host, or host:port.")
    _change(platform, allocation_id, proxy_address=address)


def _addresses(platform: Platform, allocation: Allocation) -> list[str]:
    """Of its nodes: as the engine outside said that placed it, and as the runner lists them."""
    told = [share.address for share in allocation.shares if share.address]
    mine = {share.node_id for share in allocation.shares}
    return [*told, *(address for node in platform.runner.nodes() if node.id in mine for address in node.addresses)]


def _change(platform: Platform, allocation_id: str, **fields: Any) -> None:
    with flow(platform) as current:
        allocation = current.tx.allocations.get(allocation_id)
        current.change(allocation, replace(allocation, **fields))


@dataclass(slots=True)
class Gathering:
    """One round of one allocation."""

    wanted: int
    data: dict[str, Any] = field(default_factory=dict)
    done: threading.Event = field(default_factory=threading.Event)


class AllGather:
    """Peers of one allocation exchange a value each; everyone gets all of them. Lives in memory: a master that
    restarts meanwhile lets the peers ask again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rounds: dict[str, Gathering] = {}

    def join(self, allocation_id: str, request_uuid: str, peers: int, data: Any) -> Gathering:
        """Add a peer's value to the round that is open; a full round is over, and the next peer opens another.
        A peer that repeats its request (same uuid) changes nothing while its round is open."""
        if peers < 1:
            raise InvalidInput(f"numPeers: {peers} must be at least 1.")
        with self._lock:
            gathering = self._rounds.setdefault(allocation_id, Gathering(wanted=peers))
            gathering.data[request_uuid] = data
            if len(gathering.data) >= gathering.wanted:
                gathering.done.set()
                del self._rounds[allocation_id]
            return gathering


def gathered(gathering: Gathering) -> list[Any]:
    """All values of a round. Raises Unavailable while peers are missing."""
    if not gathering.done.is_set():
        raise Unavailable(f"{len(gathering.data)} of {gathering.wanted} peers have answered so far; ask again.")
    return list(gathering.data.values())
