"""Metric reports, summaries and series as messages."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from resolute.domain.metric import TRAINING, VALIDATION, MetricReport, MetricSummary, Series
from resolute.domain.trial import SourceKind
from resolute.spec.wire import metrics as wire
from resolute.spec.wire.base import json_number, json_safe, to_rfc3339
from resolute.spec.wire.enums import MetricType, TrialSourceInfoType
from resolute.spec.wire.metrics import MetricsReport

# The keys clients index in `summaryMetrics` and in streamed reports; other groups use their own name.
_SUMMARY_KEYS = {TRAINING: "avg_metrics", VALIDATION: "validation_metrics"}
_TYPES = {TRAINING: MetricType.TRAINING, VALIDATION: MetricType.VALIDATION}


def metrics_message(report: MetricReport, *, with_batches: bool = False) -> wire.Metrics:
    batches = json_safe(report.batch_metrics) if with_batches and report.batch_metrics else None
    return wire.Metrics(avg_metrics=json_safe(report.metrics), batch_metrics=batches)


def report_line(number: int, report: MetricReport, archived: bool) -> dict[str, object]:
    """One report of a stream, as JSON values."""
    return {
        "trialId": report.trial_id,
        "trialRunId": report.run_id,
        "totalBatches": report.steps_completed,
        "endTime": to_rfc3339(report.report_time),
        "group": report.group,
        "id": number,
        "archived": archived,
        "metrics": {_SUMMARY_KEYS.get(report.group, "avg_metrics"): json_safe(report.metrics)},
    }


def report_message(number: int, report: MetricReport, archived: bool) -> MetricsReport:
    return MetricsReport.model_validate(report_line(number, report, archived))


def source_kind(kind: TrialSourceInfoType | None) -> SourceKind | None:
    """None: of every kind."""
    if kind is None or kind is TrialSourceInfoType.UNSPECIFIED:
        return None
    return SourceKind(kind.removeprefix("TRIAL_SOURCE_INFO_TYPE_"))


def summary_metrics(summaries: Iterable[MetricSummary]) -> Mapping[str, object]:
    """Per group and metric: count, sum, min, max, mean, last and type."""
    groups: dict[str, dict[str, object]] = {}
    for summary in summaries:
        values = {"count": summary.count, "last": summary.last, "type": summary.type}
        if summary.type == "number":
            values |= {"sum": summary.total, "min": summary.min, "max": summary.max, "mean": summary.mean}
        key = _SUMMARY_KEYS.get(summary.group, summary.group)
        groups.setdefault(key, {})[summary.name] = json_safe(values)
    return groups


def series_message(series: Series) -> wire.MetricSeries:
    return wire.MetricSeries(
        trial_id=series.trial_id,
        group=series.group,
        name=series.name,
        steps=series.steps,
        values=series.values,
        times=series.times,
        total_points=series.total_points,
    )


def downsampled(series: Iterable[Series]) -> list[wire.DownsampledMetrics]:
    """Series of one trial, joined by step within a group."""
    groups: dict[str, dict[int, wire.DataPoint]] = {}
    for each in series:
        points = groups.setdefault(each.group, {})
        for step, value, moment in zip(each.steps, each.values, each.times, strict=True):
            point = points.get(step)
            if point is None:
                when = datetime.fromtimestamp(moment, UTC)
                point = points[step] = wire.DataPoint(batches=step, time=when, values={})
            point.values[each.name] = json_number(value)
    return [
        wire.DownsampledMetrics(
            data=[points[step] for step in sorted(points)],
            type=_TYPES.get(group, MetricType.UNSPECIFIED),
            group=group,
        )
        for group, points in groups.items()
    ]
