"""Takes metric reports in: chunks, heads and summaries, all in the caller's transaction.

Idempotent on (trial, run, group, steps). Reports that go forward, nearly all, are stored without looking back.
"""

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from itertools import pairwise

from sqlalchemy import Connection, bindparam, delete, select, update

from resolute.domain.metric import VALIDATION, MetricReport
from resolute.store.db import tables
from resolute.store.db.metric_compaction import SMALL, compact_if_due
from resolute.store.db.metric_outlines import add_chunk, change_chunk
from resolute.store.db.upsert import add_statistics, upsert
from resolute.store.metrics.chunk import Chunk, Entry, before, build, decode, entries, entry_of
from resolute.store.metrics.summary import Statistics, finite, joined, of_chunk
from resolute.store.metrics.supersede import Head, cutoffs

_chunks, _heads, _summaries = tables.metric_chunks.c, tables.metric_heads.c, tables.metric_summaries.c
_checkpoints, _trials, _experiments = tables.checkpoints.c, tables.trials.c, tables.experiments.c
_HEAD_NAMES = [field.name for field in fields(Head)]
_HEADS_OF = select(*(_heads[name] for name in _HEAD_NAMES)).where(
    _heads.trial_id.in_(bindparam("trial_ids", expanding=True))
)
_STATISTICS = [field.name for field in fields(Statistics)]
_Key = tuple[int, int, str]


def append_reports(connection: Connection, reports: Sequence[MetricReport]) -> int:
    """Store what is new of `reports`; returns how many brought something new."""
    batches: dict[_Key, list[MetricReport]] = {}
    for report in reports:
        batches.setdefault((report.trial_id, report.run_id, report.group), []).append(report)
    heads: dict[int, list[Head]] = {}
    for head in heads_of(connection, sorted({trial_id for trial_id, _, _ in batches})):
        heads.setdefault(head.trial_id, []).append(head)
    return sum(_Batch(connection, key, heads.setdefault(key[0], [])).append(batch) for key, batch in batches.items())


def heads_of(connection: Connection, trial_ids: Sequence[int]) -> list[Head]:
    return [Head(*row) for row in connection.execute(_HEADS_OF, {"trial_ids": trial_ids})]


def searcher_metric_of(connection: Connection, trial_id: int) -> str:
    statement = (
        select(_experiments.searcher_metric)
        .join(tables.trials, _trials.experiment_id == _experiments.id)
        .where(_trials.id == trial_id)
    )
    return connection.execute(statement).scalar() or ""


class _Batch:
    """Reports of one (trial, run, group) on their way in. `heads` are the trial's, and are kept up to date."""

    def __init__(self, connection: Connection, key: _Key, heads: list[Head]) -> None:
        self._connection = connection
        self._trial_id, self._run_id, self._group = key
        self._heads = heads
        self._next_id = max((head.last_id for head in heads), default=0) + 1

    def append(self, reports: Sequence[MetricReport]) -> int:
        rows = _one_per_step(entry_of(report, self._next_id + i) for i, report in enumerate(reports))
        head = self._own_head()
        fresh, added, is_rewritten = rows, list[Entry](), False
        if head is not None and rows[0].steps <= head.last_steps:
            fresh, added, is_rewritten = self._merge_known(rows)
        if not fresh and not added:
            return 0
        chunk = self._insert(fresh) if fresh else None
        is_superseding = self._supersedes_differently(head, fresh, added)
        self._save_head(head, fresh, is_changed=bool(added))
        if is_superseding or is_rewritten:
            self._rebuild_summaries()
        else:
            self._update_summaries([part for part in (chunk, build(added) if added else None) if part is not None])
        if self._group == VALIDATION:
            self._tell_checkpoints([*fresh, *added])
        return len(fresh) + len(added)

    def _own_head(self) -> Head | None:
        return next((head for head in self._group_heads() if head.run_id == self._run_id), None)

    def _group_heads(self) -> list[Head]:
        return [head for head in self._heads if head.group == self._group]

    def _merge_known(self, rows: list[Entry]) -> tuple[list[Entry], list[Entry], bool]:
        """Split into reports at steps not seen before, and what others say anew of known steps (already written).
        True: values that were counted before are others now."""
        waiting = {row.steps: row for row in rows}
        added: list[Entry] = []
        is_rewritten = False
        overlapping = (
            select(_chunks.id, _chunks.payload)
            .where(_chunks.trial_id == self._trial_id, _chunks.group == self._group, _chunks.run_id == self._run_id)
            .where(_chunks.last_steps >= rows[0].steps, _chunks.first_steps <= rows[-1].steps)
        )
        for chunk_id, payload in self._connection.execute(overlapping).all():
            stored = entries(decode(payload))
            merged = [_merged(entry, waiting.pop(entry.steps, None)) for entry in stored]
            news = [addition for _, addition in merged if addition is not None]
            known_names = {entry.steps: entry.metrics.keys() for entry in stored}
            is_rewritten |= any(known_names[each.steps] & each.metrics.keys() for each in news)
            if news:
                change_chunk(self._connection, chunk_id, build([entry for entry, _ in merged]))
                added += news
        return sorted(waiting.values(), key=lambda row: row.steps), added, is_rewritten

    def _insert(self, rows: list[Entry]) -> Chunk:
        chunk = build(rows)
        row = {
            "trial_id": self._trial_id,
            "run_id": self._run_id,
            "group": self._group,
            "first_steps": rows[0].steps,
            "last_steps": rows[-1].steps,
            "first_id": min(row.id for row in rows),
            "last_id": max(row.id for row in rows),
        }
        add_chunk(self._connection, row, chunk)
        return chunk

    def _save_head(self, head: Head | None, fresh: list[Entry], *, is_changed: bool) -> None:
        known = head or Head(self._trial_id, self._group, self._run_id, 1 << 62, -(1 << 62), 0, 0)
        changed = replace(known, revision=known.revision + is_changed)
        if fresh:
            changed = replace(
                changed,
                first_steps=min(known.first_steps, fresh[0].steps),
                last_steps=max(known.last_steps, fresh[-1].steps),
                count=known.count + len(fresh),
                last_id=max(row.id for row in fresh),
                small_chunks=known.small_chunks + (len(fresh) < SMALL),
            )
        changed = compact_if_due(self._connection, changed)
        upsert(self._connection, tables.metric_heads, {name: getattr(changed, name) for name in _HEAD_NAMES})
        self._heads[:] = [*(item for item in self._heads if item is not head), changed]

    # ---------------------------------------------------------------------------------------------------- summaries

    def _supersedes_differently(self, head: Head | None, fresh: list[Entry], added: list[Entry]) -> bool:
        """Whether these rows archive some of an older run, or are archived themselves by a newer one."""
        last = max(row.steps for row in (*fresh, *added))
        starts_lower = bool(fresh) and (head is None or fresh[0].steps < head.first_steps)
        for other in self._group_heads():
            if other.run_id > self._run_id and other.first_steps <= last:
                return True
            if other.run_id < self._run_id and starts_lower and other.last_steps >= fresh[0].steps:
                return True
        return False

    def _update_summaries(self, parts: list[Chunk]) -> None:
        for part in parts:
            self._put_summaries(of_chunk(part))

    def _put_summaries(self, found: dict[str, Statistics]) -> None:
        """Add to what is stored; the database does the sums, so nothing has to be read first."""
        rows = [
            {
                "trial_id": self._trial_id,
                "group": self._group,
                "name": name,
                "last_number": finite(statistics.last),
                **{field: getattr(statistics, field) for field in _STATISTICS},
            }
            for name, statistics in found.items()
        ]
        if rows:
            self._connection.execute(add_statistics(self._connection.dialect.name), rows)

    def _rebuild_summaries(self) -> None:
        """From the chunks, leaving out what is archived. Happens once per restart and group."""
        limits = cutoffs(self._group_heads())
        statement = (
            select(_chunks.run_id, _chunks.payload)
            .where(_chunks.trial_id == self._trial_id, _chunks.group == self._group)
            .order_by(_chunks.run_id, _chunks.first_steps, _chunks.id)
        )
        found: dict[str, Statistics] = {}
        for run_id, payload in self._connection.execute(statement):
            limit = limits[run_id]
            chunk = decode(payload) if limit is None else before(decode(payload), limit)
            if len(chunk):
                for name, statistics in of_chunk(chunk).items():
                    found[name] = joined(found[name], statistics) if name in found else statistics
        stale = delete(tables.metric_summaries).where(
            _summaries.trial_id == self._trial_id, _summaries.group == self._group
        )
        self._connection.execute(stale)
        self._put_summaries(found)

    def _tell_checkpoints(self, rows: list[Entry]) -> None:
        """A checkpoint reported before its validation learns the value now."""
        name = searcher_metric_of(self._connection, self._trial_id)
        reported = ((row.steps, finite(row.metrics.get(name))) for row in rows)
        values = [{"at": steps, "value": value} for steps, value in reported if value is not None]
        if values:
            same_step = (_checkpoints.trial_id == self._trial_id) & (_checkpoints.steps_completed == bindparam("at"))
            learned = update(tables.checkpoints).where(same_step).values(searcher_metric=bindparam("value"))
            self._connection.execute(learned, values)


def _one_per_step(rows: Iterable[Entry]) -> list[Entry]:
    """Sorted by step; several reports of a step become one, the last value of a name winning."""
    found = list(rows)
    if all(left.steps < right.steps for left, right in pairwise(found)):
        return found
    by_step: dict[int, Entry] = {}
    for row in found:
        known = by_step.get(row.steps)
        by_step[row.steps] = row if known is None else _merged(known, row)[0]
    return sorted(by_step.values(), key=lambda row: row.steps)


def _merged(known: Entry, news: Entry | None) -> tuple[Entry, Entry | None]:
    """`known` with what `news` says beyond or against it, and that alone; None when there is nothing."""
    if news is None:
        return known, None
    extra: dict[str, object] = {
        name: value
        for name, value in news.metrics.items()
        if name not in known.metrics or not _is_same(known.metrics[name], value)
    }
    is_first_batch = known.batch_metrics is None and news.batch_metrics is not None
    if not extra and not is_first_batch:
        return known, None
    batch_metrics = news.batch_metrics if is_first_batch else known.batch_metrics
    return replace(known, metrics={**known.metrics, **extra}, batch_metrics=batch_metrics), replace(
        news, metrics=extra, batch_metrics=None
    )


def _is_same(known: object, value: object) -> bool:
    """A report that is sent again brings nothing new, NaN included."""
    return known == value or (known != known and value != value)
