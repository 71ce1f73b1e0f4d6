"""The nodes and slots there are, who uses them, and which an operator has taken out of service."""

from dataclasses import dataclass, replace

from resolute.domain.allocation import Allocation
from resolute.domain.change import Action
from resolute.domain.errors import NotFound
from resolute.domain.node import Node, Pool
from resolute.engine.jobs.allocation_moves import ask_to_leave
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.unit_of_work import flow

_DISABLED = "disabled_slots"
"""Setting: node id to {"all": bool, "drain": bool, "slots": [ids]}."""


@dataclass(frozen=True, slots=True)
class NodeView:
    node: Node
    used: dict[int, Allocation]
    """Slot id to the allocation that holds it."""
    zero_slot: tuple[Allocation, ...] = ()

    @property
    def allocations(self) -> tuple[Allocation, ...]:
        return (*self.used.values(), *self.zero_slot)


@dataclass(frozen=True, slots=True)
class PoolView:
    pool: Pool
    nodes: tuple[NodeView, ...]
    is_default: bool

    @property
    def slots(self) -> int:
        return sum(len(view.node.slots) for view in self.nodes)

    @property
    def used(self) -> int:
        return sum(len(view.used) for view in self.nodes)


def usable_nodes(platform: Platform, tx: Transaction) -> list[Node]:
    """The runner's nodes, with what an operator disabled marked as such."""
    disabled = tx.settings.get(_DISABLED) or {}
    return [_marked(node, disabled.get(node.id, {})) for node in platform.runner.nodes()]


def _marked(node: Node, off: dict[str, object]) -> Node:
    if not off:
        return node
    ids = off.get("slots") or []
    assert isinstance(ids, list)
    slots = tuple(replace(slot, is_enabled=slot.id not in ids) for slot in node.slots)
    return replace(node, slots=slots, is_enabled=not off.get("all"), is_draining=bool(off.get("drain")))


def cluster_nodes(platform: Platform) -> list[NodeView]:
    with platform.store.read() as tx:
        nodes = usable_nodes(platform, tx)
        allocations = [a for a in tx.allocations.live() if a.holds_slots]
    return [_view(node, allocations) for node in nodes]


def _view(node: Node, allocations: list[Allocation]) -> NodeView:
    used: dict[int, Allocation] = {}
    idle: list[Allocation] = []
    for allocation in allocations:
        for share in allocation.shares:
            if share.node_id != node.id:
                continue
            used.update(dict.fromkeys(share.slot_ids, allocation))
            if not share.slot_ids:
                idle.append(allocation)
    return NodeView(node, used, tuple(idle))


def resource_pools(platform: Platform) -> list[PoolView]:
    """As the runner declares them, also those without a node; the first is the default one."""
    views = cluster_nodes(platform)
    return [
        PoolView(pool, tuple(v for v in views if v.node.resource_pool == pool.name), is_default=not at)
        for at, pool in enumerate(platform.runner.pools())
    ]


def set_node_enabled(platform: Platform, node_id: str, enabled: bool, *, drain: bool = False) -> None:
    """A disabled node gets nothing new; with `drain` what runs there may finish."""
    node = _node(platform, node_id)
    with flow(platform) as current:
        disabled = dict(current.tx.settings.get(_DISABLED) or {})
        entry = {**disabled.get(node.id, {}), "all": not enabled, "drain": drain and not enabled}
        disabled[node.id] = entry
        current.tx.settings.put(_DISABLED, disabled)
        current.record(Action.CHANGED, "agent", node.id, enabled=enabled, drain=drain and not enabled)
    if not enabled and not drain:
        _evict(platform, node_id, None)
    platform.bus.publish("engine", "queue")


def set_slot_enabled(platform: Platform, node_id: str, slot_id: int, enabled: bool, *, drain: bool = False) -> None:
    node = _node(platform, node_id)
    if slot_id not in {slot.id for slot in node.slots}:
        raise NotFound(f"slot not found: {slot_id} on agent {node_id}; it has {len(node.slots)} slots from 0.")
    with flow(platform) as current:
        disabled = dict(current.tx.settings.get(_DISABLED) or {})
        entry = dict(disabled.get(node.id, {}))
        slots = {*entry.get("slots", [])} - {slot_id}
        entry["slots"] = sorted(slots if enabled else slots | {slot_id})
        disabled[node.id] = entry
        current.tx.settings.put(_DISABLED, disabled)
        drained = drain and not enabled
        current.record(Action.CHANGED, "agent", node.id, enabled=enabled, drain=drained, slot=slot_id)
    if not enabled and not drain:
        _evict(platform, node_id, slot_id)
    platform.bus.publish("engine", "queue")


def _node(platform: Platform, node_id: str) -> Node:
    nodes = {node.id: node for node in platform.runner.nodes()}
    if node_id not in nodes:
        raise NotFound(f"agent not found: {node_id}. There are: {', '.join(sorted(nodes)) or 'none'}.")
    return nodes[node_id]


def _evict(platform: Platform, node_id: str, slot_id: int | None) -> None:
    """Ask what runs there to checkpoint and go elsewhere."""
    with flow(platform) as current:
        for allocation in current.tx.allocations.live():
            hit = any(
                share.node_id == node_id and (slot_id is None or slot_id in share.slot_ids)
                for share in allocation.shares
            )
            if hit and allocation.holds_slots:
                ask_to_leave(current, allocation)
