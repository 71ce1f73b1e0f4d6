"""Trials: looking at them, ending them, and those that run outside the platform."""

from typing import Annotated

from fastapi import Query

from resolute.domain import needs
from resolute.domain.checkpoint import CheckpointState
from resolute.domain.errors import InvalidInput, NotFound
from resolute.domain.metric import TRAINING, VALIDATION
from resolute.domain.rights import Permission
from resolute.domain.trial import Trial, TrialState
from resolute.engine.access.rights import seen
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.trials import running as engine
from resolute.engine.trials.reports import PROFILING_GROUPS
from resolute.server.auth import Caller, PlatformOf, Principal
from resolute.server.paging import Order, Paging, is_descending, pagination
from resolute.server.resource import Resource
from resolute.server.routes.experiments import submit
from resolute.server.shapes.checkpoints import checkpoint_workload
from resolute.server.shapes.trials import workload
from resolute.server.views import show_experiment, show_trial, show_trials
from resolute.spec.wire import enums
from resolute.spec.wire import experiments as wire_experiments
from resolute.spec.wire import trials as wire
from resolute.spec.wire.base import Empty

router = Resource(tags=["trials"])

_AT_ONCE = 200
_DELETED = (CheckpointState.DELETED, CheckpointState.ERROR)


@router.get("/api/v1/trials", needs=needs.VIEW_EXPERIMENT.listed, operation_id="GetTrials")
def get_trials(
    platform: PlatformOf,
    caller: Caller,
    ids: Annotated[list[int], Query(min_length=1, max_length=_AT_ONCE, description="Those to look at.")],
) -> wire.GetTrialsResponse:
    """Several trials by one request, in the order asked for; those that are not there are left out."""
    wanted = list(dict.fromkeys(ids))
    view = Permission.VIEW_EXPERIMENT_METADATA
    with platform.store.read() as tx:
        if not caller.rights.has(view):
            wanted = seen(tx, caller.rights, view, "trial_id", wanted)
        found = [trial for trial in (_trial_or_none(tx, trial_id) for trial_id in wanted) if trial]
        return wire.GetTrialsResponse(trials=show_trials(platform, tx, found, visible_in=caller.workspaces(view)))


def _trial_or_none(tx: Transaction, trial_id: int) -> Trial | None:
    try:
        return tx.trials.get(trial_id)
    except NotFound:
        return None


@router.get("/api/v1/trials/{trial_id}", needs=needs.VIEW_EXPERIMENT.or_own_task)
def get_trial(trial_id: int, platform: PlatformOf, caller: Caller) -> wire.TrialResponse:
    visible_in = caller.workspaces(Permission.VIEW_EXPERIMENT_METADATA)
    return wire.TrialResponse(trial=show_trial(platform, trial_id, visible_in=visible_in))


@router.post("/api/v1/trials/{trial_id}/kill", needs=needs.EDIT_EXPERIMENT.or_own_task)
def kill_trial(trial_id: int, platform: PlatformOf) -> Empty:
    engine.kill_trial(platform, trial_id)
    return Empty()


@router.get("/api/v1/trials/{trial_id}/workloads", needs=needs.VIEW_EXPERIMENT.or_own_task)
def get_trial_workloads(
    trial_id: int,
    platform: PlatformOf,
    page: Paging,
    order_by: Order = enums.OrderBy.UNSPECIFIED,
    metric_type: Annotated[enums.MetricType, Query(alias="metricType")] = enums.MetricType.UNSPECIFIED,
    group: str = "",
    with_batches: Annotated[bool, Query(alias="includeBatchMetrics")] = False,
    hide_deleted: Annotated[bool, Query(alias="removeDeletedCheckpoints")] = False,
) -> wire.GetTrialWorkloadsResponse:
    """Training and validation reports and checkpoints, one an entry, by steps."""
    wanted = group or _GROUP_OF_TYPE.get(metric_type, "")
    items = [
        *_metric_workloads(platform, trial_id, wanted, with_batches=with_batches),
        *_checkpoint_workloads(platform, trial_id, hide_deleted=hide_deleted),
    ]
    items.sort(key=lambda item: item[0], reverse=is_descending(order_by))
    cut = page.cut([message for _, message in items])
    return wire.GetTrialWorkloadsResponse(workloads=cut.items, pagination=pagination(cut, page))


_GROUP_OF_TYPE = {enums.MetricType.TRAINING: TRAINING, enums.MetricType.VALIDATION: VALIDATION}
_Placed = tuple[tuple[int, int], wire.WorkloadContainer]


def _metric_workloads(platform: Platform, trial_id: int, group: str, *, with_batches: bool) -> list[_Placed]:
    with platform.store.read() as tx:
        tx.trials.get(trial_id)
        found = [report for _, report, archived in tx.metrics.reports(trial_id, group=group or None) if not archived]
    placed: list[_Placed] = []
    for report in found:
        if report.group in PROFILING_GROUPS:
            continue
        message = workload(report, with_batches=with_batches)
        if report.group == VALIDATION:
            placed.append(((report.steps_completed, 1), wire.WorkloadContainer(validation=message)))
        else:
            placed.append(((report.steps_completed, 0), wire.WorkloadContainer(training=message)))
    return placed


def _checkpoint_workloads(platform: Platform, trial_id: int, *, hide_deleted: bool) -> list[_Placed]:
    with platform.store.read() as tx:
        checkpoints = tx.checkpoints.of_trial(trial_id)
    return [
        ((each.steps_completed, 2), wire.WorkloadContainer(checkpoint=checkpoint_workload(each)))
        for each in checkpoints
        if not (hide_deleted and each.state in _DELETED)
    ]


# ------------------------------------------------------------------------------------ trials outside the platform


@router.put("/api/v1/experiments/by-external-id/{external_id}", needs=needs.CREATE_EXPERIMENT.in_body)
def put_experiment(
    external_id: str, body: wire_experiments.CreateExperimentRequest, platform: PlatformOf, caller: Caller
) -> wire_experiments.PutExperimentResponse:
    """The experiment of this name of yours; created the first time."""
    with platform.store.read() as tx:
        known = tx.experiments.by_external_id(external_id)
        if known is not None:
            caller.check(tx, Permission.UPDATE_EXPERIMENT, "external_experiment_id", external_id)
    experiment_id = known.id if known else submit(platform, caller, body, external_id=external_id).experiment.id
    message = show_experiment(platform, experiment_id)
    return wire_experiments.PutExperimentResponse(experiment=message, config=message.config)


@router.post("/api/v1/trials", needs=needs.EDIT_EXPERIMENT.in_body)
def create_trial(body: wire.CreateTrialRequest, platform: PlatformOf, caller: Caller) -> wire.TrialResponse:
    return _unmanaged_trial(platform, caller, body, None)


@router.put("/api/v1/trials", needs=needs.EDIT_EXPERIMENT.in_body)
def put_trial(body: wire.PutTrialRequest, platform: PlatformOf, caller: Caller) -> wire.TrialResponse:
    return _unmanaged_trial(platform, caller, body.create_trial_request, body.external_trial_id or None)


def _unmanaged_trial(
    platform: Platform, caller: Principal, body: wire.CreateTrialRequest, external_id: str | None
) -> wire.TrialResponse:
    if not body.unmanaged:
        raise InvalidInput("unmanaged: must be true; trials of managed experiments are created by their searcher.")
    with platform.store.read() as tx:
        caller.check(tx, Permission.UPDATE_EXPERIMENT, "experiment_id", body.experiment_id)
    trial = engine.create_unmanaged_trial(platform, body.experiment_id, body.hparams, external_id=external_id)
    return wire.TrialResponse(trial=show_trial(platform, trial.id))


@router.get(
    "/api/v1/trials/by-external-id/{external_experiment_id}/{external_trial_id}",
    needs=needs.VIEW_EXPERIMENT,
    operation_id="GetTrialByExternalID",
)
def get_trial_by_external_id(
    external_experiment_id: str, external_trial_id: str, platform: PlatformOf
) -> wire.TrialResponse:
    with platform.store.read() as tx:
        experiment = tx.experiments.by_external_id(external_experiment_id)
        trial = tx.trials.by_external_id(experiment.id, external_trial_id) if experiment else None
    if trial is None:
        raise NotFound(f"trial not found: {external_experiment_id}/{external_trial_id}")
    return wire.TrialResponse(trial=show_trial(platform, trial.id))


@router.post("/api/v1/trials/{trial_id}/start", needs=needs.REPORT.or_own_task)
def start_trial(trial_id: int, body: wire.StartTrialRequest, platform: PlatformOf) -> wire.StartTrialResponse:
    started = engine.start_unmanaged_trial(platform, trial_id, resume=body.resume)
    return wire.StartTrialResponse(
        trial_run_id=started.run_id,
        latest_checkpoint=started.latest_checkpoint,
        steps_completed=started.steps_completed,
    )


@router.patch("/api/v1/trials/{trial_id}", needs=needs.REPORT.or_own_task)
def patch_trial(trial_id: int, body: wire.PatchTrialRequest, platform: PlatformOf) -> wire.TrialResponse:
    """Heartbeat, and the end, of a trial that runs outside the platform."""
    name = (body.state or "").removeprefix("STATE_")
    state = TrialState(name) if name in TrialState.__members__ else None
    engine.patch_unmanaged_trial(platform, trial_id, state)
    return wire.TrialResponse(trial=show_trial(platform, trial_id))
