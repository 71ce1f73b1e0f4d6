"""Loads the points of a series from its chunks, and keeps what it loaded for the next asker."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from resolute.store.db import tables
from resolute.store.db.metric_ingest import heads_of
from resolute.store.db.paging import batched
from resolute.store.metrics.chunk import decode_points
from resolute.store.metrics.series import Cached, Key, Points, SeriesCache, Structure
from resolute.store.metrics.supersede import Head, cutoffs

_chunks = tables.metric_chunks.c
Columns = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
Row = tuple[int, int, bytes]
"""Id, run and payload of a chunk."""
FEW = 2000
"""Reports of a trial and group up to which its chunks are read together with those of others."""


def load_series(connection: Connection, key: Key, heads: Sequence[Head], cache: SeriesCache | None) -> Points:
    """All live points, ascending by step."""
    return _points(connection, key, heads, cache) if heads else Points()


def load_many(
    connection: Connection,
    heads: Mapping[int, Sequence[Head]],
    group: str,
    names: Sequence[str],
    cache: SeriesCache | None,
) -> dict[Key, Points]:
    """The same metrics of many trials. Short series that are not known yet are read by one statement."""
    missing = [
        trial_id
        for trial_id, own in heads.items()
        if sum(head.count for head in own) <= FEW
        and (cache is None or any(cache.get((trial_id, group, name)) is None for name in names))
    ]
    rows = chunks_of(connection, missing, group)
    return {
        (trial_id, group, name): _points(connection, (trial_id, group, name), own, cache, rows.get(trial_id))
        for trial_id, own in heads.items()
        for name in names
    }


def group_heads(connection: Connection, trial_ids: Sequence[int], group: str) -> dict[int, list[Head]]:
    """The heads of one group, for the trials that have any."""
    found: dict[int, list[Head]] = {}
    for some in batched(trial_ids):
        for head in heads_of(connection, some):
            if head.group == group:
                found.setdefault(head.trial_id, []).append(head)
    return found


def chunks_of(connection: Connection, trial_ids: Sequence[int], group: str) -> dict[int, list[Row]]:
    """Every chunk of the trials' group, in the order of runs and steps."""
    found: dict[int, list[Row]] = {}
    for some in batched(trial_ids):
        statement = (
            select(_chunks.trial_id, _chunks.id, _chunks.run_id, _chunks.payload)
            .where(_chunks.trial_id.in_(some), _chunks.group == group)
            .order_by(_chunks.run_id, _chunks.first_steps)
        )
        for trial_id, *row in connection.execute(statement):
            found.setdefault(trial_id, []).append((row[0], row[1], row[2]))
    return found


def _points(
    connection: Connection,
    key: Key,
    heads: Sequence[Head],
    cache: SeriesCache | None,
    rows: Sequence[Row] | None = None,
) -> Points:
    """`rows`: all chunks, where they have been read already."""
    if cache is None:
        return _loaded(connection, key, heads, rows).points
    with cache.loading(key):
        known = cache.get(key)
        if not isinstance(known, Cached) or not _extended(connection, key, heads, known):
            known = _loaded(connection, key, heads, rows)
        cache.put(key, known)
        return known.points


def _loaded(connection: Connection, key: Key, heads: Sequence[Head], rows: Sequence[Row] | None) -> Cached:
    entry = Cached(Points(), _structure(heads))
    columns = _new_columns(key, heads, entry, _new_rows(connection, key, entry) if rows is None else rows)
    if columns is not None:
        steps, times, values = columns
        if not _is_ascending(steps):
            order = np.argsort(steps, kind="stable")
            steps, times, values = steps[order], times[order], values[order]
        entry.points.extend(steps, times, values)
    return entry


def _extended(connection: Connection, key: Key, heads: Sequence[Head], entry: Cached) -> bool:
    """Add what is new to `entry`. False: it has to be loaded again, because older points changed."""
    if entry.structure != _structure(heads):
        return False
    if entry.last_id >= max(head.last_id for head in heads):
        return True
    columns = _new_columns(key, heads, entry, _new_rows(connection, key, entry))
    if columns is None:
        return True
    if columns[0][0] <= entry.points.last_steps or not _is_ascending(columns[0]):
        return False
    entry.points.extend(*columns)
    return True


def _structure(heads: Sequence[Head]) -> Structure:
    """Everything but the growth of the newest run."""
    *older, newest = sorted(heads, key=lambda head: head.run_id)
    frozen = [(head.run_id, head.first_steps, head.last_steps, head.count, head.revision) for head in older]
    return (*frozen, (newest.run_id, newest.first_steps, newest.revision))


def _new_rows(connection: Connection, key: Key, entry: Cached) -> Iterable[Row]:
    trial_id, group, _ = key
    statement = (
        select(_chunks.id, _chunks.run_id, _chunks.payload)
        .where(_chunks.trial_id == trial_id, _chunks.group == group, _chunks.id > entry.last_chunk)
        .order_by(_chunks.run_id, _chunks.first_steps)
    )
    return ((row[0], row[1], row[2]) for row in connection.execute(statement))


def _new_columns(key: Key, heads: Sequence[Head], entry: Cached, rows: Iterable[Row]) -> Columns | None:
    """Points of reports that `entry` has not seen, and move its marks. A merged chunk may bring back old ones."""
    limits = cutoffs(heads)
    seen_id = entry.last_id
    parts: list[tuple[NDArray[Any], ...]] = []
    for chunk_id, run_id, payload in rows:
        entry.last_chunk = max(entry.last_chunk, chunk_id)
        points = decode_points(payload, key[2])
        if points is not None:
            parts.append(_unseen_and_live(points, seen_id, limits[run_id]))
    entry.last_id = max(head.last_id for head in heads)
    if not sum(len(part[0]) for part in parts):
        return None
    steps, times, values = (np.concatenate(column) for column in zip(*parts, strict=True))
    return steps, times, values


def _unseen_and_live(points: tuple[NDArray[Any], ...], seen_id: int, cutoff: int | None) -> tuple[NDArray[Any], ...]:
    ids, steps, times, values = points
    keep = ids > seen_id
    if cutoff is not None:
        keep &= steps < cutoff
    return (steps, times, values) if keep.all() else (steps[keep], times[keep], values[keep])


def _is_ascending(steps: NDArray[np.int64]) -> bool:
    return bool((steps[1:] > steps[:-1]).all())
