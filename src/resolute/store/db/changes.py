"""The outbox."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, func, select

from resolute.domain.change import Actor, Change, Thing, Via
from resolute.domain.delivery import Held, Progress
from resolute.engine.ports.changes import ChangeQuery
from resolute.store.db import tables
from resolute.store.db.columns import document
from resolute.store.db.hot import HotStatement
from resolute.store.db.paging import batched
from resolute.store.db.rows import Statement
from resolute.store.db.upsert import upsert
from resolute.store.moment import to_microseconds

_t, _f, _h = tables.changes.c, tables.followers.c, tables.held_things.c
_ADD = HotStatement(
    "INSERT INTO changes (action, kind, thing_id, at, workspace_id, from_state, to_state, user_id, actor, via, "
    "address, user_agent, detail) VALUES (:action, :kind, :thing_id, :at, :workspace_id, :from_state, :to_state, "
    ":user_id, :actor, :via, :address, :user_agent, :detail)"
)
_ALL = select(tables.changes)
_AFTER = _ALL.where(_t.seq > bindparam("seq")).order_by(_t.seq).limit(bindparam("most"))
_OF_THING = (
    _ALL.where(_t.seq >= bindparam("first"), _t.seq <= bindparam("last"))
    .where(_t.kind == bindparam("kind"), _t.thing_id == bindparam("thing"))
    .order_by(_t.seq)
    .limit(bindparam("most"))
)
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

    def of_thing(self, thing: Thing, *, first: int, last: int, limit: int) -> list[Change]:
        parameters = {"kind": thing.kind, "thing": thing.id, "first": first, "last": last, "most": limit}
        return [_change(row) for row in self._connection.execute(_OF_THING, parameters)]

    def search(self, query: ChangeQuery) -> list[Change]:
        statement = _filtered(_ALL, query).order_by(_t.seq.desc()).limit(query.limit)
        return [_change(row) for row in self._connection.execute(statement)]

    def newest(self) -> int:
        return self._connection.execute(select(func.max(_t.seq))).scalar() or 0

    # --------------------------------------------------------------------------------------------------- followers

    def progress(self) -> dict[str, Progress]:
        held: dict[str, list[Held]] = {}
        for row in self._connection.execute(select(tables.held_things).order_by(_h.seq)):
            thing = Thing(row.kind, row.thing_id)
            entry = Held(thing=thing, seq=row.seq, attempts=row.attempts, not_before=row.not_before)
            held.setdefault(row.follower, []).append(entry)
        followers = self._connection.execute(select(_f.name, _f.cursor))
        return {name: Progress(cursor=cursor, held=tuple(held.get(name, ()))) for name, cursor in followers}

    def save_progress(self, follower: str, progress: Progress) -> None:
        upsert(self._connection, tables.followers, {"name": follower, "cursor": progress.cursor})
        self._connection.execute(delete(tables.held_things).where(_h.follower == follower))
        if progress.held:
            rows = [_held_values(follower, each) for each in progress.held]
            self._connection.execute(tables.held_things.insert(), rows)

    def forget_follower(self, follower: str) -> None:
        self._connection.execute(delete(tables.held_things).where(_h.follower == follower))
        self._connection.execute(delete(tables.followers).where(_f.name == follower))

    # -------------------------------------------------------------------------------------------------------- sweep

    def oldest(self, *, after: int, limit: int) -> list[tuple[int, datetime, bool]]:
        statement = select(_t.seq, _t.at, _t.via).where(_t.seq > after).order_by(_t.seq).limit(limit)
        return [(seq, at, via not in _OWN_WORK) for seq, at, via in self._connection.execute(statement)]

    def remove(self, seqs: Sequence[int]) -> None:
        for some in batched(seqs):
            self._connection.execute(delete(tables.changes).where(_t.seq.in_(some)))


def _values(change: Change) -> dict[str, object]:
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


def _held_values(follower: str, held: Held) -> dict[str, object]:
    return {
        "follower": follower,
        "kind": held.thing.kind,
        "thing_id": held.thing.id,
        "seq": held.seq,
        "attempts": held.attempts,
        "not_before": held.not_before,
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


def _filtered(statement: Statement, query: ChangeQuery) -> Statement:
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
