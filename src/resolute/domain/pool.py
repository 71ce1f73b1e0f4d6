"""Finding a resource pool among those that a runner declares, and what its nodes add up to. Pure."""

import difflib
from collections.abc import Iterable, Sequence

from resolute.domain.node import Node, Pool


def pool_named(name: str, pools: Iterable[Pool]) -> Pool | None:
    return next((pool for pool in pools if pool.name == name), None)


def unknown_pool(name: str, names: Sequence[str]) -> str:
    """A sentence with a remedy, to follow the key or the thing that names the pool."""
    close = difflib.get_close_matches(name.lower(), [known.lower() for known in names], n=1, cutoff=0.5)
    meant = next((known for known in names if known.lower() in close), None)
    hint = f"; did you mean {meant}?" if meant else "."
    return f"there is no resource pool {name!r}{hint} There are: {', '.join(names) or 'none'}."


def most_slots(pool: Pool, nodes: Iterable[Node]) -> int | None:
    """Slots that all its nodes have together; None: more may come, or only the engine outside knows."""
    if pool.can_grow or pool.is_delegating:
        return None
    return sum(len(node.slots) for node in nodes if node.resource_pool == pool.name)
