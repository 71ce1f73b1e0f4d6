"""What a running trial sends: metrics, progress, state, early exit, metadata.

Metric reports are the hot path: bodies are parsed by msgspec straight into what the engine stores, and the answer comes
when they are durable.
"""

import json
import math
from datetime import datetime
from typing import Annotated, Any

import msgspec
from fastapi import Body, Request, Response
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool

from resolute.domain import needs
from resolute.domain.errors import InvalidInput
from resolute.domain.metric import TRAINING, VALIDATION, MetricReport
from resolute.domain.rights import Permission
from resolute.engine.platform import Platform
from resolute.engine.trials import reports as engine
from resolute.engine.trials import running as trials
from resolute.server.auth import Caller, PlatformOf
from resolute.server.resource import Resource
from resolute.spec.wire import metrics as wire_metrics
from resolute.spec.wire import trials as wire
from resolute.spec.wire.base import Empty, parse_number

router = Resource(tags=["reports"])

_DONE = b"{}"
_PLAIN = frozenset({float, int})


class _Metrics(msgspec.Struct, rename="camel"):
    avg_metrics: dict[str, Any]
    batch_metrics: list[dict[str, Any]] | None = None


class _TrialMetrics(msgspec.Struct, rename="camel"):
    metrics: _Metrics
    trial_run_id: int = 0
    steps_completed: int | None = None
    report_time: datetime | None = None


class _Report(msgspec.Struct):
    group: str
    metrics: _TrialMetrics


class _OneOfBatch(msgspec.Struct, rename="camel"):
    group: str
    metrics: _Metrics
    steps_completed: int = 0
    trial_run_id: int = 0
    report_time: datetime | None = None


class _Batch(msgspec.Struct):
    reports: list[_OneOfBatch]


_decode_report = msgspec.json.Decoder(_Report).decode
_decode_batch = msgspec.json.Decoder(_Batch).decode


def _body_of(model: type[Any]) -> dict[str, Any]:
    """Documents a body that the route parses itself."""
    schema = {"$ref": f"#/components/schemas/{model.__name__}"}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


# Before the route with a trial's id in the same place.
@router.post("/api/v1/trials/profiler/metrics", needs=needs.ANY_TASK)
def post_trial_profiler_metrics_batch() -> Empty:
    """Accepted and dropped: current clients report profiling through metric groups."""
    return Empty()


@router.post(
    "/api/v1/trials/{trial_id}/metrics",
    needs=needs.REPORT.or_own_task,
    response_model=Empty,
    openapi_extra=_body_of(wire_metrics.ReportTrialMetricsRequest),
)
async def report_trial_metrics(trial_id: int, request: Request, platform: PlatformOf) -> Response:
    body = _decoded(_decode_report, await request.body())
    given = body.metrics
    report = MetricReport(
        trial_id=trial_id,
        run_id=given.trial_run_id,
        group=body.group,
        steps_completed=given.steps_completed or 0,
        is_stepless=given.steps_completed is None,
        report_time=given.report_time or platform.clock(),
        metrics=_numbers(given.metrics.avg_metrics),
        batch_metrics=_batches(given.metrics),
    )
    await run_in_threadpool(engine.report_metrics, platform, [report])
    return _done()


@router.post(
    "/api/v1/trials/{trial_id}/metrics/batch",
    needs=needs.REPORT.or_own_task,
    response_model=Empty,
    openapi_extra=_body_of(wire_metrics.ReportMetricsBatchRequest),
)
async def report_metrics_batch(trial_id: int, request: Request, platform: PlatformOf) -> Response:
    """Many reports in one durable write; all are stored or none."""
    await run_in_threadpool(_store_batch, platform, trial_id, await request.body())
    return _done()


def _store_batch(platform: Platform, trial_id: int, content: bytes) -> None:
    """Off the event loop: a large batch takes milliseconds to parse."""
    now = platform.clock()
    reports = [
        MetricReport(
            trial_id=trial_id,
            run_id=each.trial_run_id,
            group=each.group,
            steps_completed=each.steps_completed,
            report_time=each.report_time or now,
            metrics=_numbers(each.metrics.avg_metrics),
            batch_metrics=_batches(each.metrics),
        )
        for each in _decoded(_decode_batch, content).reports
    ]
    engine.report_metrics(platform, reports)


@router.post("/api/v1/trials/{trial_id}/training_metrics", needs=needs.REPORT.or_own_task)
def report_trial_training_metrics(trial_id: int, body: wire_metrics.TrialMetrics, platform: PlatformOf) -> Empty:
    engine.report_metrics(platform, [_old_report(trial_id, TRAINING, body, platform.clock())])
    return Empty()


@router.post("/api/v1/trials/{trial_id}/validation_metrics", needs=needs.REPORT.or_own_task)
def report_trial_validation_metrics(trial_id: int, body: wire_metrics.TrialMetrics, platform: PlatformOf) -> Empty:
    engine.report_metrics(platform, [_old_report(trial_id, VALIDATION, body, platform.clock())])
    return Empty()


def _old_report(trial_id: int, group: str, body: wire_metrics.TrialMetrics, now: datetime) -> MetricReport:
    return MetricReport(
        trial_id=trial_id,
        run_id=body.trial_run_id,
        group=group,
        steps_completed=body.steps_completed or 0,
        is_stepless=body.steps_completed is None,
        report_time=body.report_time or now,
        metrics=_numbers(body.metrics.avg_metrics),
        batch_metrics=body.metrics.batch_metrics,
    )


def _decoded(decode: Any, content: bytes) -> Any:
    try:
        return decode(content)
    except msgspec.ValidationError as error:
        raise InvalidInput(f"The report was refused: {error}.") from error
    except msgspec.DecodeError:
        return _decoded_leniently(decode, content)


def _decoded_leniently(decode: Any, content: bytes) -> Any:
    """Some clients write NaN and Infinity as bare words, which is not JSON: read them the slow way."""
    try:
        value = json.loads(content, parse_constant=lambda name: name)
        return decode(json.dumps(value).encode())
    except (ValueError, msgspec.MsgspecError) as error:
        raise InvalidInput(f"The report is not JSON: {error}.") from error


def _batches(metrics: _Metrics) -> list[dict[str, Any]] | None:
    return [_numbers(batch) for batch in metrics.batch_metrics] if metrics.batch_metrics else None


def _numbers(metrics: dict[str, Any]) -> dict[str, Any]:
    """Spelled-out NaN and infinities as numbers, at any depth. Most reports have none and pass through."""
    if _PLAIN.issuperset(map(type, metrics.values())):
        return metrics
    return {name: _number(value) for name, value in metrics.items()}


def _number(value: Any) -> Any:
    if isinstance(value, str):
        parsed = parse_number(value)
        return parsed if isinstance(parsed, float) and not math.isfinite(parsed) else value
    if isinstance(value, dict):
        return {name: _number(each) for name, each in value.items()}
    return value


def _done() -> Response:
    return Response(_DONE, media_type="application/json")


# --------------------------------------------------------------------------------------------- the rest of a trial


@router.post(
    "/api/v1/trials/{trial_id}/progress",
    needs=needs.REPORT.or_own_task,
    openapi_extra=_body_of(wire.ReportTrialProgressRequest),
)
def report_trial_progress(trial_id: int, body: Annotated[Any, Body()], platform: PlatformOf) -> Empty:
    """A share from 0 to 1 with `isRaw`; older clients send a bare number in units of the searcher's length."""
    if isinstance(body, int | float):
        trials.report_progress(platform, trial_id, float(body), raw=False)
        return Empty()
    try:
        given = wire.ReportTrialProgressRequest.model_validate(body)
    except ValidationError as error:
        raise InvalidInput(
            f"progress: send {{'progress': 0.5, 'isRaw': true}} or a number, got {body!r:.80}."
        ) from error
    trials.report_progress(platform, trial_id, given.progress, raw=given.is_raw)
    return Empty()


@router.post("/api/v1/trials/{trial_id}/early_exit", needs=needs.REPORT.or_own_task)
def report_trial_searcher_early_exit(trial_id: int, body: wire.TrialEarlyExit, platform: PlatformOf) -> Empty:
    reason = str(body.reason).replace("INIT_INVALID_HP", "INVALID_HP")
    trials.report_early_exit(platform, trial_id, reason)
    return Empty()


@router.post("/api/v1/trials/{trial_id}/runner/metadata", needs=needs.REPORT.or_own_task)
def post_trial_runner_metadata(trial_id: int, body: wire.TrialRunnerMetadata, platform: PlatformOf) -> Empty:
    trials.set_runner_state(platform, trial_id, body.state)
    return Empty()


@router.get("/api/v1/trials/{trial_id}/searcher/operation", needs=needs.VIEW_EXPERIMENT.or_own_task)
def get_current_trial_searcher_operation(
    trial_id: int, platform: PlatformOf
) -> wire.GetCurrentTrialSearcherOperationResponse:
    """For trial runtimes of the 0.21 line, which train as far as they are told."""
    operation = trials.next_operation(platform, trial_id)
    return wire.GetCurrentTrialSearcherOperationResponse(
        op=wire.SearcherOperation(validate_after=wire.ValidateAfterOperation(length=operation.length)),
        completed=operation.is_completed,
    )


@router.post("/api/v1/trials/{trial_id}/searcher/completed_operation", needs=needs.REPORT.or_own_task)
def complete_trial_searcher_validation(trial_id: int, body: wire.CompleteValidateAfterOperation) -> Empty:
    """Accepted: the searcher has already been told by the validation itself."""
    return Empty()


@router.post("/api/v1/runs/start", needs=needs.REPORT.in_body.or_any_task)
def run_prepare_for_reporting(
    body: wire.RunPrepareForReportingRequest, platform: PlatformOf, caller: Caller
) -> wire.RunPrepareForReportingResponse:
    caller.require("run_id", body.run_id)
    with platform.store.read() as tx:
        caller.check(tx, Permission.REPORT_FOR_TASK, "run_id", tx.trials.get(body.run_id).id)
    return wire.RunPrepareForReportingResponse()


@router.get("/api/v1/runs/{run_id}/metadata", needs=needs.VIEW_EXPERIMENT.or_own_task)
def get_run_metadata(run_id: int, platform: PlatformOf) -> wire.RunMetadataResponse:
    with platform.store.read() as tx:
        return wire.RunMetadataResponse(metadata=tx.trials.get(run_id).metadata or {})


@router.post("/api/v1/runs/{run_id}/metadata", needs=needs.DESCRIBE_EXPERIMENT.or_own_task)
def post_run_metadata(run_id: int, body: wire.PostRunMetadataRequest, platform: PlatformOf) -> wire.RunMetadataResponse:
    return wire.RunMetadataResponse(metadata=trials.set_metadata(platform, run_id, body.metadata))
