"""Checkpoints: reported by trials, listed, downloaded, deleted."""

import mimetypes
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import StreamingResponse

from resolute.domain import needs
from resolute.domain.checkpoint import Checkpoint, CheckpointState
from resolute.domain.errors import CheckpointDamaged, IllegalTransition, InvalidInput, NotFound
from resolute.domain.retention import RetentionPolicy
from resolute.domain.rights import Permission
from resolute.domain.trial import TrialSource
from resolute.engine.experiments import collection
from resolute.engine.platform import Platform
from resolute.engine.ports.blobs import Blobs
from resolute.engine.ports.queries import CheckpointQuery
from resolute.engine.trials.reports import describe_checkpoint
from resolute.engine.trials.reports import report_checkpoint as record_checkpoint
from resolute.engine.trials.sources import metrics_of, report_source
from resolute.server.archives import FORMATS
from resolute.server.auth import Caller, PlatformOf, Principal
from resolute.server.paging import Order, PageParams, Paging, pagination
from resolute.server.resource import Resource
from resolute.server.shapes.checkpoints import checkpoint_message, previewed
from resolute.server.shapes.metrics import report_message, source_kind
from resolute.spec.wire import checkpoints as wire
from resolute.spec.wire import enums
from resolute.spec.wire.base import Empty
from resolute.spec.wire.metrics import GetMetricsResponse

router = Resource(tags=["checkpoints"])

SortBy = Annotated[enums.CheckpointSortBy | None, Query(alias="sortByAttr")]
OldSortBy = Annotated[enums.CheckpointSortBy | None, Query(alias="sortBy", description="Older name of sortByAttr.")]
SortMetric = Annotated[str, Query(alias="sortByMetric", description="A validation metric to sort by.")]
States = Annotated[list[enums.CheckpointState], Query()]
SourceType = Annotated[enums.TrialSourceInfoType | None, Query(alias="trialSourceInfoType")]
SourceGroup = Annotated[str | None, Query(alias="metricGroup", description="None: every group.")]
_SORT_FIELDS = {
    enums.CheckpointSortBy.UUID: "uuid",
    enums.CheckpointSortBy.TRIAL_ID: "trial_id",
    enums.CheckpointSortBy.BATCH_NUMBER: "steps_completed",
    enums.CheckpointSortBy.END_TIME: "report_time",
    enums.CheckpointSortBy.STATE: "state",
    enums.CheckpointSortBy.SEARCHER_METRIC: "searcher_metric",
}
_NAMED = 12
_READABLE = (CheckpointState.COMPLETED, CheckpointState.PARTIALLY_DELETED)


# ------------------------------------------------------------------------------------------------------------ look


@router.get("/api/v1/checkpoints/{checkpoint_uuid}", needs=needs.VIEW_ARTIFACTS.or_any_task)
def get_checkpoint(checkpoint_uuid: str, platform: PlatformOf) -> wire.CheckpointResponse:
    with platform.store.read() as tx:
        return wire.CheckpointResponse(checkpoint=checkpoint_message(tx.checkpoints.view(checkpoint_uuid)))


@router.get("/api/v1/experiments/{experiment_id}/checkpoints", needs=needs.VIEW_ARTIFACTS.or_own_task)
def get_experiment_checkpoints(
    experiment_id: int,
    platform: PlatformOf,
    page: Paging,
    sort_by_attr: SortBy = None,
    sort_by: OldSortBy = None,
    sort_by_metric: SortMetric = "",
    states: States = [],  # noqa: B006
    order_by: Order = enums.OrderBy.UNSPECIFIED,
) -> wire.GetCheckpointsResponse:
    """By searcher metric without an order: the best first, whichever way better is."""
    with platform.store.read() as tx:
        tx.experiments.get(experiment_id)
    query = _query(sort_by_attr or sort_by, sort_by_metric, states, order_by, page)
    return _list(platform, replace(query, experiment_id=experiment_id), page)


@router.get("/api/v1/trials/{trial_id}/checkpoints", needs=needs.VIEW_ARTIFACTS.or_own_task)
def get_trial_checkpoints(
    trial_id: int,
    platform: PlatformOf,
    page: Paging,
    sort_by_attr: SortBy = None,
    sort_by: OldSortBy = None,
    sort_by_metric: SortMetric = "",
    states: States = [],  # noqa: B006
    order_by: Order = enums.OrderBy.UNSPECIFIED,
) -> wire.GetCheckpointsResponse:
    with platform.store.read() as tx:
        tx.trials.get(trial_id)
    query = _query(sort_by_attr or sort_by, sort_by_metric, states, order_by, page)
    return _list(platform, replace(query, trial_id=trial_id), page)


def _query(
    sort_by: enums.CheckpointSortBy | None,
    metric: str,
    states: list[enums.CheckpointState],
    order: enums.OrderBy,
    page: PageParams,
) -> CheckpointQuery:
    names = (str(state).removeprefix("STATE_") for state in states)
    field = "metric" if metric else _SORT_FIELDS.get(sort_by or enums.CheckpointSortBy.END_TIME, "report_time")
    return CheckpointQuery(
        states=tuple(CheckpointState(name) for name in names if name != "UNSPECIFIED"),
        sort_by=field,
        sort_metric=metric,
        descending=None if order is enums.OrderBy.UNSPECIFIED else order is enums.OrderBy.DESC,
        page=page.request,
    )


def _list(platform: Platform, query: CheckpointQuery, page: PageParams) -> wire.GetCheckpointsResponse:
    with platform.store.read() as tx:
        found = tx.checkpoints.search(query)
    return wire.GetCheckpointsResponse(
        checkpoints=[checkpoint_message(view) for view in found.items], pagination=pagination(found, page)
    )


@router.get("/api/v1/checkpoints/{checkpoint_uuid}/metrics", needs=needs.VIEW_EXPERIMENT)
def get_trial_metrics_by_checkpoint(
    checkpoint_uuid: str,
    platform: PlatformOf,
    caller: Caller,
    trial_source_info_type: SourceType = None,
    metric_group: SourceGroup = None,
) -> GetMetricsResponse:
    """What trials reported that said to work with this checkpoint."""
    with platform.store.read() as tx:
        found = metrics_of(
            tx,
            checkpoint_uuid=tx.checkpoints.get(checkpoint_uuid).uuid,
            kind=source_kind(trial_source_info_type),
            group=metric_group,
            visible_in=caller.workspaces(Permission.VIEW_EXPERIMENT_METADATA),
        )
    return GetMetricsResponse(metrics=[report_message(*each) for each in found])


@router.post("/api/v1/trial-source-info", needs=needs.REPORT.in_body.or_any_task)
def report_trial_source_info(
    body: wire.ReportTrialSourceInfoRequest, platform: PlatformOf, caller: Caller
) -> wire.ReportTrialSourceInfoResponse:
    """A trial says which checkpoint it works with; what it reports is found by that checkpoint from then on."""
    info = body.trial_source_info
    kind = source_kind(info.trial_source_info_type)
    if kind is None:
        raise InvalidInput("trialSourceInfoType: say TRIAL_SOURCE_INFO_TYPE_INFERENCE or ..._FINE_TUNING.")
    caller.require("trial_id", info.trial_id)
    with platform.store.read() as tx:
        caller.check(tx, Permission.REPORT_FOR_TASK, "trial_id", info.trial_id)
        caller.check(tx, Permission.VIEW_EXPERIMENT_ARTIFACTS, "checkpoint_uuid", info.checkpoint_uuid)
    report_source(
        platform,
        TrialSource(
            trial_id=info.trial_id,
            checkpoint_uuid=info.checkpoint_uuid,
            kind=kind,
            model_id=info.model_id,
            model_version=info.model_version,
        ),
    )
    return wire.ReportTrialSourceInfoResponse(trial_id=info.trial_id, checkpoint_uuid=info.checkpoint_uuid)


# -------------------------------------------------------------------------------------------------------- download


@router.get(
    "/checkpoints/{checkpoint_uuid}",
    needs=needs.VIEW_ARTIFACTS.or_any_task,
    operation_id="DownloadCheckpoint",
    responses={200: {"content": {kind: {} for kind in FORMATS}}},
)
def download_checkpoint(checkpoint_uuid: str, request: Request, platform: PlatformOf) -> StreamingResponse:
    """Its files as one archive: tar.gz, or tar or zip by the Accept header."""
    checkpoint, blobs = _opened(platform, checkpoint_uuid)
    files = blobs.files(checkpoint_uuid)
    if not files and any(checkpoint.resources.values()):
        raise CheckpointDamaged(f"Checkpoint {checkpoint_uuid} has no files left in its storage.")
    kind = next((kind for kind in FORMATS if kind in request.headers.get("accept", "")), "application/gzip")
    suffix, pack = FORMATS[kind]
    headers = {"Content-Disposition": f'attachment; filename="{checkpoint_uuid}.{suffix}"'}
    return StreamingResponse(pack(blobs, checkpoint_uuid, files), media_type=kind, headers=headers)


@router.get(
    "/api/v1/checkpoints/{checkpoint_uuid}/file",
    needs=needs.VIEW_ARTIFACTS,
    operation_id="GetCheckpointFile",
    responses={200: {"content": {"application/octet-stream": {}}}},
)
def get_checkpoint_file(
    checkpoint_uuid: str,
    platform: PlatformOf,
    path: Annotated[str, Query(description="As `resources` of the checkpoint names it.")],
) -> StreamingResponse:
    """One of its files, as it was stored."""
    checkpoint, blobs = _opened(platform, checkpoint_uuid)
    if path.endswith("/") or path not in checkpoint.resources:
        raise NotFound(f"Checkpoint {checkpoint_uuid} has no file {path!r}. It has: {_some(checkpoint.resources)}.")
    if path not in blobs.files(checkpoint_uuid):
        raise CheckpointDamaged(f"File {path!r} of checkpoint {checkpoint_uuid} is no longer in its storage.")
    kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
    # A file of a checkpoint is data: no browser may run it as a page of ours.
    headers = {"Content-Disposition": "attachment", "X-Content-Type-Options": "nosniff"}
    return StreamingResponse(blobs.read(checkpoint_uuid, path), media_type=kind, headers=headers)


def _opened(platform: Platform, checkpoint_uuid: str) -> tuple[Checkpoint, Blobs]:
    with platform.store.read() as tx:
        checkpoint = tx.checkpoints.get(checkpoint_uuid)
    if checkpoint.state not in _READABLE:
        raise IllegalTransition(f"Checkpoint {checkpoint_uuid} is {checkpoint.state}; its files cannot be downloaded.")
    return checkpoint, platform.blobs(checkpoint.storage or platform.config.checkpoint_storage)


def _some(resources: Mapping[str, int]) -> str:
    names = sorted(path for path in resources if not path.endswith("/"))
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "") or "none"


# ---------------------------------------------------------------------------------------------------------- change


@router.post("/api/v1/checkpoints", needs=needs.REPORT.in_body.or_any_task)
def report_checkpoint(body: wire.ReportCheckpointRequest, platform: PlatformOf, caller: Caller) -> Empty:
    """A whole checkpoint; answered when recorded. Repeating it changes nothing."""
    record_checkpoint(platform, _reported(platform, caller, body))
    return Empty()


def _reported(platform: Platform, caller: Principal, body: wire.ReportCheckpointRequest) -> Checkpoint:
    task_id = body.task_id or (caller.allocation.task_id if caller.allocation else "")
    caller.require("task_id", task_id)
    allocation_id = body.allocation_id or (caller.allocation.id if caller.allocation else "")
    with platform.store.read() as tx:
        caller.check(tx, Permission.REPORT_FOR_TASK, "task_id", task_id)
        trial = tx.trials.by_task_id(task_id)
    steps = body.metadata.get("steps_completed", 0)
    return Checkpoint(
        uuid=body.uuid,
        state=_reported_state(body.state),
        report_time=body.report_time or platform.clock(),
        resources=body.resources,
        metadata=body.metadata,
        task_id=task_id or None,
        allocation_id=allocation_id or None,
        trial_id=trial.id if trial else None,
        run_id=_run_of(platform, caller, allocation_id, trial.run_id if trial else 0),
        steps_completed=steps if isinstance(steps, int) else 0,
        digests=body.digests,
    )


def _run_of(platform: Platform, caller: Principal, allocation_id: str, current: int) -> int:
    """The run that wrote it, from its allocation: that is what fences a zombie."""
    if caller.allocation is not None:
        return caller.allocation.run_id
    if not allocation_id:
        return current
    with platform.store.read() as tx:
        return tx.allocations.get(allocation_id).run_id


@router.patch("/api/v1/checkpoints", needs=needs.DELETE_CHECKPOINTS.in_body.or_any_task)
def patch_checkpoints(body: wire.PatchCheckpointsRequest, platform: PlatformOf, caller: Caller) -> Empty:
    """A trial that deleted files says what is left; an empty map means that all are gone."""
    with platform.store.read() as tx:
        for patch in body.checkpoints:
            task_id = tx.checkpoints.get(patch.uuid).task_id
            caller.require("task_id", task_id)
            if caller.allocation is None:
                caller.check(tx, Permission.DELETE_CHECKPOINTS, "checkpoint_uuid", patch.uuid)
    for patch in body.checkpoints:
        if patch.resources is not None:
            collection.forget_files(platform, patch.uuid, patch.resources.resources)
    return Empty()


@router.delete("/api/v1/checkpoints", needs=needs.DELETE_CHECKPOINTS.in_body)
def delete_checkpoints(body: wire.DeleteCheckpointsRequest, platform: PlatformOf, caller: Caller) -> Empty:
    """All of them, or none when one may not be deleted."""
    _require_deletable(platform, caller, body.checkpoint_uuids)
    collection.delete_checkpoints(platform, body.checkpoint_uuids)
    return Empty()


@router.post("/api/v1/checkpoints/rm", needs=needs.DELETE_CHECKPOINTS.in_body)
def checkpoints_remove_files(body: wire.CheckpointsRemoveFilesRequest, platform: PlatformOf, caller: Caller) -> Empty:
    _require_deletable(platform, caller, body.checkpoint_uuids)
    collection.remove_checkpoint_files(platform, body.checkpoint_uuids, body.checkpoint_globs)
    return Empty()


def _require_deletable(platform: Platform, caller: Principal, uuids: Iterable[str]) -> None:
    with platform.store.read() as tx:
        for uuid in uuids:
            caller.check(tx, Permission.DELETE_CHECKPOINTS, "checkpoint_uuid", uuid)


@router.post("/api/v1/checkpoints/{checkpoint_uuid}/metadata", needs=needs.DESCRIBE_EXPERIMENT)
def post_checkpoint_metadata(
    checkpoint_uuid: str, body: wire.PostCheckpointMetadataRequest, platform: PlatformOf
) -> wire.CheckpointResponse:
    """Replace the metadata a person keeps with a checkpoint."""
    describe_checkpoint(platform, checkpoint_uuid, body.checkpoint.metadata)
    with platform.store.read() as tx:
        return wire.CheckpointResponse(checkpoint=checkpoint_message(tx.checkpoints.view(checkpoint_uuid)))


@router.get("/experiments/{experiment_id}/preview_gc", needs=needs.VIEW_ARTIFACTS.or_own_task, operation_id="PreviewGC")
def preview_gc(
    experiment_id: int,
    platform: PlatformOf,
    save_experiment_best: int = 0,
    save_trial_best: int = 1,
    save_trial_latest: int = 1,
) -> wire.PreviewGcResponse:
    """Which checkpoints a retention policy would delete right now."""
    policy = RetentionPolicy(
        save_experiment_best=save_experiment_best,
        save_trial_best=save_trial_best,
        save_trial_latest=save_trial_latest,
    )
    doomed = collection.preview_gc(platform, experiment_id, policy)
    with platform.store.read() as tx:
        metric = tx.experiments.get(experiment_id).searcher_metric
    return wire.PreviewGcResponse(checkpoints=[previewed(view) for view in doomed], metric_name=metric)


def _reported_state(state: enums.CheckpointState) -> CheckpointState:
    if state is enums.CheckpointState.UNSPECIFIED:
        raise InvalidInput(f"state: {state} is none that a checkpoint can have. Report STATE_COMPLETED.")
    return CheckpointState(str(state).removeprefix("STATE_"))
