"""Projects: the folders of a workspace, and deeds on many of their experiments at once."""

from collections.abc import Callable
from typing import Annotated

from fastapi import Query

from resolute.domain import needs
from resolute.domain.errors import InvalidInput, NotFound, ResoluteError
from resolute.domain.rights import Permission
from resolute.domain.workspace import Project
from resolute.engine.access import workspaces as engine
from resolute.engine.experiments import changes as experiment_engine
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.ports.queries import ExperimentQuery
from resolute.server.auth import Caller, PlatformOf, Principal
from resolute.server.paging import Order, Paging, is_descending, pagination
from resolute.server.resource import Resource
from resolute.server.shapes.states import experiment_states
from resolute.server.shapes.workspaces import project_message
from resolute.spec.wire import experiments as wire_experiments
from resolute.spec.wire import workspaces as wire
from resolute.spec.wire.base import Empty
from resolute.spec.wire.enums import ColumnLocation, ColumnType, NameSortBy, OrderBy

router = Resource(tags=["projects"])


@router.get("/api/v1/workspaces/{workspace_id}/projects", needs=needs.VIEW_PROJECT.listed)
def get_workspace_projects(
    workspace_id: int,
    platform: PlatformOf,
    caller: Caller,
    page: Paging,
    name: str = "",
    archived: bool | None = None,
    users: Annotated[list[str], Query()] = [],  # noqa: B006
    user_ids: Annotated[list[int], Query(alias="userIds")] = [],  # noqa: B006
    sort_by: Annotated[str, Query(alias="sortBy")] = "",
    order_by: Order = OrderBy.UNSPECIFIED,
) -> wire.GetWorkspaceProjectsResponse:
    """Workspace 0: the projects of all."""
    with platform.store.read() as tx:
        if workspace_id:
            caller.check(tx, Permission.VIEW_WORKSPACE, "workspace_id", tx.workspaces.get(workspace_id).id)
        visible = caller.workspaces(Permission.VIEW_PROJECT)
        projects = tx.workspaces.projects(workspace_id or None, visible_in=visible)
        messages = [_message(tx, project) for project in projects]
    found = [
        message
        for message in messages
        if name.lower() in message.name.lower()
        and archived in (None, message.archived)
        and (not users or message.username in users)
        and (not user_ids or message.user_id in user_ids)
    ]
    found.sort(key=lambda p: p.name if sort_by == NameSortBy.NAME else p.id, reverse=is_descending(order_by))
    cut = page.cut(found)
    return wire.GetWorkspaceProjectsResponse(projects=cut.items, pagination=pagination(cut, page))


@router.post("/api/v1/workspaces/{workspace_id}/projects", needs=needs.CREATE_PROJECT)
def post_project(
    workspace_id: int, body: wire.PostProjectRequest, platform: PlatformOf, caller: Caller
) -> wire.ProjectResponse:
    project = engine.add_project(
        platform,
        user=caller.user,
        workspace_id=workspace_id,
        name=body.name,
        description=body.description,
        key=body.key,
    )
    return _show(platform, project.id)


@router.get("/api/v1/user/projects/activity", needs=needs.VIEW_PROJECT.listed, operation_id="GetProjectsByUserActivity")
def get_projects_by_user_activity(
    platform: PlatformOf, caller: Caller, limit: int = 5
) -> wire.GetWorkspaceProjectsResponse:
    """Those with the newest experiments of the caller first."""
    visible = caller.workspaces(Permission.VIEW_PROJECT)
    query = ExperimentQuery(user_ids=(caller.user.id,), visible_in=visible, sort_by="start_time", descending=True)
    with platform.store.read() as tx:
        found = tx.experiments.search(query).items
        ids = list(dict.fromkeys(summary.experiment.project_id for summary in found))[: max(limit, 0) or 5]
        projects = [_message(tx, tx.workspaces.project(project_id)) for project_id in ids]
    return wire.GetWorkspaceProjectsResponse(projects=projects)


@router.get("/api/v1/projects/key/{project_key}", needs=needs.VIEW_PROJECT)
def get_project_by_key(project_key: str, platform: PlatformOf) -> wire.ProjectResponse:
    with platform.store.read() as tx:
        for project in tx.workspaces.projects():
            if project.key == project_key.upper():
                return wire.ProjectResponse(project=_message(tx, project))
    raise NotFound(f"project not found: {project_key}")


@router.get("/api/v1/projects/{project_id}", needs=needs.VIEW_PROJECT)
def get_project(project_id: int, platform: PlatformOf) -> wire.ProjectResponse:
    return _show(platform, project_id)


@router.patch("/api/v1/projects/{project_id}", needs=needs.EDIT_PROJECT)
def patch_project(project_id: int, body: wire.PatchProject, platform: PlatformOf) -> wire.ProjectResponse:
    engine.change_project(platform, project_id, name=body.name, description=body.description, key=body.key)
    return _show(platform, project_id)


@router.delete("/api/v1/projects/{project_id}", needs=needs.DELETE_PROJECT)
def delete_project(project_id: int, platform: PlatformOf) -> wire.Completed:
    """Only one without experiments."""
    engine.delete_project(platform, project_id)
    return wire.Completed()


@router.post("/api/v1/projects/{project_id}/archive", needs=needs.EDIT_PROJECT)
def archive_project(project_id: int, platform: PlatformOf) -> Empty:
    engine.archive_project(platform, project_id, archived=True)
    return Empty()


@router.post("/api/v1/projects/{project_id}/unarchive", needs=needs.EDIT_PROJECT)
def unarchive_project(project_id: int, platform: PlatformOf) -> Empty:
    engine.archive_project(platform, project_id, archived=False)
    return Empty()


@router.post("/api/v1/projects/{project_id}/move", needs=needs.EDIT_PROJECT)
def move_project(project_id: int, body: wire.MoveProjectRequest, platform: PlatformOf, caller: Caller) -> Empty:
    with platform.store.read() as tx:
        caller.check(tx, Permission.CREATE_PROJECT, "workspace_id", body.destination_workspace_id)
    engine.move_project(platform, project_id, workspace_id=body.destination_workspace_id)
    return Empty()


@router.post("/api/v1/projects/{project_id}/notes", needs=needs.WRITE_NOTES)
def add_project_note(project_id: int, body: wire.Note, platform: PlatformOf) -> wire.NotesResponse:
    notes = engine.add_note(platform, project_id, {"name": body.name, "contents": body.contents})
    return wire.NotesResponse(notes=[wire.Note.model_validate(note) for note in notes])


@router.put("/api/v1/projects/{project_id}/notes", needs=needs.WRITE_NOTES)
def put_project_notes(project_id: int, body: wire.PutProjectNotesRequest, platform: PlatformOf) -> wire.NotesResponse:
    notes = tuple({"name": note.name, "contents": note.contents} for note in body.notes)
    engine.write_notes(platform, project_id, notes)
    return wire.NotesResponse(notes=body.notes)


def _show(platform: Platform, project_id: int) -> wire.ProjectResponse:
    with platform.store.read() as tx:
        return wire.ProjectResponse(project=_message(tx, tx.workspaces.project(project_id)))


def _message(tx: Transaction, project: Project) -> wire.Project:
    counts = tx.workspaces.project_counts().get(project.id, (0, 0, None))
    owner, workspace = tx.users.get(project.user_id), tx.workspaces.get(project.workspace_id)
    return project_message(project, owner, workspace, counts)


# --------------------------------------------------------------------------------------------------------- columns

_FIXED_COLUMNS = (
    ("id", ColumnType.NUMBER),
    ("name", ColumnType.TEXT),
    ("description", ColumnType.TEXT),
    ("tags", ColumnType.TEXT),
    ("forkedFrom", ColumnType.NUMBER),
    ("startTime", ColumnType.DATE),
    ("duration", ColumnType.NUMBER),
    ("numTrials", ColumnType.NUMBER),
    ("state", ColumnType.TEXT),
    ("searcherType", ColumnType.TEXT),
    ("resourcePool", ColumnType.TEXT),
    ("progress", ColumnType.NUMBER),
    ("checkpointSize", ColumnType.NUMBER),
    ("checkpointCount", ColumnType.NUMBER),
    ("user", ColumnType.TEXT),
    ("searcherMetric", ColumnType.TEXT),
    ("searcherMetricsVal", ColumnType.NUMBER),
)


@router.get("/api/v1/projects/{project_id}/columns", needs=needs.VIEW_EXPERIMENT)
def get_project_columns(project_id: int, platform: PlatformOf) -> wire.GetProjectColumnsResponse:
    """What a table of the project's experiments can show: fixed fields, hyperparameters, metrics."""
    with platform.store.read() as tx:
        tx.workspaces.project(project_id)
        found = tx.experiments.search(ExperimentQuery(project_id=project_id)).items
        best = [summary.best_trial_id for summary in found if summary.best_trial_id is not None]
        names = tx.metrics.names(best)
    hparams = sorted({key for s in found for key in s.experiment.config.get("hyperparameters") or {}})
    columns = [
        *(wire.ProjectColumn(column=c, location=ColumnLocation.EXPERIMENT, type=t) for c, t in _FIXED_COLUMNS),
        *(
            wire.ProjectColumn(column=f"hp.{key}", location=ColumnLocation.HYPERPARAMETERS, type=ColumnType.UNSPECIFIED)
            for key in hparams
        ),
        *(_metric_column(group, name, stat) for group, name in names for stat in ("last", "max", "mean", "min")),
    ]
    return wire.GetProjectColumnsResponse(columns=columns)


def _metric_column(group: str, name: str, statistic: str) -> wire.ProjectColumn:
    location = {"validation": ColumnLocation.VALIDATIONS, "training": ColumnLocation.TRAINING}.get(
        group, ColumnLocation.CUSTOM_METRIC
    )
    return wire.ProjectColumn(column=f"{group}.{name}.{statistic}", location=location, type=ColumnType.NUMBER)


@router.get("/api/v1/projects/{project_id}/experiments/metric-ranges", needs=needs.VIEW_EXPERIMENT)
def get_project_numeric_metrics_range(
    project_id: int, platform: PlatformOf
) -> wire.GetProjectNumericMetricsRangeResponse:
    with platform.store.read() as tx:
        tx.workspaces.project(project_id)
        found = tx.experiments.search(ExperimentQuery(project_id=project_id)).items
        best = [summary.best_trial_id for summary in found if summary.best_trial_id is not None]
        summaries = [each for own in tx.metrics.summaries_of(best).values() for each in own]
    ranges: dict[str, tuple[float, float]] = {}
    for each in summaries:
        if each.min is None or each.max is None:
            continue
        key = f"{each.group}.{each.name}"
        low, high = ranges.get(key, (each.min, each.max))
        ranges[key] = (min(low, each.min), max(high, each.max))
    return wire.GetProjectNumericMetricsRangeResponse(
        ranges=[wire.MetricsRange(metrics_name=key, min=low, max=high) for key, (low, high) in sorted(ranges.items())]
    )


# ------------------------------------------------------------------------------------------------ many experiments

_Deed = Callable[[int], None]


def _each(
    platform: Platform,
    caller: Principal,
    project_id: int,
    body: wire_experiments.BulkExperimentsRequest,
    deed: _Deed,
    permission: Permission = Permission.UPDATE_EXPERIMENT,
) -> wire_experiments.BulkExperimentsResponse:
    """Do it to every one that is meant; what fails, or is not allowed, is told beside its id and stops nobody else."""
    results = []
    for experiment_id in _meant(platform, caller, project_id, body):
        try:
            with platform.store.read() as tx:
                caller.check(tx, permission, "experiment_id", experiment_id)
            deed(experiment_id)
            results.append(wire_experiments.ExperimentActionResult(id=experiment_id))
        except ResoluteError as error:
            results.append(wire_experiments.ExperimentActionResult(id=experiment_id, error=str(error)))
    return wire_experiments.BulkExperimentsResponse(results=results)


def _meant(
    platform: Platform, caller: Principal, project_id: int, body: wire_experiments.BulkExperimentsRequest
) -> list[int]:
    filters = body.filters
    if filters is None:
        return body.experiment_ids
    query = ExperimentQuery(
        name_contains=filters.name,
        description_contains=filters.description,
        labels=tuple(filters.labels),
        archived=filters.archived,
        states=experiment_states(filters.states),
        user_ids=tuple(filters.user_ids),
        project_id=filters.project_id or project_id,
        visible_in=caller.workspaces(Permission.VIEW_EXPERIMENT_METADATA),
    )
    with platform.store.read() as tx:
        found = [summary.experiment.id for summary in tx.experiments.search(query).items]
    return [each for each in found if each not in filters.excluded_experiment_ids]


@router.post("/api/v1/projects/{project_id}/experiments/activate", needs=needs.EDIT_EXPERIMENT.in_body)
def activate_experiments(
    project_id: int, body: wire_experiments.BulkExperimentsRequest, platform: PlatformOf, caller: Caller
) -> wire_experiments.BulkExperimentsResponse:
    return _each(platform, caller, project_id, body, lambda each: experiment_engine.activate_experiment(platform, each))


@router.post("/api/v1/projects/{project_id}/experiments/pause", needs=needs.EDIT_EXPERIMENT.in_body)
def pause_experiments(
    project_id: int, body: wire_experiments.BulkExperimentsRequest, platform: PlatformOf, caller: Caller
) -> wire_experiments.BulkExperimentsResponse:
    return _each(platform, caller, project_id, body, lambda each: experiment_engine.pause_experiment(platform, each))


@router.post("/api/v1/projects/{project_id}/experiments/cancel", needs=needs.EDIT_EXPERIMENT.in_body)
def cancel_experiments(
    project_id: int, body: wire_experiments.BulkExperimentsRequest, platform: PlatformOf, caller: Caller
) -> wire_experiments.BulkExperimentsResponse:
    return _each(platform, caller, project_id, body, lambda each: experiment_engine.cancel_experiment(platform, each))


@router.post("/api/v1/projects/{project_id}/experiments/kill", needs=needs.EDIT_EXPERIMENT.in_body)
def kill_experiments(
    project_id: int, body: wire_experiments.BulkExperimentsRequest, platform: PlatformOf, caller: Caller
) -> wire_experiments.BulkExperimentsResponse:
    return _each(platform, caller, project_id, body, lambda each: experiment_engine.kill_experiment(platform, each))


@router.post("/api/v1/projects/{project_id}/experiments/archive", needs=needs.EDIT_EXPERIMENT.in_body)
def archive_experiments(
    project_id: int, body: wire_experiments.BulkExperimentsRequest, platform: PlatformOf, caller: Caller
) -> wire_experiments.BulkExperimentsResponse:
    return _each(platform, caller, project_id, body, lambda each: experiment_engine.archive_experiment(platform, each))


@router.post("/api/v1/projects/{project_id}/experiments/unarchive", needs=needs.EDIT_EXPERIMENT.in_body)
def unarchive_experiments(
    project_id: int, body: wire_experiments.BulkExperimentsRequest, platform: PlatformOf, caller: Caller
) -> wire_experiments.BulkExperimentsResponse:
    return _each(
        platform, caller, project_id, body, lambda each: experiment_engine.unarchive_experiment(platform, each)
    )


@router.post("/api/v1/projects/{project_id}/experiments/move", needs=needs.EDIT_EXPERIMENT.in_body)
def move_experiments(
    project_id: int, body: wire_experiments.BulkExperimentsRequest, platform: PlatformOf, caller: Caller
) -> wire_experiments.BulkExperimentsResponse:
    target = body.destination_project_id
    if target is None:
        raise InvalidInput("destinationProjectId: say which project to move the experiments to.")
    with platform.store.read() as tx:
        caller.check(tx, Permission.CREATE_EXPERIMENT, "project_id", target)
    return _each(
        platform, caller, project_id, body, lambda each: experiment_engine.move_experiment(platform, each, target)
    )


@router.delete("/api/v1/projects/{project_id}/experiments/delete", needs=needs.DELETE_EXPERIMENT.in_body)
def delete_experiments(
    project_id: int, body: wire_experiments.BulkExperimentsRequest, platform: PlatformOf, caller: Caller
) -> wire_experiments.BulkExperimentsResponse:
    def delete(experiment_id: int) -> None:
        experiment_engine.delete_experiment(platform, experiment_id)

    return _each(platform, caller, project_id, body, delete, Permission.DELETE_EXPERIMENT)
