"""The outbox."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, select

from resolute.domain.change import Actor, Change, Via
from resolute.engine.ports.changes import ChangeQuery
from resolute.store.db import tables
from resolute.store.db.columns import document
from resolute.store.db.hot import HotStatement
from resolute.store.moment import to_microseconds

_t = tables.changes.c
_ADD = HotStatement(
    "INSERT INTO changes (action, kind, thing_id, at, workspace_id, from_state, to_state, user_id, actor, via, "
    "address, user_agent, detail) VALUES (:action, :kind, :thing_id, :at, :workspace_id, :from_state, :to_state, "
    ":user_id, :actor, :via, :address, :user_agent, :detail)"
)
_ALL = select(tables.changes)
_AFTER = _ALL.where(_t.seq > bindparam("seq")).order_by(_t.seq).limit(bindparam("most"))
_OWN_WORK = (Via.PLATFORM, Via.TASK)


class ChangeTable:
    """`engine.ports.changes.Changes`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def append(self, changes: Sequence[Change]) -> None:
        if changes:
            _ADD.run_each(self._connection, [_values(change) for change in changes])

    def after(self, seq: int, *, limit: int) -> list[Change]:
        return [_change(row) for row in self._connection.execute(_AFTER, {"seq": seq, "most": limit})]

    def search(self, query: ChangeQuery) -> list[Change]:
        statement = _filtered(_ALL, query).order_by(_t.seq.desc()).limit(query.limit)
        return [_change(row) for row in self._connection.execute(statement)]


def _values(change: Change) -> dict[str, Any]:
    actor = change.actor
    return {
        "action": str(change.action),
        "kind": change.kind,
        "thing_id": change.thing_id,
        "at": to_microseconds(change.at),
        "workspace_id": change.workspace_id,
        "from_state": change.from_state,
        "to_state": change.to_state,
        "user_id": actor.user_id,
        "actor": actor.name,
        "via": str(actor.via),
        "address": actor.address,
        "user_agent": actor.user_agent,
        "detail": document(change.detail) if change.detail else None,
    }


def _change(row: Row[Any]) -> Change:
    return Change(
        seq=row.seq,
        action=row.action,
        kind=row.kind,
        thing_id=row.thing_id,
        at=row.at,
        workspace_id=row.workspace_id,
        from_state=row.from_state,
        to_state=row.to_state,
        actor=Actor(user_id=row.user_id, name=row.actor, via=row.via, address=row.address, user_agent=row.user_agent),
        detail=row.detail or {},
    )


def _filtered(statement: Select[Any], query: ChangeQuery) -> Select[Any]:
    if query.actor:
        statement = statement.where(_t.actor == query.actor)
    if query.kinds:
        statement = statement.where(_t.kind.in_(query.kinds))
    if query.thing_id:
        statement = statement.where(_t.thing_id == query.thing_id)
    if query.actions:
        statement = statement.where(_t.action.in_(query.actions))
    if query.workspace_ids is not None:
        statement = statement.where(_t.workspace_id.in_(query.workspace_ids))
    if query.since is not None:
        statement = statement.where(_t.at >= query.since)
    if query.until is not None:
        statement = statement.where(_t.at < query.until)
    if query.people_only:
        statement = statement.where(_t.via.not_in(_OWN_WORK))
    if query.before_seq is not None:
        statement = statement.where(_t.seq < query.before_seq)
    return statement
