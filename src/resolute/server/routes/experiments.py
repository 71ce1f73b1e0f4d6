"""Experiments: submitting, listing, looking, changing."""

import base64
import json
from typing import Annotated

from fastapi import Query, Request

from resolute.domain import needs
from resolute.domain.errors import NotFound
from resolute.domain.retention import RetentionPolicy
from resolute.domain.rights import Permission
from resolute.engine.experiments import changes as engine
from resolute.engine.experiments import submission, tensorboard_files
from resolute.engine.experiments.configuration import configuration_of, retention_of
from resolute.engine.experiments.dry_run import native_request
from resolute.engine.experiments.records import records
from resolute.engine.jobs.pools import cluster_defaults
from resolute.engine.jobs.queue import JobView, find_job
from resolute.engine.platform import Platform
from resolute.engine.ports.queries import ExperimentQuery, TrialQuery
from resolute.search.simulate import simulate
from resolute.server.auth import Caller, PlatformOf, Principal
from resolute.server.paging import Order, Paging, is_descending, pagination
from resolute.server.preview import patience, require_small
from resolute.server.resource import Resource
from resolute.server.shapes.cluster import job_summary
from resolute.server.shapes.experiments import experiment_message, unsaved_summary
from resolute.server.shapes.states import experiment_states, trial_states
from resolute.server.uploads import pack_files
from resolute.server.views import show_experiment, show_trials
from resolute.spec.experiment import ClusterDefaults, ParsedExperiment, parse_experiment
from resolute.spec.secrets import masked
from resolute.spec.wire import enums
from resolute.spec.wire import experiments as wire
from resolute.spec.wire import trials as wire_trials
from resolute.spec.wire.base import Empty

router = Resource(tags=["experiments"])

_VIEW = Permission.VIEW_EXPERIMENT_METADATA

_SORT_FIELDS = {
    enums.ExperimentSortBy.DESCRIPTION: "description",
    enums.ExperimentSortBy.START_TIME: "start_time",
    enums.ExperimentSortBy.END_TIME: "end_time",
    enums.ExperimentSortBy.STATE: "state",
    enums.ExperimentSortBy.NUM_TRIALS: "num_trials",
    enums.ExperimentSortBy.PROGRESS: "progress",
    enums.ExperimentSortBy.USER: "username",
    enums.ExperimentSortBy.NAME: "name",
    enums.ExperimentSortBy.FORKED_FROM: "parent_id",
    enums.ExperimentSortBy.RESOURCE_POOL: "resource_pool",
    enums.ExperimentSortBy.PROJECT_ID: "project_id",
    enums.ExperimentSortBy.CHECKPOINT_SIZE: "checkpoint_size",
    enums.ExperimentSortBy.CHECKPOINT_COUNT: "checkpoint_count",
    enums.ExperimentSortBy.SEARCHER_METRIC_VAL: "best_metric",
}
_TRIAL_SORT_FIELDS = {
    enums.TrialSortBy.START_TIME: "start_time",
    enums.TrialSortBy.END_TIME: "end_time",
    enums.TrialSortBy.STATE: "state",
    enums.TrialSortBy.BEST_VALIDATION_METRIC: "best_metric",
    enums.TrialSortBy.LATEST_VALIDATION_METRIC: "latest_metric",
    enums.TrialSortBy.BATCHES_PROCESSED: "total_batches",
    enums.TrialSortBy.DURATION: "duration",
    enums.TrialSortBy.RESTARTS: "restarts",
    enums.TrialSortBy.CHECKPOINT_SIZE: "checkpoint_size",
}


# ---------------------------------------------------------------------------------------------------------- submit


@router.post("/api/v1/experiments", needs=needs.CREATE_EXPERIMENT.in_body)
def create_experiment(
    body: wire.CreateExperimentRequest, platform: PlatformOf, caller: Caller
) -> wire.CreateExperimentResponse:
    """Submit a configuration (YAML text) and the directory with the code. Everything is checked before anything is
    stored."""
    created = submit(platform, caller, body)
    return wire.CreateExperimentResponse(
        experiment=_created_message(platform, caller, created),
        config=masked(created.config),
        warnings=[enums.LaunchWarning.CURRENT_SLOTS_EXCEEDED] if created.exceeds_slots else [],
        messages=list(created.warnings),
    )


@router.post("/api/v1/experiments/dry-run", needs=needs.CREATE_EXPERIMENT.in_body)
def dry_run_experiment(body: wire.CreateExperimentRequest, platform: PlatformOf, caller: Caller) -> wire.DryRunResponse:
    """What its first trial would be started as. Everything is checked as if it were created; nothing is."""
    validated = submit(platform, caller, body.model_copy(update={"validate_only": True}))
    return wire.DryRunResponse(
        request=native_request(platform, validated, user=caller.user),
        config=masked(validated.config),
        warnings=list(validated.warnings),
    )


def submit(
    platform: Platform, caller: Principal, body: wire.CreateExperimentRequest, *, external_id: str | None = None
) -> submission.CreatedExperiment:
    with platform.store.read() as tx:
        if body.parent_id:
            caller.check(tx, Permission.VIEW_EXPERIMENT_ARTIFACTS, "experiment_id", body.parent_id)
        if body.template:
            caller.check(tx, Permission.VIEW_TEMPLATES, "template_name", body.template)
    return submission.create_experiment(
        platform,
        user=caller.user,
        rights=caller.rights,
        config_text=body.config,
        context=pack_files(body.model_definition),
        activate=body.activate,
        validate_only=body.validate_only,
        template=body.template,
        project_id=body.project_id or None,
        parent_id=body.parent_id or None,
        unmanaged=body.unmanaged,
        external_id=external_id,
    )


def _created_message(platform: Platform, caller: Principal, created: submission.CreatedExperiment) -> wire.Experiment:
    if created.experiment.id:
        return show_experiment(platform, created.experiment.id)
    with platform.store.read() as tx:
        project = tx.workspaces.project(created.experiment.project_id)
        workspace = tx.workspaces.get(project.workspace_id)
    summary = unsaved_summary(created.experiment, created.job, caller.user, project, workspace)
    return experiment_message(summary, now=platform.clock())


@router.post("/api/v1/experiments/continue", needs=needs.EDIT_EXPERIMENT.in_body)
def continue_experiment(
    body: wire.ContinueExperimentRequest, platform: PlatformOf, caller: Caller
) -> wire.ContinueExperimentResponse:
    with platform.store.read() as tx:
        caller.check(tx, Permission.UPDATE_EXPERIMENT, "experiment_id", body.id)
    created = submission.continue_experiment(platform, body.id, body.override_config, rights=caller.rights)
    return wire.ContinueExperimentResponse(
        experiment=show_experiment(platform, body.id),
        warnings=[enums.LaunchWarning.CURRENT_SLOTS_EXCEEDED] if created.exceeds_slots else [],
    )


@router.post("/api/v1/preview-hp-search", needs=needs.SIGNED_IN, operation_id="PreviewHPSearch")
def preview_hp_search(
    body: wire.PreviewHPSearchRequest, platform: PlatformOf, request: Request
) -> wire.PreviewHPSearchResponse:
    """How many trials a search would train, and how far, from a simulation."""
    defaults = cluster_defaults(platform)
    parsed = parse_experiment(json.dumps(body.config), defaults=defaults, seed=body.seed, name="preview")
    require_small(parsed.config)
    per_trial = max(parsed.config.resources.slots_per_trial, 1)
    simulation = simulate(
        parsed.config.searcher.resolved(),
        parsed.config.hyperparameters.resolved(),
        body.seed,
        slots=max(_slots_of(parsed, defaults), per_trial),
        slots_per_trial=per_trial,
        check=patience(request),
    )
    return wire.PreviewHPSearchResponse(
        summary=wire.SearchSummary(
            config=masked(body.config),
            trials=[wire.TrialSummary.model_validate(trial) for trial in simulation.preview()],
        )
    )


def _slots_of(parsed: ParsedExperiment, defaults: ClusterDefaults) -> int:
    return defaults.pools.get(parsed.config.resources.resource_pool) or 0


# ------------------------------------------------------------------------------------------------------------ look


@router.get("/api/v1/experiments", needs=needs.VIEW_EXPERIMENT.listed)
def get_experiments(
    platform: PlatformOf,
    caller: Caller,
    page: Paging,
    name: str = "",
    description: str = "",
    labels: Annotated[list[str], Query()] = [],  # noqa: B006
    archived: bool | None = None,
    states: Annotated[list[enums.ExperimentState], Query()] = [],  # noqa: B006
    users: Annotated[list[str], Query()] = [],  # noqa: B006
    user_ids: Annotated[list[int], Query(alias="userIds")] = [],  # noqa: B006
    project_id: Annotated[int, Query(alias="projectId")] = 0,
    ids: Annotated[list[int], Query(alias="experimentIdFilter.incl")] = [],  # noqa: B006
    id_not_in: Annotated[list[int], Query(alias="experimentIdFilter.notIn")] = [],  # noqa: B006
    id_gt: Annotated[int | None, Query(alias="experimentIdFilter.gt")] = None,
    id_gte: Annotated[int | None, Query(alias="experimentIdFilter.gte")] = None,
    id_lt: Annotated[int | None, Query(alias="experimentIdFilter.lt")] = None,
    id_lte: Annotated[int | None, Query(alias="experimentIdFilter.lte")] = None,
    sort_by: Annotated[enums.ExperimentSortBy, Query(alias="sortBy")] = enums.ExperimentSortBy.UNSPECIFIED,
    order_by: Order = enums.OrderBy.UNSPECIFIED,
) -> wire.GetExperimentsResponse:
    query = ExperimentQuery(
        ids=tuple(ids),
        excluded_ids=tuple(id_not_in),
        hides_archived_parents=archived is False and not project_id,
        users=tuple(users),
        user_ids=tuple(user_ids),
        states=experiment_states(states),
        archived=archived,
        name_contains=name,
        description_contains=description,
        labels=tuple(labels),
        project_id=project_id or None,
        visible_in=caller.workspaces(Permission.VIEW_EXPERIMENT_METADATA),
        id_from=max(
            (bound for bound in (id_gte, None if id_gt is None else id_gt + 1) if bound is not None), default=None
        ),
        id_to=min(
            (bound for bound in (id_lte, None if id_lt is None else id_lt - 1) if bound is not None), default=None
        ),
        sort_by=_SORT_FIELDS.get(sort_by, "id"),
        descending=is_descending(order_by),
        page=page.request,
    )
    with platform.store.read() as tx:
        found = tx.experiments.search(query)
    now = platform.clock()
    return wire.GetExperimentsResponse(
        experiments=[experiment_message(summary, now=now) for summary in found.items],
        pagination=pagination(found, page),
    )


@router.get("/api/v1/experiments/{experiment_id}", needs=needs.VIEW_EXPERIMENT.or_own_task)
def get_experiment(experiment_id: int, platform: PlatformOf, caller: Caller) -> wire.GetExperimentResponse:
    message = show_experiment(platform, experiment_id)
    job = None if message.end_time is not None else _job_of(platform, caller, message.job_id)
    if job is not None and job.waiting is not None:
        message = message.model_copy(update={"waiting_reason": job.waiting.sentence})
    return wire.GetExperimentResponse(
        experiment=message, config=message.config, job_summary=job_summary(job) if job else None
    )


def _job_of(platform: Platform, caller: Principal, job_id: str) -> JobView | None:
    return find_job(platform, job_id, visible_in=caller.workspaces(_VIEW))


@router.get("/api/v1/experiments/{experiment_id}/trials", needs=needs.VIEW_EXPERIMENT.or_own_task)
def get_experiment_trials(
    experiment_id: int,
    platform: PlatformOf,
    caller: Caller,
    page: Paging,
    states: Annotated[list[enums.TrialState], Query()] = [],  # noqa: B006
    sort_by: Annotated[enums.TrialSortBy, Query(alias="sortBy")] = enums.TrialSortBy.UNSPECIFIED,
    order_by: Order = enums.OrderBy.UNSPECIFIED,
) -> wire_trials.GetExperimentTrialsResponse:
    query = TrialQuery(
        experiment_id=experiment_id,
        states=trial_states(states),
        sort_by=_TRIAL_SORT_FIELDS.get(sort_by, "id"),
        descending=is_descending(order_by),
        page=page.request,
    )
    with platform.store.read() as tx:
        tx.experiments.get(experiment_id)
        found = tx.trials.search(query)
        trials = show_trials(platform, tx, found.items, visible_in=caller.workspaces(_VIEW))
    return wire_trials.GetExperimentTrialsResponse(trials=trials, pagination=pagination(found, page))


@router.get(
    "/api/v1/experiments/{experiment_id}/searcher/best_searcher_validation_metric",
    needs=needs.VIEW_EXPERIMENT.or_own_task,
)
def get_best_searcher_validation_metric(experiment_id: int, platform: PlatformOf) -> wire.BestSearcherValidationMetric:
    with platform.store.read() as tx:
        experiment = tx.experiments.get(experiment_id)
        best = tx.metrics.best(
            experiment_id, experiment.searcher_metric, smaller_is_better=experiment.smaller_is_better
        )
    if best is None:
        raise NotFound(f"No validation of experiment {experiment_id} has reported {experiment.searcher_metric!r} yet.")
    return wire.BestSearcherValidationMetric(metric=best)


@router.get("/api/v1/experiments/{experiment_id}/validation-history", needs=needs.VIEW_EXPERIMENT.or_own_task)
def get_experiment_validation_history(
    experiment_id: int, platform: PlatformOf
) -> wire.GetExperimentValidationHistoryResponse:
    """Every validation that was the best so far, in the order of time."""
    history = [
        wire.ValidationHistoryEntry(trial_id=each.trial_id, end_time=each.time, searcher_metric=each.value)
        for each in records(platform, experiment_id)
    ]
    return wire.GetExperimentValidationHistoryResponse(validation_history=history)


@router.get("/api/v1/experiments/{experiment_id}/model_def", needs=needs.VIEW_ARTIFACTS.or_own_task)
def get_model_def(experiment_id: int, platform: PlatformOf) -> wire.ArchiveResponse:
    with platform.store.read() as tx:
        context_id = tx.experiments.get(experiment_id).context_id
        content = tx.contexts.get(context_id) if context_id else b""
    return wire.ArchiveResponse(b64_tgz=base64.b64encode(content).decode())


# ---------------------------------------------------------------------------------------------------------- change


@router.patch("/api/v1/experiments/{experiment_id}", needs=needs.EDIT_EXPERIMENT)
def patch_experiment(experiment_id: int, body: wire.PatchExperiment, platform: PlatformOf) -> wire.ExperimentResponse:
    change(platform, experiment_id, body)
    return wire.ExperimentResponse(experiment=show_experiment(platform, experiment_id))


@router.patch("/experiments/{experiment_id}", needs=needs.EDIT_EXPERIMENT, include_in_schema=False)
def patch_experiment_old(experiment_id: int, body: wire.PatchExperiment, platform: PlatformOf) -> Empty:
    """Where clients before 0.22 sent `set priority`, `weight` and `max-slots`."""
    change(platform, experiment_id, body)
    return Empty()


def change(platform: Platform, experiment_id: int, body: wire.PatchExperiment) -> None:
    resources = body.resources
    engine.patch_experiment(
        platform,
        experiment_id,
        name=body.name,
        description=body.description,
        labels=body.labels,
        notes=body.notes,
        priority=resources.priority if resources else None,
        weight=resources.weight if resources else None,
        max_slots=resources.max_slots if resources and "max_slots" in resources.model_fields_set else engine.UNSET,
        gc_policy=_policy(platform, experiment_id, body.checkpoint_storage) if body.checkpoint_storage else None,
    )


def _policy(platform: Platform, experiment_id: int, patch: wire.PatchCheckpointStorage) -> RetentionPolicy:
    with platform.store.read() as tx:
        current = retention_of(configuration_of(tx.experiments.get(experiment_id)))
    kept = (current.save_experiment_best, current.save_trial_best, current.save_trial_latest)
    given = (patch.save_experiment_best, patch.save_trial_best, patch.save_trial_latest)
    best, trial_best, latest = (old if new is None else new for old, new in zip(kept, given, strict=True))
    return RetentionPolicy(save_experiment_best=best, save_trial_best=trial_best, save_trial_latest=latest)


@router.post("/api/v1/experiments/{experiment_id}/pause", needs=needs.EDIT_EXPERIMENT)
def pause_experiment(experiment_id: int, platform: PlatformOf) -> Empty:
    engine.pause_experiment(platform, experiment_id)
    return Empty()


@router.post("/api/v1/experiments/{experiment_id}/activate", needs=needs.EDIT_EXPERIMENT)
def activate_experiment(experiment_id: int, platform: PlatformOf) -> Empty:
    engine.activate_experiment(platform, experiment_id)
    return Empty()


@router.post("/api/v1/experiments/{experiment_id}/cancel", needs=needs.EDIT_EXPERIMENT)
def cancel_experiment(experiment_id: int, platform: PlatformOf) -> Empty:
    engine.cancel_experiment(platform, experiment_id)
    return Empty()


@router.post("/api/v1/experiments/{experiment_id}/kill", needs=needs.EDIT_EXPERIMENT)
def kill_experiment(experiment_id: int, platform: PlatformOf) -> Empty:
    engine.kill_experiment(platform, experiment_id)
    return Empty()


@router.post("/api/v1/experiments/{experiment_id}/archive", needs=needs.EDIT_EXPERIMENT)
def archive_experiment(experiment_id: int, platform: PlatformOf) -> Empty:
    engine.archive_experiment(platform, experiment_id)
    return Empty()


@router.post("/api/v1/experiments/{experiment_id}/unarchive", needs=needs.EDIT_EXPERIMENT)
def unarchive_experiment(experiment_id: int, platform: PlatformOf) -> Empty:
    engine.unarchive_experiment(platform, experiment_id)
    return Empty()


@router.post("/api/v1/experiments/{experiment_id}/move", needs=needs.EDIT_EXPERIMENT)
def move_experiment(
    experiment_id: int, body: wire.MoveExperimentRequest, platform: PlatformOf, caller: Caller
) -> Empty:
    with platform.store.read() as tx:
        caller.check(tx, Permission.CREATE_EXPERIMENT, "project_id", body.destination_project_id)
    engine.move_experiment(platform, experiment_id, body.destination_project_id)
    return Empty()


@router.delete("/api/v1/experiments/{experiment_id}", needs=needs.DELETE_EXPERIMENT)
def delete_experiment(experiment_id: int, platform: PlatformOf) -> Empty:
    """Checkpoint files, logs and metrics go with it."""
    engine.delete_experiment(platform, experiment_id)
    return Empty()


@router.delete("/api/v1/experiments/{experiment_id}/tensorboard-files", needs=needs.EDIT_EXPERIMENT)
def delete_tensorboard_files(experiment_id: int, platform: PlatformOf) -> Empty:
    """Event files that the official harness put beside its checkpoints. They go with the experiment, too."""
    tensorboard_files.delete_tensorboard_files(platform, experiment_id)
    return Empty()


@router.put("/api/v1/experiments/{experiment_id}/labels/{label}", needs=needs.DESCRIBE_EXPERIMENT)
def put_experiment_label(experiment_id: int, label: str, platform: PlatformOf) -> wire.LabelsResponse:
    return _relabel(platform, experiment_id, add=label)


@router.delete("/api/v1/experiments/{experiment_id}/labels/{label}", needs=needs.DESCRIBE_EXPERIMENT)
def delete_experiment_label(experiment_id: int, label: str, platform: PlatformOf) -> wire.LabelsResponse:
    return _relabel(platform, experiment_id, remove=label)


def _relabel(platform: Platform, experiment_id: int, *, add: str = "", remove: str = "") -> wire.LabelsResponse:
    with platform.store.read() as tx:
        labels = [label for label in tx.experiments.get(experiment_id).labels if label != remove]
    labels = list(dict.fromkeys([*labels, *([add] if add else [])]))
    engine.patch_experiment(platform, experiment_id, labels=labels)
    return wire.LabelsResponse(labels=labels)


@router.get("/api/v1/experiment/labels", needs=needs.VIEW_EXPERIMENT.listed)
def get_experiment_labels(
    platform: PlatformOf, caller: Caller, project_id: Annotated[int, Query(alias="projectId")] = 0
) -> wire.LabelsResponse:
    visible = caller.workspaces(Permission.VIEW_EXPERIMENT_METADATA)
    with platform.store.read() as tx:
        found = tx.experiments.search(ExperimentQuery(project_id=project_id or None, visible_in=visible)).items
    return wire.LabelsResponse(labels=sorted({label for summary in found for label in summary.experiment.labels}))
