"""Chunks and their outlines in the database, and long series drawn from them.

Ten million points lie in hundreds of megabytes of chunks; their outlines are a hundredth of that. A database of an
earlier release has none: its chunks are opened when first looked at, and their outlines kept in memory.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from resolute.domain.metric import Series
from resolute.store.db import tables
from resolute.store.db.paging import batched
from resolute.store.metrics import outline as form
from resolute.store.metrics.chunk import Chunk, decode_points, encode
from resolute.store.metrics.outline import Outline
from resolute.store.metrics.series import Key, OutlineEntry, SeriesCache, series_from
from resolute.store.metrics.supersede import Head, cutoffs

LONG = 100_000
"""Reports of a trial and group beyond which its series are drawn from outlines."""
_OPENED_AT_ONCE = 32
_EVER = 1 << 62
_chunks, _outlines = tables.metric_chunks.c, tables.metric_outlines.c
_INSERT_CHUNK = insert(tables.metric_chunks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    max_points: int
    since: int | None = None
    """Exclusive."""
    until: int | None = None
    """Inclusive."""

    @property
    def is_part(self) -> bool:
        return self.since is not None or self.until is not None


@dataclass(frozen=True, slots=True)
class _Span:
    """A chunk that has points in the window, and where it is cut: by the window, or by a later run."""

    chunk_id: int
    first_steps: int = 0
    last_steps: int = 0
    after: int = -_EVER
    up_to: int = _EVER

    @property
    def is_uncut(self) -> bool:
        return self.after < self.first_steps and self.last_steps <= self.up_to


# -------------------------------------------------------------------------------------------------------- writing


def add_chunk(connection: Connection, row: Mapping[str, object], chunk: Chunk) -> None:
    """`row` is what is known of the chunk beside its contents."""
    key = connection.execute(_INSERT_CHUNK, {**row, "count": len(chunk), "payload": encode(chunk)}).inserted_primary_key
    assert key is not None
    _put_outlines(connection, key[0], chunk)


def change_chunk(connection: Connection, chunk_id: int, chunk: Chunk) -> None:
    """Other contents at the same steps."""
    connection.execute(update(tables.metric_chunks).where(_chunks.id == chunk_id).values(payload=encode(chunk)))
    connection.execute(delete(tables.metric_outlines).where(_outlines.chunk_id == chunk_id))
    _put_outlines(connection, chunk_id, chunk)


def _put_outlines(connection: Connection, chunk_id: int, chunk: Chunk) -> None:
    """Those of a deleted chunk go with it."""
    if len(chunk) < form.LEAST:
        return
    rows = [
        {"chunk_id": chunk_id, "name": name, "outline": form.encode(outline)}
        for name, outline in form.outlines_of(chunk).items()
    ]
    if rows:
        connection.execute(insert(tables.metric_outlines), rows)


# -------------------------------------------------------------------------------------------------------- reading


def is_long(heads: Iterable[Head]) -> bool:
    return sum(head.count for head in heads) > LONG


def long_series(
    connection: Connection, key: Key, heads: Sequence[Head], cache: SeriesCache | None, window: Window
) -> Series:
    spans = _spans(connection, key, heads, window)
    known = _known(connection, key, heads, cache, window, [span.chunk_id for span in spans if span.is_uncut])
    parts = known | _opened(connection, key, [span for span in spans if not span.is_uncut])
    if not form.is_enough(list(parts.values()), window.max_points):
        parts |= _opened(connection, key, [span for span in spans if not parts[span.chunk_id].is_whole])
    points = form.joined([parts[span.chunk_id] for span in spans])
    return series_from(
        key, points.steps, points.times_us, points.values, max_points=window.max_points, total=points.count
    )


def _spans(connection: Connection, key: Key, heads: Sequence[Head], window: Window) -> list[_Span]:
    """In the order of runs and steps."""
    trial_id, group, _ = key
    after = -_EVER if window.since is None else window.since
    until = _EVER if window.until is None else window.until
    statement = (
        select(_chunks.id, _chunks.run_id, _chunks.first_steps, _chunks.last_steps)
        .where(_chunks.trial_id == trial_id, _chunks.group == group)
        .where(_chunks.last_steps > after, _chunks.first_steps <= until)
        .order_by(_chunks.run_id, _chunks.first_steps)
    )
    limits = cutoffs(heads)
    found: list[_Span] = []
    for chunk_id, run_id, first, last in connection.execute(statement):
        cutoff = limits[run_id]
        up_to = until if cutoff is None else min(until, cutoff - 1)
        if first <= up_to:
            found.append(_Span(chunk_id, first, last, after, up_to))
    return found


def _known(
    connection: Connection,
    key: Key,
    heads: Sequence[Head],
    cache: SeriesCache | None,
    window: Window,
    wanted: Sequence[int],
) -> dict[int, Outline]:
    """Outlines of whole chunks, from memory where they are there."""
    if cache is None:
        return dict(_loaded(connection, key, wanted))
    revisions = tuple(sorted((head.run_id, head.revision) for head in heads))
    with cache.loading(key):
        entry = cache.get(key)
        outlines = entry.outlines if isinstance(entry, OutlineEntry) and entry.revisions == revisions else {}
        missing = [chunk_id for chunk_id in wanted if chunk_id not in outlines]
        if missing:
            outlines = outlines | dict(_loaded(connection, key, missing))
        found = {chunk_id: outlines[chunk_id] for chunk_id in wanted}
        # A look at everything shows which chunks are no more.
        cache.put(key, OutlineEntry(revisions, outlines if window.is_part else found))
        return found


def _loaded(connection: Connection, key: Key, wanted: Sequence[int]) -> Iterator[tuple[int, Outline]]:
    stored = dict(_stored(connection, key, wanted))
    yield from stored.items()
    # Those that were outlined, but not under this name, have no number under it.
    without = set(_outlined_ids(connection, [chunk_id for chunk_id in wanted if chunk_id not in stored]))
    yield from ((chunk_id, form.NOTHING) for chunk_id in without)
    unknown = [_Span(chunk_id) for chunk_id in wanted if chunk_id not in stored and chunk_id not in without]
    for chunk_id, full in _opening(connection, key, unknown):
        yield chunk_id, full if full.count < form.LEAST else form.outlined(full)


def _stored(connection: Connection, key: Key, wanted: Sequence[int]) -> Iterator[tuple[int, Outline]]:
    for some in batched(wanted):
        statement = select(_outlines.chunk_id, _outlines.outline).where(
            _outlines.chunk_id.in_(some), _outlines.name == key[2]
        )
        for chunk_id, outline in connection.execute(statement):
            yield chunk_id, form.decode(outline)


def _outlined_ids(connection: Connection, wanted: Sequence[int]) -> Iterator[int]:
    for some in batched(wanted):
        yield from connection.execute(
            select(_outlines.chunk_id).distinct().where(_outlines.chunk_id.in_(some))
        ).scalars()


def _opened(connection: Connection, key: Key, spans: Sequence[_Span]) -> dict[int, Outline]:
    return dict(_opening(connection, key, spans))


def _opening(connection: Connection, key: Key, spans: Sequence[_Span]) -> Iterator[tuple[int, Outline]]:
    """Every point within each span's cuts; few chunks are in memory at once."""
    for start in range(0, len(spans), _OPENED_AT_ONCE):
        some = {span.chunk_id: span for span in spans[start : start + _OPENED_AT_ONCE]}
        statement = select(_chunks.id, _chunks.payload).where(_chunks.id.in_(some))
        for chunk_id, payload in connection.execute(statement):
            yield chunk_id, _cut(payload, key[2], some[chunk_id])


def _cut(payload: bytes, name: str, span: _Span) -> Outline:
    points = decode_points(payload, name)
    if points is None:
        return form.NOTHING
    _, steps, times, values = points
    keep = (steps > span.after) & (steps <= span.up_to)
    return form.whole(steps, times, values) if keep.all() else form.whole(steps[keep], times[keep], values[keep])
