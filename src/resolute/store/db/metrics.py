"""Metric reports: columnar chunks in, reports, summaries and series out."""

import heapq
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from sqlalchemy import Connection, Row, and_, func, select

from resolute.domain.metric import VALIDATION, Highlights, MetricReport, MetricSummary, Series
from resolute.store.db import tables
from resolute.store.db.metric_highlights import short_highlights
from resolute.store.db.metric_ingest import append_reports, heads_of, searcher_metric_of
from resolute.store.db.metric_outlines import Window, is_long, long_series
from resolute.store.db.metric_series import group_heads, load_many, load_series
from resolute.store.db.paging import batched
from resolute.store.db.rows import Statement
from resolute.store.metrics.chunk import decode, entries, entry_at, report_of
from resolute.store.metrics.series import SeriesCache
from resolute.store.metrics.summary import Statistics
from resolute.store.metrics.supersede import Head, cutoffs, is_archived

_chunks, _summaries, _heads = tables.metric_chunks.c, tables.metric_summaries.c, tables.metric_heads.c
_checkpoints, _trials = tables.checkpoints.c, tables.trials.c
_STATISTICS = [_summaries[name] for name in Statistics.__dataclass_fields__]
Item = tuple[int, MetricReport, bool]


class MetricTable:
    """`engine.ports.database.Metrics`."""

    def __init__(self, connection: Connection, cache: SeriesCache | None) -> None:
        self._connection = connection
        self._cache = cache

    def append(self, reports: Sequence[MetricReport]) -> int:
        return append_reports(self._connection, reports)

    def latest(self, trial_id: int, group: str) -> MetricReport | None:
        heads = [head for head in heads_of(self._connection, [trial_id]) if head.group == group]
        if not heads:
            return None
        # Whatever older runs reported beyond the newest one's first step is archived.
        return self.at_steps(trial_id, group, max(heads, key=lambda head: head.run_id).last_steps)

    def at_steps(self, trial_id: int, group: str, steps: int) -> MetricReport | None:
        statement = (
            select(_chunks.run_id, _chunks.payload)
            .where(_chunks.trial_id == trial_id, _chunks.group == group)
            .where(_chunks.last_steps >= steps, _chunks.first_steps <= steps)
            .order_by(_chunks.run_id.desc())
        )
        for run_id, payload in self._connection.execute(statement):
            entry = entry_at(decode(payload), steps)
            if entry is not None:
                return report_of(entry, trial_id=trial_id, run_id=run_id, group=group)
        return None

    def at_checkpoints(self, uuids: Sequence[str]) -> dict[tuple[str, str], dict[str, object]]:
        """(uuid, group) to the metrics reported at each checkpoint's step, by the newest run that did."""
        at_step = and_(
            _chunks.trial_id == _checkpoints.trial_id,
            _chunks.first_steps <= _checkpoints.steps_completed,
            _chunks.last_steps >= _checkpoints.steps_completed,
        )
        found: dict[tuple[str, str], dict[str, object]] = {}
        for some in batched(uuids):
            statement = (
                select(_checkpoints.uuid, _checkpoints.steps_completed, _chunks.group, _chunks.payload)
                .join(tables.metric_chunks, at_step)
                .where(_checkpoints.uuid.in_(some))
                .order_by(_chunks.run_id)
            )
            for uuid, steps, group, payload in self._connection.execute(statement):
                entry = entry_at(decode(payload), steps)
                if entry is not None:
                    found[uuid, group] = entry.metrics
        return found

    def reports(
        self, trial_id: int, *, group: str | None = None, after_id: int = 0, limit: int | None = None
    ) -> Iterator[Item]:
        """With a `limit`: those that arrived first after `after_id`; continue with the largest id seen."""
        statement = select(_chunks.run_id, _chunks.group, _chunks.first_steps, _chunks.first_id, _chunks.payload)
        statement = statement.where(_chunks.trial_id == trial_id, _chunks.last_id > after_id)
        if group is not None:
            statement = statement.where(_chunks.group == group)
        archive = _Archive(heads_of(self._connection, [trial_id]))
        if limit is None:
            return self._by_steps(trial_id, statement, archive, after_id)
        arrived = self._by_arrival(trial_id, statement, archive, after_id, limit)
        return iter(sorted(arrived, key=lambda item: (item[1].steps_completed, item[0])))

    def summaries(self, trial_id: int) -> list[MetricSummary]:
        return self.summaries_of([trial_id]).get(trial_id, [])

    def summaries_of(self, trial_ids: Sequence[int]) -> dict[int, list[MetricSummary]]:
        found: dict[int, list[MetricSummary]] = {}
        for some in batched(trial_ids):
            statement = (
                select(_summaries.trial_id, _summaries.group, _summaries.name, *_STATISTICS)
                .where(_summaries.trial_id.in_(some))
                .order_by(_summaries.trial_id, _summaries.group, _summaries.name)
            )
            for trial_id, group, name, *values in self._connection.execute(statement):
                found.setdefault(trial_id, []).append(Statistics(*values).summary(group, name))
        return found

    def series(
        self,
        trial_id: int,
        group: str,
        name: str,
        *,
        max_points: int = 1000,
        since_steps: int | None = None,
        until_steps: int | None = None,
    ) -> Series:
        """`since_steps` is exclusive, `until_steps` inclusive."""
        key = (trial_id, group, name)
        heads = group_heads(self._connection, [trial_id], group).get(trial_id, [])
        if is_long(heads):
            window = Window(max_points=max_points, since=since_steps, until=until_steps)
            return long_series(self._connection, key, heads, self._cache, window)
        points = load_series(self._connection, key, heads, self._cache)
        return points.thinned(key, max_points=max_points, since=since_steps, until=until_steps)

    def series_of(
        self,
        trial_ids: Sequence[int],
        group: str,
        names: Sequence[str],
        *,
        max_points: int = 1000,
        since_steps: int | None = None,
        until_steps: int | None = None,
    ) -> list[Series]:
        heads = group_heads(self._connection, trial_ids, group)
        short = {trial_id: own for trial_id, own in heads.items() if not is_long(own)}
        points = load_many(self._connection, short, group, names, self._cache)
        window = Window(max_points=max_points, since=since_steps, until=until_steps)
        found: list[Series] = []
        for trial_id, name in product((trial_id for trial_id in trial_ids if trial_id in heads), names):
            key = (trial_id, group, name)
            if trial_id in short:
                found.append(points[key].thinned(key, max_points=max_points, since=since_steps, until=until_steps))
            else:
                found.append(long_series(self._connection, key, heads[trial_id], self._cache, window))
        return [series for series in found if series.steps]

    def highlights(self, trial_ids: Sequence[int], name: str, *, smaller_is_better: bool) -> dict[int, Highlights]:
        found, long = short_highlights(
            self._connection, trial_ids, VALIDATION, name, smaller_is_better=smaller_is_better
        )
        for trial_id in long:
            # Thinning keeps the extremes, and the points stay in memory for the chart.
            series = self.series(trial_id, VALIDATION, name)
            step = series.best_step(smaller_is_better=smaller_is_better)
            best = None if step is None else self.at_steps(trial_id, VALIDATION, step)
            found[trial_id] = Highlights(best=best, latest=self.latest(trial_id, VALIDATION))
        return found

    def names(self, trial_ids: Sequence[int]) -> list[tuple[str, str]]:
        found: set[tuple[str, str]] = set()
        for some in batched(trial_ids):
            statement = select(_summaries.group, _summaries.name).where(_summaries.trial_id.in_(some)).distinct()
            found |= {(group, name) for group, name in self._connection.execute(statement)}
        return sorted(found)

    def best(self, experiment_id: int, name: str, *, smaller_is_better: bool) -> float | None:
        value = func.min(_summaries.min) if smaller_is_better else func.max(_summaries.max)
        statement = (
            select(value)
            .join(tables.trials, _trials.id == _summaries.trial_id)
            .where(_trials.experiment_id == experiment_id, _summaries.group == VALIDATION, _summaries.name == name)
        )
        best: float | None = self._connection.execute(statement).scalar()
        return best

    def searcher_metric_of(self, trial_id: int) -> str:
        """Empty when the experiment names none."""
        return searcher_metric_of(self._connection, trial_id)

    def _by_steps(self, trial_id: int, statement: Statement, archive: "_Archive", after_id: int) -> Iterator[Item]:
        """Chunks are opened in the order of their first steps and merged, so that few are in memory at once."""
        waiting: list[tuple[int, int, Item]] = []
        for row in self._connection.execute(statement.order_by(_chunks.first_steps, _chunks.first_id)):
            while waiting and waiting[0][0] < row.first_steps:
                yield heapq.heappop(waiting)[2]
            for item in _items(trial_id, row, archive, after_id):
                heapq.heappush(waiting, (item[1].steps_completed, item[0], item))
        while waiting:
            yield heapq.heappop(waiting)[2]

    def _by_arrival(
        self, trial_id: int, statement: Statement, archive: "_Archive", after_id: int, limit: int
    ) -> list[Item]:
        found: list[Item] = []
        for row in self._connection.execute(statement.order_by(_chunks.first_id)):
            if len(found) >= limit and row.first_id > found[limit - 1][0]:
                break
            found = sorted([*found, *_items(trial_id, row, archive, after_id)], key=lambda item: item[0])[:limit]
        return found


class _Archive:
    """Answers whether a report was replaced by a later run of its trial."""

    def __init__(self, heads: Sequence[Head]) -> None:
        groups = {head.group for head in heads}
        self._cutoffs = {group: cutoffs(head for head in heads if head.group == group) for group in groups}

    def holds(self, group: str, run_id: int, steps: int) -> bool:
        return is_archived(steps, self._cutoffs[group][run_id])


def _items(trial_id: int, row: Row[Any], archive: _Archive, after_id: int) -> Iterator[Item]:
    for entry in entries(decode(row.payload)):
        if entry.id > after_id:
            report = report_of(entry, trial_id=trial_id, run_id=row.run_id, group=row.group)
            yield entry.id, report, archive.holds(row.group, row.run_id, entry.steps)
