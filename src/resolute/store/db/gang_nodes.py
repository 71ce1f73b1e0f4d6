"""The nodes of allocations, as their supervisors report them."""

from collections.abc import Sequence
from dataclasses import fields

from sqlalchemy import Connection, bindparam, select

from resolute.domain.gang import GangNode
from resolute.store.db import tables
from resolute.store.db.paging import batched
from resolute.store.db.upsert import upsert

_t = tables.gang_nodes.c
_NAMES = tuple(field.name for field in fields(GangNode))
_OF_ALLOCATIONS = (
    select(*(_t[name] for name in _NAMES))
    .where(_t.allocation_id.in_(bindparam("allocations", expanding=True)))
    .order_by(_t.allocation_id, _t.rank)
)


class GangNodeTable:
    """`engine.ports.database.GangNodes`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def save(self, node: GangNode) -> None:
        upsert(self._connection, tables.gang_nodes, {name: getattr(node, name) for name in _NAMES})

    def of_allocation(self, allocation_id: str) -> list[GangNode]:
        return self.of_allocations([allocation_id])[allocation_id]

    def of_allocations(self, allocation_ids: Sequence[str]) -> dict[str, list[GangNode]]:
        found: dict[str, list[GangNode]] = {allocation_id: [] for allocation_id in allocation_ids}
        for some in batched(list(allocation_ids)):
            for row in self._connection.execute(_OF_ALLOCATIONS, {"allocations": some}):
                found[row.allocation_id].append(GangNode(**dict(zip(_NAMES, row, strict=True))))
        return found
