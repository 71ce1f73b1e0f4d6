"""Series of values inside nested metrics, such as `node.cpu_util` of a profiler's samples.

The store keeps numbers at the top of a report as columns and everything else as it came. Nested values are samples of a
machine, one a second at most, so reading their reports is cheap enough. It must not be used for training metrics.
"""

from collections.abc import Sequence

import numpy as np

from resolute.domain.metric import MetricReport, Series
from resolute.engine.ports.database import Transaction
from resolute.engine.thinning import thin

SEPARATOR = "."


def nested_series(
    tx: Transaction,
    trial_id: int,
    group: str,
    names: Sequence[str],
    *,
    max_points: int,
    since_steps: int | None,
    until_steps: int | None = None,
) -> list[Series]:
    """One a name that has a number somewhere; names are paths joined by dots."""
    reports = [
        report
        for _, report, archived in tx.metrics.reports(trial_id, group=group)
        if not archived
        and (since_steps is None or report.steps_completed > since_steps)
        and (until_steps is None or report.steps_completed <= until_steps)
    ]
    found = [_series(reports, trial_id, group, name, max_points) for name in names]
    return [series for series in found if series.steps]


def _series(reports: Sequence[MetricReport], trial_id: int, group: str, name: str, max_points: int) -> Series:
    path = name.split(SEPARATOR)
    points = [(report, value) for report in reports if (value := _inside(report.metrics, path)) is not None]
    values = np.array([value for _, value in points], dtype=np.float64)
    kept = [points[position] for position in thin(values, max_points).tolist()]
    return Series(
        trial_id=trial_id,
        group=group,
        name=name,
        steps=[report.steps_completed for report, _ in kept],
        values=[float(value) for _, value in kept],
        times=[report.report_time.timestamp() for report, _ in kept],
        total_points=len(points),
    )


def _inside(metrics: object, path: Sequence[str]) -> float | None:
    """A key may hold dots itself (a host's name): the longest one that is there is followed."""
    if not path:
        return metrics if isinstance(metrics, int | float) and not isinstance(metrics, bool) else None
    if not isinstance(metrics, dict):
        return None
    for length in range(len(path), 0, -1):
        key = SEPARATOR.join(path[:length])
        if key in metrics:
            return _inside(metrics[key], path[length:])
    return None
