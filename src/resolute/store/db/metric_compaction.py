"""Joins many small chunks of a run into few large ones, a tier at a time, so that a long series reads quickly.

A report that comes alone is a row of its own at first. `_FAN_IN` of those become one row; as many of these, one
larger row. Each report is rewritten once per tier.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, delete, select

from resolute.store.db import tables
from resolute.store.db.metric_outlines import add_chunk
from resolute.store.metrics.chunk import decode, join
from resolute.store.metrics.supersede import Head

SMALL = 64
"""A chunk with fewer reports than this is worth joining."""
_FAN_IN = 64
_TIERS = (SMALL, SMALL * _FAN_IN)
_chunks = tables.metric_chunks.c


def compact_if_due(connection: Connection, head: Head) -> Head:
    """The head, with its count of small chunks starting again when they were joined."""
    if head.small_chunks < _FAN_IN:
        return head
    for limit in _TIERS:
        tail = _tail(connection, head, limit)
        if len(tail) < _FAN_IN:
            break
        _replace(connection, head, tail)
    return replace(head, small_chunks=0)


def _tail(connection: Connection, head: Head, limit: int) -> list[Any]:
    """The newest chunks of the run that hold fewer reports than `limit`, up to the first that holds more."""
    statement = (
        select(
            _chunks.id,
            _chunks.count.label("size"),
            _chunks.first_steps,
            _chunks.last_steps,
            _chunks.first_id,
            _chunks.last_id,
        )
        .where(_chunks.trial_id == head.trial_id, _chunks.group == head.group, _chunks.run_id == head.run_id)
        .order_by(_chunks.last_steps.desc())
        .limit(2 * _FAN_IN)
    )
    found: list[Any] = []
    for row in connection.execute(statement):
        if row.size >= limit:
            break
        found.append(row)
    return found


def _replace(connection: Connection, head: Head, rows: Sequence[Any]) -> None:
    ids = [row.id for row in rows]
    payloads = connection.execute(select(_chunks.payload).where(_chunks.id.in_(ids))).scalars().all()
    joined = join([decode(payload) for payload in payloads])
    connection.execute(delete(tables.metric_chunks).where(_chunks.id.in_(ids)))
    row = {
        "trial_id": head.trial_id,
        "run_id": head.run_id,
        "group": head.group,
        "first_steps": min(row.first_steps for row in rows),
        "last_steps": max(row.last_steps for row in rows),
        "first_id": min(row.first_id for row in rows),
        "last_id": max(row.last_id for row in rows),
    }
    add_chunk(connection, row, joined)
