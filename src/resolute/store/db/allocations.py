"""Allocations."""

from datetime import datetime

from sqlalchemy import Connection, bindparam, func, or_, select

from resolute.domain.allocation import Allocation, AllocationState
from resolute.domain.errors import NotFound
from resolute.domain.slot_use import SlotUse
from resolute.store.db import tables
from resolute.store.db.rows import Rows

_rows = Rows(tables.allocations, Allocation)
_t, _tasks, _trials, _e = tables.allocations.c, tables.tasks.c, tables.trials.c, tables.experiments.c
_p, _users, _w = tables.projects.c, tables.users.c, tables.workspaces.c
# Spelled out rather than "not terminated", so that the index on the state is used.
LIVE = [state for state in AllocationState if state is not AllocationState.TERMINATED]
# The engine and every request of a trial ask these: made once, because making a statement costs as much as running it.
_ALL_LIVE = _rows.select().where(_t.state.in_(LIVE)).order_by(_t.created_at, _t.id)
_OF_TASK = _rows.select().where(_t.task_id == bindparam("task")).order_by(_t.created_at, func.length(_t.id), _t.id)
_BY_TOKEN = _rows.select().where(_t.token_hash == bindparam("token"), _t.state.in_(LIVE)).limit(1)
# An experiment's owner and place may have changed since its tasks were made, so they count.
_USER = func.coalesce(_e.user_id, _tasks.user_id)
_WORKSPACE = func.coalesce(_p.workspace_id, _tasks.workspace_id)
_USES = (
    select(
        _t.start_time,
        _t.end_time,
        _t.slots_needed,
        _t.resource_pool,
        _users.username,
        _USER.label("user_id"),
        _e.id.label("experiment_id"),
        _e.labels,
        _t.id.label("allocation_id"),
        _tasks.type.label("task_type"),
        _w.name.label("workspace_name"),
    )
    .select_from(tables.allocations)
    .outerjoin(tables.trials, _trials.id == _t.trial_id)
    .outerjoin(tables.experiments, _e.id == _trials.experiment_id)
    .outerjoin(tables.projects, _p.id == _e.project_id)
    .outerjoin(tables.tasks, _tasks.id == _t.task_id)
    .outerjoin(tables.users, _users.id == _USER)
    .outerjoin(tables.workspaces, _w.id == _WORKSPACE)
    .order_by(_t.start_time, _t.id)
)


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

    def uses(
        self, start: datetime, end: datetime, *, now: datetime, visible_in: frozenset[int] | None = None
    ) -> list[SlotUse]:
        held = _USES.where(_t.start_time < end, or_(_t.end_time.is_(None), _t.end_time > start))
        if visible_in is not None:
            held = held.where(_WORKSPACE.in_(visible_in))
        return [
            SlotUse(
                start=row.start_time,
                end=row.end_time or now,
                slots=row.slots_needed,
                pool=row.resource_pool,
                username=row.username or "",
                user_id=row.user_id or 0,
                experiment_id=row.experiment_id,
                labels=row.labels or (),
                allocation_id=row.allocation_id,
                task_type=str(row.task_type or ""),
                workspace_name=row.workspace_name or "",
            )
            for row in self._connection.execute(held)
        ]
