"""The best and the latest report of many trials at once, for lists of trials."""

from collections.abc import Sequence

import numpy as np
from sqlalchemy import Connection

from resolute.domain.metric import Highlights, MetricReport
from resolute.store.db.metric_series import FEW, Row, chunks_of, group_heads
from resolute.store.metrics.chunk import decode, decode_points, entry_at, report_of
from resolute.store.metrics.supersede import Head, cutoffs


def short_highlights(
    connection: Connection, trial_ids: Sequence[int], group: str, name: str, *, smaller_is_better: bool
) -> tuple[dict[int, Highlights], list[int]]:
    """For trials with few reports by one statement; the ids of the others are returned beside them."""
    heads = group_heads(connection, trial_ids, group)
    short = {trial_id for trial_id, own in heads.items() if sum(head.count for head in own) <= FEW}
    rows = chunks_of(connection, sorted(short), group)
    found = {
        trial_id: Highlights(
            best=_best(trial_id, group, name, heads[trial_id], rows[trial_id], sign=1.0 if smaller_is_better else -1.0),
            latest=_latest(trial_id, group, heads[trial_id], rows[trial_id]),
        )
        for trial_id in short
    }
    return found, [trial_id for trial_id in heads if trial_id not in short]


def _best(
    trial_id: int, group: str, name: str, heads: Sequence[Head], rows: Sequence[Row], *, sign: float
) -> MetricReport | None:
    """The least cost, and among equals the earliest step."""
    limits = cutoffs(heads)
    least: tuple[float, int] | None = None
    holder: Row | None = None
    for row in rows:
        cost = _least_cost(row, name, limits[row[1]], sign)
        if cost is not None and (least is None or cost < least):
            least, holder = cost, row
    if least is None or holder is None:
        return None
    return _report(holder, least[1], trial_id, group)


def _least_cost(row: Row, name: str, cutoff: int | None, sign: float) -> tuple[float, int] | None:
    points = decode_points(row[2], name)
    if points is None:
        return None
    _, steps, _, values = points
    live = ~np.isnan(values)
    if cutoff is not None:
        live &= steps < cutoff
    if not live.any():
        return None
    costs = np.where(live, sign * values, np.inf)
    place = int(np.argmin(costs))
    if not live[place]:  # all that is left is infinitely bad
        place = int(np.flatnonzero(live)[0])
    return float(costs[place]), int(steps[place])


def _latest(trial_id: int, group: str, heads: Sequence[Head], rows: Sequence[Row]) -> MetricReport | None:
    # Whatever older runs reported beyond the newest one's first step is archived.
    newest = max(heads, key=lambda head: head.run_id)
    for row in reversed(rows):
        if row[1] == newest.run_id:
            report = _report(row, newest.last_steps, trial_id, group)
            if report is not None:
                return report
    return None


def _report(row: Row, steps: int, trial_id: int, group: str) -> MetricReport | None:
    entry = entry_at(decode(row[2]), steps)
    return None if entry is None else report_of(entry, trial_id=trial_id, run_id=row[1], group=group)
