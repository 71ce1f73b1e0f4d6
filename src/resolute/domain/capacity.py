"""The free slots of a pool's nodes during one scheduling pass, indexed so that a fit is found in constant time.

Mutable on purpose and alive for one call of `placement.place` only; nothing here decides who goes first.
"""

from bisect import bisect_left, insort
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import Literal

from resolute.domain.allocation import NodeShare
from resolute.domain.claim import Claim
from resolute.domain.node import Node

Fitting = Literal["best", "worst"]
Fit = list[tuple["NodeCapacity", int]]
"""Nodes and how many slots to use on each, in rank order."""

ZERO_SLOT_LIMIT = 100
"""Tasks without slots that one node takes, as upstream's agents do by default."""


class NodeCapacity:
    """What one usable node has left. `size` counts its enabled slots, whoever holds them."""

    __slots__ = ("coming", "free", "id", "index", "is_promised", "size", "version", "zero_slot_tasks")

    def __init__(self, index: int, node_id: str, slot_ids: list[int]) -> None:
        self.index = index
        self.id = node_id
        self.size = len(slot_ids)
        self.free = slot_ids  # descending, so that the lowest ids are popped first
        self.coming = 0  # slots of claims that have been asked to leave
        self.is_promised = False  # kept for the first claim in line that has to wait
        self.version = 0
        self.zero_slot_tasks = 0

    @property
    def available(self) -> int:
        return 0 if self.is_promised else len(self.free)

    @property
    def is_idle(self) -> bool:
        return len(self.free) == self.size and not self.is_promised


class Capacity:
    def __init__(self, nodes: Sequence[Node], held: Sequence[Claim], fitting: Fitting) -> None:
        usable = sorted((n for n in nodes if n.is_enabled and not n.is_draining), key=lambda n: n.id)
        taken = _taken_slots(held)
        self.nodes: list[NodeCapacity] = []
        self.by_id: dict[str, NodeCapacity] = {}
        self._enabled: dict[str, frozenset[int]] = {}
        for node in usable:
            self._add(node, taken.get(node.id, frozenset()))
        self.sizes = sorted({n.size for n in self.nodes if n.size}, reverse=True)
        self._index = _FitIndex(self.nodes, fitting)
        self._idle = _IdleNodes(self.nodes)
        self._count_held(held)
        self._zero_slot_heap = [(n.zero_slot_tasks, n.index) for n in self.nodes]
        heapify(self._zero_slot_heap)

    def fit(self, claim: Claim) -> Fit | None:
        """Where `claim` can start right now: one node if possible, else several whole idle nodes of one size."""
        node = self._index.find(claim.slots, claim.excluded_nodes)
        if node is not None:
            return [(node, claim.slots)]
        if claim.single_node:
            return None
        return self._fit_whole_nodes(claim)

    def could_ever_fit(self, claim: Claim) -> bool:
        """Whether it would fit if nobody else held anything."""
        nodes = [n for n in self.nodes if n.id not in claim.excluded_nodes]
        if any(n.size >= claim.slots for n in nodes):
            return True
        return not claim.single_node and any(
            sum(n.size == size for n in nodes) * size >= claim.slots for size in self.whole_node_sizes(claim.slots)
        )

    def whole_node_sizes(self, slots: int) -> list[int]:
        """Node sizes over which a gang of `slots` splits into equal whole nodes, the largest first."""
        return [size for size in self.sizes if size < slots and slots % size == 0]

    def take(self, fit: Fit) -> tuple[NodeShare, ...]:
        return tuple(NodeShare(node.id, tuple(self._pop(node, count))) for node, count in fit)

    def set_aside(self, fit: Fit) -> None:
        """Keep slots, those that are coming first, for a claim that starts once its victims have left."""
        for node, count in fit:
            from_coming = min(node.coming, count)
            node.coming -= from_coming
            self._pop(node, count - from_coming)

    def promise(self, nodes: Sequence[NodeCapacity], *, is_promised: bool) -> None:
        for node in nodes:
            node.is_promised = is_promised
            self._changed(node)

    def usable_slots(self, share: NodeShare) -> int:
        """How many slots of `share` could be given to somebody else once they are free."""
        enabled = self._enabled.get(share.node_id)
        return len(enabled.intersection(share.slot_ids)) if enabled else 0

    def take_zero_slot(self, claim: Claim) -> tuple[NodeShare, ...] | None:
        """A place for a task without slots: the allowed node that runs the fewest of them."""
        heap, passed_over, chosen = self._zero_slot_heap, [], None
        while heap and chosen is None:
            count, index = heappop(heap)
            if count < ZERO_SLOT_LIMIT and self.nodes[index].id not in claim.excluded_nodes:
                chosen = self.nodes[index]
                count += 1
            passed_over.append((count, index))
        for entry in passed_over:
            heappush(heap, entry)
        return (NodeShare(chosen.id, ()),) if chosen else None

    def _add(self, node: Node, taken: frozenset[int] | set[int]) -> None:
        enabled = sorted((s.id for s in node.slots if s.is_enabled), reverse=True)
        capacity = NodeCapacity(len(self.nodes), node.id, enabled)
        capacity.free = [slot for slot in enabled if slot not in taken]
        self.nodes.append(capacity)
        self.by_id[node.id] = capacity
        self._enabled[node.id] = frozenset(enabled)

    def _count_held(self, held: Sequence[Claim]) -> None:
        for claim in held:
            for share in claim.shares:
                node = self.by_id.get(share.node_id)
                if node is None:
                    continue
                if not share.slot_ids:
                    node.zero_slot_tasks += 1
                elif claim.is_leaving:
                    node.coming += self.usable_slots(share)

    def _fit_whole_nodes(self, claim: Claim) -> Fit | None:
        for size in self.whole_node_sizes(claim.slots):
            chosen = self._idle.first(size, claim.slots // size, claim.excluded_nodes)
            if chosen:
                return [(node, size) for node in chosen]
        return None

    def _pop(self, node: NodeCapacity, count: int) -> list[int]:
        if count == 0:
            node.version += 1
            return []
        slot_ids = node.free[-count:][::-1]
        del node.free[-count:]
        self._changed(node)
        return slot_ids

    def _changed(self, node: NodeCapacity) -> None:
        node.version += 1
        self._index.update(node)
        self._idle.update(node)


class _FitIndex:
    """Nodes by how good a fit they are. Levels are few (distinct fill states); each keeps a stack of nodes.

    Entries are left behind when a node changes level and thrown away when they surface.
    """

    def __init__(self, nodes: Sequence[NodeCapacity], fitting: Fitting) -> None:
        self._is_best = fitting == "best"
        self._levels: list[tuple[float, int]] = []
        self._stacks: dict[tuple[float, int], list[NodeCapacity]] = {}
        self._level_of: list[tuple[float, int] | None] = [None] * len(nodes)
        for node in reversed(nodes):
            self.update(node)

    def update(self, node: NodeCapacity) -> None:
        available = node.available
        if available == 0:
            self._level_of[node.index] = None
            return
        level = (float(available) if self._is_best else -available / node.size, available)
        if self._level_of[node.index] == level:
            return
        self._level_of[node.index] = level
        stack = self._stacks.get(level)
        if stack is None:
            self._stacks[level] = [node]
            insort(self._levels, level)
        else:
            stack.append(node)

    def find(self, slots: int, excluded: tuple[str, ...]) -> NodeCapacity | None:
        position = bisect_left(self._levels, (float(slots), 0)) if self._is_best else 0
        while position < len(self._levels):
            level = self._levels[position]
            stack = self._live(level)
            if not stack:
                del self._levels[position], self._stacks[level]
                continue
            if level[1] >= slots:
                if not excluded:
                    return stack[-1]
                allowed = (n for n in reversed(stack) if n.id not in excluded and self._level_of[n.index] == level)
                node = next(allowed, None)
                if node is not None:
                    return node
            position += 1
        return None

    def _live(self, level: tuple[float, int]) -> list[NodeCapacity]:
        stack = self._stacks[level]
        while stack and self._level_of[stack[-1].index] != level:
            stack.pop()
        return stack


class _IdleNodes:
    """Wholly free nodes by size, the first of the pool first. Entries of nodes that are not idle any more stay behind
    until they surface."""

    def __init__(self, nodes: Sequence[NodeCapacity]) -> None:
        self._nodes = nodes
        self._heaps: dict[int, list[int]] = {}
        for node in nodes:  # in order, so each list is a heap already
            self._heaps.setdefault(node.size, []).append(node.index)

    def update(self, node: NodeCapacity) -> None:
        if node.is_idle:
            heappush(self._heaps[node.size], node.index)

    def first(self, size: int, wanted: int, excluded: tuple[str, ...]) -> list[NodeCapacity]:
        """The first `wanted` idle nodes, or none when there are fewer."""
        heap = self._heaps[size]
        seen: dict[int, NodeCapacity] = {}
        chosen: list[NodeCapacity] = []
        while heap and len(chosen) < wanted:
            node = self._nodes[heappop(heap)]
            if node.index in seen or not node.is_idle:
                continue
            seen[node.index] = node
            if node.id not in excluded:
                chosen.append(node)
        for index in seen:
            heappush(heap, index)
        return chosen if len(chosen) == wanted else []


def _taken_slots(held: Sequence[Claim]) -> dict[str, set[int]]:
    taken: dict[str, set[int]] = {}
    for claim in held:
        for share in claim.shares:
            taken.setdefault(share.node_id, set()).update(share.slot_ids)
    return taken
