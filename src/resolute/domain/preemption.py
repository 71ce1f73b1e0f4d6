"""Which running claims to ask to leave so that a more important one can start. Pure.

Highest priority numbers go first and, among equals, the newest. Nobody is asked unless that lets the waiting claim
start, and nobody whose slots are not needed for it.
"""

from collections.abc import Sequence
from heapq import heapify, heappop, heappush

from resolute.domain.capacity import Capacity, Fit, NodeCapacity
from resolute.domain.claim import Claim

_FREE = -1
"""Rank of "nobody has to leave": the slots are free or already coming."""
_Entry = tuple[int, int, int]
"""Rank of the most important victim needed on a node, the node's index, and its version when that was worked out."""


class Preemption:
    def __init__(self, capacity: Capacity, held: Sequence[Claim]) -> None:
        self._capacity = capacity
        self._victims = _in_order_of_leaving(held)
        self._is_gone = [False] * len(self._victims)
        self._on_node: list[list[tuple[int, int]]] = [[] for _ in capacity.nodes]
        for rank, victim in enumerate(self._victims):
            for share in victim.shares:
                slots = capacity.usable_slots(share)
                if slots:
                    self._on_node[capacity.by_id[share.node_id].index].append((rank, slots))
        self._heaps: dict[tuple[int, bool], list[_Entry]] = {}
        self.preempted: dict[str, None] = {}
        """Allocation ids, in the order in which they were asked."""

    def make_room(self, claim: Claim) -> Fit | None:
        """Ask victims to leave and set their slots aside for `claim`. None: it cannot be helped; nothing changed."""
        fit = self._plan(claim)
        if fit is None:
            return None
        for rank in sorted({rank for node, count in fit for rank in self._needed(node, count)}):
            self._send_away(rank)
        self._capacity.set_aside(fit)
        return fit

    def reclaimable(self, node: NodeCapacity, priority: int) -> int:
        """Slots that a claim of `priority` could have on `node`, now or by asking others to leave."""
        at_hand = len(node.free) + node.coming
        victims = self._on_node[node.index]
        return at_hand + sum(n for rank, n in victims if self._may_leave(rank, priority)) if victims else at_hand

    def _plan(self, claim: Claim) -> Fit | None:
        one = self._cheapest(claim, claim.slots, 1, is_whole=False)
        if one or claim.single_node:
            return [(one[0], claim.slots)] if one else None
        for size in self._capacity.whole_node_sizes(claim.slots):
            several = self._cheapest(claim, size, claim.slots // size, is_whole=True)
            if several:
                return [(node, size) for node in several]
        return None

    def _cheapest(self, claim: Claim, slots: int, wanted: int, *, is_whole: bool) -> list[NodeCapacity]:
        """The `wanted` nodes whose victims matter least, or none at all when there are too few."""
        heap = self._heap(slots, is_whole)
        popped: dict[int, _Entry] = {}
        chosen: list[NodeCapacity] = []
        while heap and len(chosen) < wanted:
            rank, index, version = heappop(heap)
            node = self._capacity.nodes[index]
            if index in popped:
                continue
            if version != node.version:
                self._push(heap, node, slots)
                continue
            popped[index] = (rank, index, version)
            if rank != _FREE and self._victims[rank].priority <= claim.priority:
                break  # every further node would cost a claim that is at least as important
            if node.id not in claim.excluded_nodes:
                chosen.append(node)
        for entry in popped.values():
            heappush(heap, entry)
        return chosen if len(chosen) == wanted else []

    def _heap(self, slots: int, is_whole: bool) -> list[_Entry]:
        heap = self._heaps.get((slots, is_whole))
        if heap is None:
            nodes = [n for n in self._capacity.nodes if (n.size == slots if is_whole else n.size >= slots)]
            entries = ((self._cost(n, slots), n) for n in nodes)
            heap = [(cost, n.index, n.version) for cost, n in entries if cost is not None]
            heapify(heap)
            self._heaps[slots, is_whole] = heap
        return heap

    def _push(self, heap: list[_Entry], node: NodeCapacity, slots: int) -> None:
        cost = self._cost(node, slots)
        if cost is not None:
            heappush(heap, (cost, node.index, node.version))

    def _cost(self, node: NodeCapacity, slots: int) -> int | None:
        if node.is_promised:
            return None
        have = len(node.free) + node.coming
        if have >= slots:
            return _FREE
        for rank, count in self._on_node[node.index]:
            if not self._is_gone[rank]:
                have += count
                if have >= slots:
                    return rank
        return None

    def _needed(self, node: NodeCapacity, slots: int) -> list[int]:
        """The victims that make room for `slots` on `node`: least important first, then without any it can spare."""
        have = len(node.free) + node.coming
        asked: list[tuple[int, int]] = []
        for rank, count in self._on_node[node.index]:
            if have >= slots:
                break
            if not self._is_gone[rank]:
                asked.append((rank, count))
                have += count
        spare = have - slots
        needed: list[int] = []
        for rank, count in reversed(asked):
            if count <= spare:
                spare -= count
            else:
                needed.append(rank)
        return needed

    def _may_leave(self, rank: int, priority: int) -> bool:
        return not self._is_gone[rank] and self._victims[rank].priority > priority

    def _send_away(self, rank: int) -> None:
        victim = self._victims[rank]
        self._is_gone[rank] = True
        self.preempted[victim.allocation_id] = None
        for share in victim.shares:
            slots = self._capacity.usable_slots(share)
            if slots:
                node = self._capacity.by_id[share.node_id]
                node.coming += slots
                node.version += 1
                self._reconsider(node)

    def _reconsider(self, node: NodeCapacity) -> None:
        """A node got better: where it had dropped out of a heap it must come back."""
        for (slots, is_whole), heap in self._heaps.items():
            if node.size == slots if is_whole else node.size >= slots:
                self._push(heap, node, slots)


def _in_order_of_leaving(held: Sequence[Claim]) -> list[Claim]:
    victims = [c for c in held if c.is_preemptible and not c.is_leaving and c.slots > 0]
    # Two stable sorts: an id breaks ties the same way on every machine.
    victims.sort(key=lambda c: c.allocation_id)
    victims.sort(key=lambda c: (c.priority, c.created_at), reverse=True)
    return victims
