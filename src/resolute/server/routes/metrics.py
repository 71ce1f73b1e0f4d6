"""Metrics to look at: thinned series for charts, comparisons, names, and streams of every report."""

from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any

from fastapi import Query
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from resolute.domain import needs
from resolute.domain.metric import TRAINING, VALIDATION, Series
from resolute.domain.rights import Permission
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.ports.queries import TrialQuery
from resolute.server.auth import Caller, PlatformOf, Principal
from resolute.server.nested_series import SEPARATOR, nested_series
from resolute.server.resource import Resource
from resolute.server.shapes.metrics import downsampled, report_line, series_message
from resolute.server.shapes.trials import TrialView, trial_message
from resolute.server.state import ServerState, StateOf
from resolute.server.streams import stream, stream_sync
from resolute.server.views import trial_views
from resolute.spec.wire import enums
from resolute.spec.wire import metrics as wire
from resolute.spec.wire import trials as wire_trials
from resolute.spec.wire.base import json_number, to_rfc3339

router = Resource(tags=["metrics"])

_LINES_A_BATCH = 500
_MAX_POINTS = 10_000
Names = Annotated[list[str], Query(alias="name", description="Metric names; none: all.")]
Points = Annotated[int, Query(alias="maxPoints", ge=1, le=_MAX_POINTS)]
Since = Annotated[int | None, Query(description="Only points after this many steps.")]
Period = Annotated[int, Query(alias="periodSeconds")]


# ---------------------------------------------------------------------------------------------------------- series


@router.get("/api/v1/trials/{trial_id}/series", needs=needs.VIEW_EXPERIMENT.or_own_task)
def get_trial_series(
    trial_id: int,
    platform: PlatformOf,
    group: Annotated[list[str], Query()] = [],  # noqa: B006
    name: Names = [],  # noqa: B006
    max_points: Points = 1000,
    since: Since = None,
) -> wire.SeriesResponse:
    """Several metrics at once, each thinned to `maxPoints` so that peaks stay. `a.b` is `b` inside the metric `a`."""
    with platform.store.read() as tx:
        tx.trials.get(trial_id)
        series = _series_of(tx, [trial_id], group, name, max_points, since)
    return wire.SeriesResponse(series=[series_message(each) for each in series])


@router.get("/api/v1/experiments/{experiment_id}/series", needs=needs.VIEW_EXPERIMENT.or_own_task)
def get_experiment_series(
    experiment_id: int,
    platform: PlatformOf,
    caller: Caller,
    group: Annotated[list[str], Query()] = [],  # noqa: B006
    name: Names = [],  # noqa: B006
    max_points: Points = 500,
    max_trials: Annotated[int, Query(alias="maxTrials", ge=1, le=1000)] = 100,
    since: Since = None,
    trial_ids: Annotated[list[int], Query(alias="trialIds")] = [],  # noqa: B006
) -> wire.SeriesResponse:
    """The same metrics of many trials: the given ones, or the best."""
    with platform.store.read() as tx:
        tx.experiments.get(experiment_id)
        _check_seen(tx, caller, trial_ids)
        ids = trial_ids or _best_trials(tx, experiment_id, max_trials)
        series = _series_of(tx, ids, group, name, max_points, since)
    return wire.SeriesResponse(series=[series_message(each) for each in series])


def _series_of(
    tx: Transaction, trial_ids: list[int], groups: list[str], names: list[str], max_points: int, since: int | None
) -> list[Series]:
    known: dict[str, list[str]] = {}
    for group, name in tx.metrics.names(trial_ids):
        if (not groups or group in groups) and (not names or name in names):
            known.setdefault(group, []).append(name)
    found = [
        tx.metrics.series_of(trial_ids, group, own, max_points=max_points, since_steps=since)
        for group, own in known.items()
    ]
    for group in groups if len(trial_ids) == 1 else ():
        nested = [name for name in names if SEPARATOR in name and name not in known.get(group, [])]
        if nested:
            found.append(nested_series(tx, trial_ids[0], group, nested, max_points=max_points, since_steps=since))
    place = {trial_id: position for position, trial_id in enumerate(trial_ids)}
    return sorted((series for some in found for series in some), key=lambda series: place[series.trial_id])


def _best_trials(tx: Transaction, experiment_id: int, limit: int) -> list[int]:
    found = tx.trials.search(TrialQuery(experiment_id=experiment_id, sort_by="best_metric")).items
    return [trial.id for trial in found[:limit]]


@router.get("/api/v1/trials/time-series", needs=needs.VIEW_EXPERIMENT.in_body)
def compare_trials(
    platform: PlatformOf,
    caller: Caller,
    trial_ids: Annotated[list[int], Query(alias="trialIds")] = [],  # noqa: B006
    max_datapoints: Annotated[int, Query(alias="maxDatapoints")] = 1000,
    metric_names: Annotated[list[str], Query(alias="metricNames")] = [],  # noqa: B006
    metric_ids: Annotated[list[str], Query(alias="metricIds")] = [],  # noqa: B006
    group: str = "",
    metric_type: Annotated[enums.MetricType, Query(alias="metricType")] = enums.MetricType.UNSPECIFIED,
    start_batches: Annotated[int, Query(alias="startBatches")] = 0,
    end_batches: Annotated[int, Query(alias="endBatches")] = 0,
) -> wire_trials.CompareTrialsResponse:
    """Thinned metrics of several trials. `metricIds` are `group.name`."""
    points = max_datapoints if 0 < max_datapoints <= _MAX_POINTS else 1000
    wanted = group or {enums.MetricType.TRAINING: TRAINING, enums.MetricType.VALIDATION: VALIDATION}.get(
        metric_type, ""
    )
    compared = []
    with platform.store.read() as tx:
        _check_seen(tx, caller, trial_ids)
        views = trial_views(tx, [tx.trials.get(trial_id) for trial_id in trial_ids])
        for view in views:
            series = [
                tx.metrics.series(
                    view.trial.id,
                    found_group,
                    name,
                    max_points=points,
                    since_steps=start_batches - 1 if start_batches > 0 else None,
                    until_steps=end_batches if end_batches > 0 else None,
                )
                for found_group, name in tx.metrics.names([view.trial.id])
                if _is_wanted(found_group, name, wanted, metric_names, metric_ids)
            ]
            compared.append(_comparable(platform, view, series))
    return wire_trials.CompareTrialsResponse(trials=compared)


def _is_wanted(group: str, name: str, wanted: str, names: list[str], ids: list[str]) -> bool:
    if ids:
        return f"{group}.{name}" in ids
    return (not wanted or group == wanted) and (not names or name in names)


def _comparable(platform: Platform, view: TrialView, series: list[Series]) -> wire_trials.ComparableTrial:
    message = trial_message(view, now=platform.clock())
    return wire_trials.ComparableTrial(trial=message, metrics=downsampled(series))


# --------------------------------------------------------------------------------------------- streams of reports


@router.get(
    "/api/v1/trials/metrics/trial_metrics",
    needs=needs.VIEW_EXPERIMENT.in_body,
    responses={200: {"model": wire.GetMetricsResponse}},
)
def get_metrics(
    platform: PlatformOf,
    caller: Caller,
    trial_ids: Annotated[list[int], Query(alias="trialIds")] = [],  # noqa: B006
    group: str = "",
) -> StreamingResponse:
    """Every report of the trials, one JSON object per line."""
    return _stream_reports(platform, caller, trial_ids, group or None)


@router.get(
    "/api/v1/trials/metrics/training_metrics",
    needs=needs.VIEW_EXPERIMENT.in_body,
    responses={200: {"model": wire.GetMetricsResponse}},
)
def get_training_metrics(
    platform: PlatformOf,
    caller: Caller,
    trial_ids: Annotated[list[int], Query(alias="trialIds")] = [],  # noqa: B006
) -> StreamingResponse:
    return _stream_reports(platform, caller, trial_ids, TRAINING)


@router.get(
    "/api/v1/trials/metrics/validation_metrics",
    needs=needs.VIEW_EXPERIMENT.in_body,
    responses={200: {"model": wire.GetMetricsResponse}},
)
def get_validation_metrics(
    platform: PlatformOf,
    caller: Caller,
    trial_ids: Annotated[list[int], Query(alias="trialIds")] = [],  # noqa: B006
) -> StreamingResponse:
    return _stream_reports(platform, caller, trial_ids, VALIDATION)


def _check_seen(tx: Transaction, caller: Principal, trial_ids: list[int]) -> None:
    for trial_id in trial_ids:
        caller.check(tx, Permission.VIEW_EXPERIMENT_METADATA, "trial_id", trial_id)


def _stream_reports(
    platform: Platform, caller: Principal, trial_ids: list[int], group: str | None
) -> StreamingResponse:
    with platform.store.read() as tx:
        _check_seen(tx, caller, trial_ids)
        for trial_id in trial_ids:
            tx.trials.get(trial_id)
    return stream_sync(_report_batches(platform, sorted(trial_ids), group))


def _report_batches(platform: Platform, trial_ids: list[int], group: str | None) -> Iterator[list[dict[str, Any]]]:
    for trial_id in trial_ids:
        with platform.store.read() as tx:
            lines = [report_line(*found) for found in tx.metrics.reports(trial_id, group=group)]
        for start in range(0, len(lines), _LINES_A_BATCH):
            yield [{"metrics": lines[start : start + _LINES_A_BATCH]}]


# ---------------------------------------------------------------------------------- streams that charts follow


@router.get(
    "/api/v1/experiments/metrics-stream/metric-names",
    needs=needs.VIEW_EXPERIMENT.in_body,
    responses={200: {"model": wire.ExpMetricNamesResponse}},
)
async def exp_metric_names(
    platform: PlatformOf,
    caller: Caller,
    state: StateOf,
    ids: Annotated[list[int], Query()] = [],  # noqa: B006
    period_seconds: Period = 0,
) -> StreamingResponse:
    """Names of the metrics that experiments have reported; repeated when they change."""
    topics = [f"experiment/{each}" for each in ids]
    await run_in_threadpool(_check_experiments, platform, caller, ids)
    return stream(_changes(state, topics, period_seconds, lambda: _metric_names(platform, ids)))


def _check_experiments(platform: Platform, caller: Principal, ids: list[int]) -> None:
    with platform.store.read() as tx:
        for experiment_id in ids:
            caller.check(tx, Permission.VIEW_EXPERIMENT_METADATA, "experiment_id", experiment_id)


def _metric_names(platform: Platform, ids: list[int]) -> dict[str, Any]:
    with platform.store.read() as tx:
        searchers = sorted({tx.experiments.get(each).searcher_metric for each in ids})
        trials = [trial.id for each in ids for trial in tx.trials.of_experiment(each)]
        names = tx.metrics.names(trials)
    return {
        "searcherMetrics": searchers,
        "trainingMetrics": sorted({name for group, name in names if group == TRAINING}),
        "validationMetrics": sorted({name for group, name in names if group == VALIDATION}),
        "metricNames": [{"group": group, "name": name} for group, name in names],
    }


@router.get(
    "/api/v1/experiments/{experiment_id}/metrics-stream/batches",
    needs=needs.VIEW_EXPERIMENT.or_own_task,
    responses={200: {"model": wire.MetricBatchesResponse}},
)
async def metric_batches(
    experiment_id: int,
    platform: PlatformOf,
    state: StateOf,
    metric_name: Annotated[str, Query(alias="metricName")],
    group: str = VALIDATION,
    period_seconds: Period = 0,
) -> StreamingResponse:
    """Steps at which a metric has been reported."""

    def batches() -> dict[str, Any]:
        with platform.store.read() as tx:
            trials = tx.trials.of_experiment(experiment_id)
            steps = {s for t in trials for s in tx.metrics.series(t.id, group, metric_name).steps}
        return {"batches": sorted(steps)}

    return stream(_changes(state, [f"experiment/{experiment_id}"], period_seconds, batches))


@router.get(
    "/api/v1/experiments/{experiment_id}/metrics-stream/trials-sample",
    needs=needs.VIEW_EXPERIMENT.or_own_task,
    responses={200: {"model": wire.TrialsSampleResponse}},
)
async def trials_sample(
    experiment_id: int,
    platform: PlatformOf,
    state: StateOf,
    metric_name: Annotated[str, Query(alias="metricName")],
    group: str = VALIDATION,
    max_trials: Annotated[int, Query(alias="maxTrials")] = 25,
    max_datapoints: Annotated[int, Query(alias="maxDatapoints")] = 1000,
    period_seconds: Period = 0,
) -> StreamingResponse:
    """Curves of the best trials, for a learning-curve chart."""
    known: set[int] = set()

    def sample() -> dict[str, Any]:
        with platform.store.read() as tx:
            ids = _best_trials(tx, experiment_id, max_trials if max_trials > 0 else 25)
            trials = [_sampled(tx, trial_id, group, metric_name, max_datapoints) for trial_id in ids]
        promoted, demoted = sorted(set(ids) - known), sorted(known - set(ids))
        known.clear()
        known.update(ids)
        return {"trials": trials, "promotedTrials": promoted, "demotedTrials": demoted}

    return stream(_changes(state, [f"experiment/{experiment_id}"], period_seconds, sample))


def _sampled(tx: Transaction, trial_id: int, group: str, name: str, points: int) -> dict[str, Any]:
    series = tx.metrics.series(trial_id, group, name, max_points=points if points > 0 else 1000)
    data = [point for metrics in downsampled([series]) for point in metrics.data]
    return {
        "trialId": trial_id,
        "hparams": tx.trials.get(trial_id).hparams,
        "data": [{"batches": p.batches, "time": to_rfc3339(p.time), "epoch": None, "values": p.values} for p in data],
    }


@router.get(
    "/api/v1/experiments/{experiment_id}/metrics-stream/trials-snapshot",
    needs=needs.VIEW_EXPERIMENT.or_own_task,
    responses={200: {"model": wire.TrialsSnapshotResponse}},
)
async def trials_snapshot(
    experiment_id: int,
    platform: PlatformOf,
    state: StateOf,
    metric_name: Annotated[str, Query(alias="metricName")],
    batches_processed: Annotated[int, Query(alias="batchesProcessed")],
    batches_margin: Annotated[int, Query(alias="batchesMargin")] = 100,
    group: str = VALIDATION,
    period_seconds: Period = 0,
) -> StreamingResponse:
    """Every trial's metric at about the same step, against its hyperparameters."""

    def snapshot() -> dict[str, Any]:
        with platform.store.read() as tx:
            trials = tx.trials.of_experiment(experiment_id)
            found = [(t, tx.metrics.series(t.id, group, metric_name)) for t in trials]
        rows = []
        for trial, series in found:
            near = [
                (abs(step - batches_processed), step, value)
                for step, value in zip(series.steps, series.values, strict=True)
                if abs(step - batches_processed) <= batches_margin
            ]
            if near:
                _, step, value = min(near, key=lambda each: each[0])
                row = {"trialId": trial.id, "hparams": trial.hparams, "batchesProcessed": step}
                rows.append({**row, "metric": json_number(value)})
        return {"trials": rows}

    return stream(_changes(state, [f"experiment/{experiment_id}"], period_seconds, snapshot))


async def _changes(
    state: ServerState, topics: list[str], period_s: int, look: Any
) -> AsyncIterator[list[dict[str, Any]]]:
    """What `look` returns: once, and again each time it has changed while the client listens."""
    last = None
    with state.watches.open(topics) as watch:
        while True:
            found = await run_in_threadpool(look)
            if found != last:
                yield [found]
                last = found
            if period_s <= 0 or watch.is_stopping:
                return
            await watch.wait(float(period_s))
