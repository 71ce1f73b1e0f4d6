"""Metrics to look at: thinned series for charts, comparisons, names, and streams of every report."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Annotated

from fastapi import Query
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from resolute.domain import needs
from resolute.domain.metric import TRAINING, VALIDATION, Series
from resolute.domain.rights import Permission
from resolute.domain.trial import Trial
from resolute.engine.platform import Platform
from resolute.engine.trials import curves
from resolute.engine.trials.curves import (
    MAX_POINTS,
    CurveQuery,
    best_curves,
    curves_of,
    experiment_curves,
    metric_names,
    points_near,
    reported_steps,
    trial_curves,
)
from resolute.server.auth import Caller, PlatformOf, Principal
from resolute.server.resource import Resource
from resolute.server.shapes.metrics import downsampled, report_line, series_message
from resolute.server.shapes.trials import trial_message
from resolute.server.state import ServerState, StateOf
from resolute.server.streams import stream, stream_sync
from resolute.spec.wire import enums
from resolute.spec.wire import metrics as wire
from resolute.spec.wire import trials as wire_trials
from resolute.spec.wire.base import json_number, to_rfc3339

router = Resource(tags=["metrics"])

_LINES_A_BATCH = 500
Json = dict[str, object]
Names = Annotated[list[str], Query(alias="name", description="Metric names; none: all.")]
Points = Annotated[int, Query(alias="maxPoints", ge=1, le=MAX_POINTS)]
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
    query = CurveQuery(groups=tuple(group), names=tuple(name), max_points=max_points, since=since)
    series = trial_curves(platform, trial_id, query)
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
    _check_trials(platform, caller, trial_ids)
    query = CurveQuery(groups=tuple(group), names=tuple(name), max_points=max_points, since=since)
    series = experiment_curves(platform, experiment_id, query, trial_ids=trial_ids, max_trials=max_trials)
    return wire.SeriesResponse(series=[series_message(each) for each in series])


@router.get("/api/v1/trials/series", needs=needs.VIEW_EXPERIMENT.in_body)
def get_series_of_trials(
    platform: PlatformOf,
    caller: Caller,
    trial_ids: Annotated[list[int], Query(alias="trialIds", min_length=1, max_length=1000)],
    group: Annotated[list[str], Query()] = [],  # noqa: B006
    name: Names = [],  # noqa: B006
    max_points: Points = 1000,
    since: Since = None,
    until: Annotated[int | None, Query(description="Only points up to this many steps.")] = None,
) -> wire.SeriesResponse:
    """The same metrics of trials of any experiments, each thinned to `maxPoints` between `since` and `until`."""
    _check_trials(platform, caller, trial_ids)
    query = CurveQuery(groups=tuple(group), names=tuple(name), max_points=max_points, since=since, until=until)
    return wire.SeriesResponse(series=[series_message(each) for each in curves_of(platform, trial_ids, query)])


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
    _check_trials(platform, caller, trial_ids)
    wanted = group or _GROUP_OF_TYPE.get(metric_type, "")
    compared = curves.compare_trials(
        platform,
        trial_ids,
        lambda group, name: _is_wanted(group, name, wanted, metric_names, metric_ids),
        max_points=max_datapoints if 0 < max_datapoints <= MAX_POINTS else 1000,
        since=start_batches - 1 if start_batches > 0 else None,
        until=end_batches if end_batches > 0 else None,
    )
    now = platform.clock()
    return wire_trials.CompareTrialsResponse(
        trials=[
            wire_trials.ComparableTrial(trial=trial_message(each.view, now=now), metrics=downsampled(each.series))
            for each in compared
        ]
    )


_GROUP_OF_TYPE = {enums.MetricType.TRAINING: TRAINING, enums.MetricType.VALIDATION: VALIDATION}


def _is_wanted(group: str, name: str, wanted: str, names: list[str], ids: list[str]) -> bool:
    if ids:
        return f"{group}.{name}" in ids
    return (not wanted or group == wanted) and (not names or name in names)


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


def _check_trials(platform: Platform, caller: Principal, trial_ids: list[int]) -> None:
    with platform.store.read() as tx:
        for trial_id in trial_ids:
            caller.check(tx, Permission.VIEW_EXPERIMENT_METADATA, "trial_id", trial_id)


def _stream_reports(
    platform: Platform, caller: Principal, trial_ids: list[int], group: str | None
) -> StreamingResponse:
    _check_trials(platform, caller, trial_ids)
    with platform.store.read() as tx:
        for trial_id in trial_ids:
            tx.trials.get(trial_id)
    return stream_sync(_report_batches(platform, sorted(trial_ids), group))


def _report_batches(platform: Platform, trial_ids: list[int], group: str | None) -> Iterator[list[Json]]:
    for trial_id in trial_ids:
        with platform.store.read() as tx:
            reports = tx.metrics.reports(trial_id, group=group)
            # What a later run of the trial reported anew is not told twice.
            lines = [report_line(*found) for found in reports if not found[2]]
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


def _metric_names(platform: Platform, ids: list[int]) -> Json:
    found = metric_names(platform, ids)
    return {
        "searcherMetrics": found.searcher_metrics,
        "trainingMetrics": found.training,
        "validationMetrics": found.validation,
        "metricNames": [{"group": group, "name": name} for group, name in found.metrics],
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

    def batches() -> Json:
        return {"batches": reported_steps(platform, experiment_id, group, metric_name)}

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

    def sample() -> Json:
        best = best_curves(
            platform,
            experiment_id,
            group,
            metric_name,
            max_trials=max_trials if max_trials > 0 else 25,
            max_points=max_datapoints if max_datapoints > 0 else 1000,
        )
        ids = {trial.id for trial, _ in best}
        promoted, demoted = sorted(ids - known), sorted(known - ids)
        known.clear()
        known.update(ids)
        trials = [_sampled(trial, series) for trial, series in best]
        return {"trials": trials, "promotedTrials": promoted, "demotedTrials": demoted}

    return stream(_changes(state, [f"experiment/{experiment_id}"], period_seconds, sample))


def _sampled(trial: Trial, series: Series) -> Json:
    data = [point for metrics in downsampled([series]) for point in metrics.data]
    return {
        "trialId": trial.id,
        "hparams": trial.hparams,
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

    def snapshot() -> Json:
        near = points_near(platform, experiment_id, group, metric_name, steps=batches_processed, margin=batches_margin)
        rows = [
            {
                "trialId": point.trial.id,
                "hparams": point.trial.hparams,
                "batchesProcessed": point.steps,
                "metric": json_number(point.value),
            }
            for point in near
        ]
        return {"trials": rows}

    return stream(_changes(state, [f"experiment/{experiment_id}"], period_seconds, snapshot))


async def _changes(
    state: ServerState, topics: list[str], period_s: int, look: Callable[[], Json]
) -> AsyncIterator[list[Json]]:
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
