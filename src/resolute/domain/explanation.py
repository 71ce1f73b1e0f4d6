"""What the scheduler's pass says of the claims that it leaves waiting. Pure; nothing here decides.

A queue may be long and its claims alike: each value is made once and shared by all that wait for the same.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from functools import cached_property

from resolute.domain.allocation import NodeShare
from resolute.domain.capacity import ZERO_SLOT_LIMIT, Capacity, NodeCapacity
from resolute.domain.claim import Claim
from resolute.domain.node import Node
from resolute.domain.waiting import MOST_NAMED, Wait, WaitingFor

Shape = tuple[int, bool, tuple[str, ...]]
"""Claims of one shape fit the same nodes."""
WITH_ENGINE = Wait(reason=WaitingFor.ENGINE)


class Explanation:
    def __init__(self, capacity: Capacity, nodes: Sequence[Node], held: Sequence[Claim], *, can_grow: bool) -> None:
        self._capacity = capacity
        self._nodes = nodes
        self._can_grow = can_grow
        self._on_node: dict[str, list[tuple[Claim, int]]] = {}
        for claim in held:
            self.took(claim, claim.shares)
        self._off = out_of_service(nodes)
        self._known: dict[object, Wait] = {}

    def took(self, claim: Claim, shares: Iterable[NodeShare]) -> None:
        """It has these slots from now on, and may be what another one waits for."""
        for share in shares:
            if share.slot_ids:
                self._on_node.setdefault(share.node_id, []).append((claim, len(share.slot_ids)))

    def never_fits(self, claim: Claim) -> Wait:
        key = (WaitingFor.NOTHING, *shape(claim))
        if key not in self._known:
            self._known[key] = self._of_impossible(claim)
        return self._known[key]

    def held(self, claim: Claim, nodes: Sequence[NodeCapacity] = ()) -> Wait:
        """`nodes`: where it is nearest to starting; without: anywhere in the pool."""
        if nodes:
            return self._held_on(claim, nodes)
        key = (WaitingFor.SLOTS, *shape(claim))
        if key not in self._known:
            allowed = [n for n in self._capacity.nodes if n.id not in claim.excluded_nodes]
            self._known[key] = self._held_on(claim, allowed)
        return self._known[key]

    def leaving(self, claim: Claim, nodes: Sequence[NodeCapacity], asked: Container[str]) -> Wait:
        """`asked`: allocations that were asked to leave in this pass; others were before."""
        slots = self._slots_by_job(nodes, lambda holder: holder.is_leaving or holder.allocation_id in asked)
        return _waits_for(slots, Wait(reason=WaitingFor.LEAVING, slots=claim.slots))

    def behind(self, first: Claim) -> Wait:
        key = (WaitingFor.TURN, first.allocation_id)
        if key not in self._known:
            self._known[key] = Wait(reason=WaitingFor.TURN, slots=first.slots, jobs=(first.job_id,))
        return self._known[key]

    def quota(self, claim: Claim, used: int) -> Wait:
        key = (WaitingFor.QUOTA, claim.max_slots, claim.slots, used)
        if key not in self._known:
            self._known[key] = over_quota(claim, used)
        return self._known[key]

    def share(self, claim: Claim, offered: int, used: int) -> Wait:
        key = (WaitingFor.SHARE, claim.slots, offered, used)
        if key not in self._known:
            self._known[key] = Wait(reason=WaitingFor.SHARE, slots=claim.slots, limit=offered, used=used)
        return self._known[key]

    def without_slots(self, claim: Claim) -> Wait:
        if any(node.id not in claim.excluded_nodes for node in self._capacity.nodes):
            return Wait(reason=WaitingFor.CROWD, limit=ZERO_SLOT_LIMIT)
        return self.never_fits(claim)

    def _of_impossible(self, claim: Claim) -> Wait:
        if self._off and self._whole.could_ever_fit(claim):
            return Wait(reason=WaitingFor.ENABLING, slots=claim.slots, nodes=self._off)
        reason = WaitingFor.GROWTH if self._can_grow else WaitingFor.NOTHING
        return Wait(reason=reason, slots=claim.slots, nodes=_sizes(self._nodes, claim.excluded_nodes))

    def _held_on(self, claim: Claim, nodes: Sequence[NodeCapacity]) -> Wait:
        slots = self._slots_by_job(nodes, lambda holder: True)
        free = sum(len(node.free) for node in nodes)
        return _waits_for(slots, Wait(reason=WaitingFor.SLOTS, slots=claim.slots, free=free))

    def _slots_by_job(self, nodes: Sequence[NodeCapacity], counts: Callable[[Claim], bool]) -> Counter[str]:
        slots = Counter[str]()
        for node in nodes:
            for holder, count in self._on_node.get(node.id, ()):
                if counts(holder):
                    slots[holder.job_id] += count
        return slots

    @cached_property
    def _whole(self) -> Capacity:
        """The pool with nobody in it and everything in service."""
        return Capacity([_in_service(node) for node in self._nodes], (), "best")


def shape(claim: Claim) -> Shape:
    return claim.slots, claim.single_node, claim.excluded_nodes


def over_quota(claim: Claim, used: int) -> Wait:
    return Wait(reason=WaitingFor.QUOTA, slots=claim.slots, limit=claim.max_slots or 0, used=used)


def out_of_service(nodes: Iterable[Node]) -> tuple[str, ...]:
    """Nodes and slots that get nothing new, as a person would write them."""
    off = []
    for node in nodes:
        disabled = [slot.id for slot in node.slots if not slot.is_enabled]
        if not node.is_enabled or node.is_draining:
            off.append(f"node {node.id}")
        elif disabled:
            off.append(f"{len(disabled)} of {len(node.slots)} slots of node {node.id}")
    return tuple(off)


def _in_service(node: Node) -> Node:
    slots = tuple(replace(slot, is_enabled=True) for slot in node.slots)
    return replace(node, slots=slots, is_enabled=True, is_draining=False)


def _sizes(nodes: Iterable[Node], excluded: tuple[str, ...]) -> tuple[str, ...]:
    """`2 nodes of 8 slots`, the largest first; with those left out that a log policy excludes."""
    allowed = Counter(len(node.slots) for node in nodes if node.id not in excluded)
    sizes = [
        f"{count} node{'s' if count > 1 else ''} of {size} slot{'' if size == 1 else 's'}"
        for size, count in sorted(allowed.items(), reverse=True)
    ]
    left_out = [node.id for node in nodes if node.id in excluded]
    return (*sizes, *(f"{', '.join(left_out)} excluded" for _ in left_out[:1]))


def _waits_for(slots: Counter[str], wait: Wait) -> Wait:
    jobs = sorted(slots, key=lambda job: (-slots[job], job))
    return replace(wait, jobs=tuple(jobs[:MOST_NAMED]), more=max(0, len(jobs) - MOST_NAMED))
