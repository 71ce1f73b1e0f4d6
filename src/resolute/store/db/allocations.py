"""Allocations."""

from datetime import datetime

from sqlalchemy import Connection, bindparam, func, or_

from resolute.domain.allocation import Allocation, AllocationState
from resolute.domain.errors import NotFound
from resolute.store.db import tables
from resolute.store.db.rows import Rows

_rows = Rows(tables.allocations, Allocation)
_t = tables.allocations.c
# Spelled out rather than "not terminated", so that the index on the state is used.
LIVE = [state for state in AllocationState if state is not AllocationState.TERMINATED]
# The engine and every request of a trial ask these: made once, because making a statement costs as much as running it.
_ALL_LIVE = _rows.select().where(_t.state.in_(LIVE)).order_by(_t.created_at, _t.id)
_OF_TASK = _rows.select().where(_t.task_id == bindparam("task")).order_by(_t.created_at, func.length(_t.id), _t.id)
_BY_TOKEN = _rows.select().where(_t.token_hash == bindparam("token"), _t.state.in_(LIVE)).limit(1)


class AllocationTable:
    """`engine.ports.database.Allocations`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, allocation: Allocation) -> None:
        _rows.add(self._connection, allocation)

    def get(self, allocation_id: str) -> Allocation:
        allocation = _rows.get(self._connection, allocation_id)
        if allocation is None:
            raise NotFound(f"allocation not found: {allocation_id}")
        return allocation

    def save(self, allocation: Allocation, *, expected: AllocationState | None = None) -> bool:
        return _rows.save(self._connection, allocation, expected=expected)

    def live(self) -> list[Allocation]:
        return _rows.all(self._connection, _ALL_LIVE)

    def of_task(self, task_id: str) -> list[Allocation]:
        return _rows.all(self._connection, _OF_TASK, task=task_id)

    def by_token_hash(self, token_hash: str) -> Allocation | None:
        if not token_hash:
            return None
        found = _rows.all(self._connection, _BY_TOKEN, token=token_hash)
        return found[0] if found else None

    def between(self, start: datetime, end: datetime) -> list[Allocation]:
        held = _rows.select().where(_t.start_time < end, or_(_t.end_time.is_(None), _t.end_time > start))
        return _rows.all(self._connection, held.order_by(_t.start_time, _t.id))
