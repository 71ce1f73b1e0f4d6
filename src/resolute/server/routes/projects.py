"""Projects: the folders of a workspace, and deeds on many of their experiments at once."""

from typing import Annotated

from fastapi import Query

from resolute.domain import needs
from resolute.domain.errors import InvalidInput
from resolute.domain.rights import Permission
from resolute.engine.access import workspaces as engine
from resolute.engine.access.project_views import (
    ProjectQuery,
    active_projects,
    list_projects,
    project_by_key,
    project_view,
)
from resolute.engine.experiments import changes as experiment_engine
from resolute.engine.experiments.bulk import Deed, do_for_each, experiments_meant
from resolute.engine.experiments.table import STATISTICS, metric_ranges, table_columns
from resolute.engine.platform import Platform
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
    if workspace_id:
        with platform.store.read() as tx:
            caller.check(tx, Permission.VIEW_WORKSPACE, "workspace_id", tx.workspaces.get(workspace_id).id)
    query = ProjectQuery(
        workspace_id=workspace_id or None,
        visible_in=caller.workspaces(Permission.VIEW_PROJECT),
        name=name,
        archived=archived,
        users=tuple(users),
        user_ids=tuple(user_ids),
        by_name=sort_by == NameSortBy.NAME,
        descending=is_descending(order_by),
        page=page.request,
    )
    found = list_projects(platform, query)
    messages = [project_message(view) for view in found.items]
    return wire.GetWorkspaceProjectsResponse(projects=messages, pagination=pagination(found, page))


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
    found = active_projects(platform, caller.user, limit=max(limit, 0) or 5, visible_in=visible)
    return wire.GetWorkspaceProjectsResponse(projects=[project_message(view) for view in found])


@router.get("/api/v1/projects/key/{project_key}", needs=needs.VIEW_PROJECT)
def get_project_by_key(project_key: str, platform: PlatformOf) -> wire.ProjectResponse:
    return wire.ProjectResponse(project=project_message(project_by_key(platform, project_key)))


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
    return wire.ProjectResponse(project=project_message(project_view(platform, project_id)))


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
    shown = table_columns(platform, project_id)
    columns = [
        *(wire.ProjectColumn(column=c, location=ColumnLocation.EXPERIMENT, type=t) for c, t in _FIXED_COLUMNS),
        *(
            wire.ProjectColumn(column=f"hp.{key}", location=ColumnLocation.HYPERPARAMETERS, type=ColumnType.UNSPECIFIED)
            for key in shown.hyperparameters
        ),
        *(_metric_column(group, name, statistic) for group, name in shown.metrics for statistic in STATISTICS),
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
    ranges = metric_ranges(platform, project_id)
    return wire.GetProjectNumericMetricsRangeResponse(
        ranges=[wire.MetricsRange(metrics_name=key, min=low, max=high) for key, (low, high) in ranges.items()]
    )


# ------------------------------------------------------------------------------------------------ many experiments


def for_each(
    platform: Platform,
    caller: Principal,
    project_id: int,
    body: wire_experiments.BulkExperimentsRequest,
    deed: Deed,
    permission: Permission = Permission.UPDATE_EXPERIMENT,
) -> wire_experiments.BulkExperimentsResponse:
    """One deed on the experiments that the body names, by id or by a filter."""
    meant = _meant(platform, caller, project_id, body)
    done = do_for_each(platform, meant, deed, rights=caller.rights, permission=permission)
    results = [wire_experiments.ExperimentActionResult(id=each.experiment_id, error=each.error) for each in done]
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
        project_id=_project_meant(filters.project_id, project_id),
        visible_in=caller.workspaces(Permission.VIEW_EXPERIMENT_METADATA),
    )
    return experiments_meant(platform, query, excluded=filters.excluded_experiment_ids)


def _project_meant(in_filter: int | None, in_path: int) -> int | None:
    """The filter's word counts more than the path's; below one both mean every project."""
    meant = in_path if in_filter is None else in_filter
    return meant if meant > 0 else None


@router.post("/api/v1/projects/{project_id}/experiments/activate", needs=needs.EDIT_EXPERIMENT.in_body)
def activate_experiments(
    project_id: int, body: wire_experiments.BulkExperimentsRequest, platform: PlatformOf, caller: Caller
) -> wire_experiments.BulkExperimentsResponse:
    return for_each(platform, caller, project_id, body, experiment_engine.activate_experiment)


@router.post("/api/v1/projects/{project_id}/experiments/pause", needs=needs.EDIT_EXPERIMENT.in_body)
def pause_experiments(
    project_id: int, body: wire_experiments.BulkExperimentsRequest, platform: PlatformOf, caller: Caller
) -> wire_experiments.BulkExperimentsResponse:
    return for_each(platform, caller, project_id, body, experiment_engine.pause_experiment)


@router.post("/api/v1/projects/{project_id}/experiments/cancel", needs=needs.EDIT_EXPERIMENT.in_body)
def cancel_experiments(
    project_id: int, body: wire_experiments.BulkExperimentsRequest, platform: PlatformOf, caller: Caller
) -> wire_experiments.BulkExperimentsResponse:
    return for_each(platform, caller, project_id, body, experiment_engine.cancel_experiment)


@router.post("/api/v1/projects/{project_id}/experiments/kill", needs=needs.EDIT_EXPERIMENT.in_body)
def kill_experiments(
    project_id: int, body: wire_experiments.BulkExperimentsRequest, platform: PlatformOf, caller: Caller
) -> wire_experiments.BulkExperimentsResponse:
    return for_each(platform, caller, project_id, body, experiment_engine.kill_experiment)


@router.post("/api/v1/projects/{project_id}/experiments/archive", needs=needs.EDIT_EXPERIMENT.in_body)
def archive_experiments(
    project_id: int, body: wire_experiments.BulkExperimentsRequest, platform: PlatformOf, caller: Caller
) -> wire_experiments.BulkExperimentsResponse:
    return for_each(platform, caller, project_id, body, experiment_engine.archive_experiment)


@router.post("/api/v1/projects/{project_id}/experiments/unarchive", needs=needs.EDIT_EXPERIMENT.in_body)
def unarchive_experiments(
    project_id: int, body: wire_experiments.BulkExperimentsRequest, platform: PlatformOf, caller: Caller
) -> wire_experiments.BulkExperimentsResponse:
    return for_each(platform, caller, project_id, body, experiment_engine.unarchive_experiment)


@router.post("/api/v1/projects/{project_id}/experiments/move", needs=needs.EDIT_EXPERIMENT.in_body)
def move_experiments(
    project_id: int, body: wire_experiments.BulkExperimentsRequest, platform: PlatformOf, caller: Caller
) -> wire_experiments.BulkExperimentsResponse:
    target = body.destination_project_id
    if target is None:
        raise InvalidInput("destinationProjectId: say which project to move the experiments to.")
    with platform.store.read() as tx:
        caller.check(tx, Permission.CREATE_EXPERIMENT, "project_id", target)

    def move(platform: Platform, experiment_id: int) -> None:
        experiment_engine.move_experiment(platform, experiment_id, target)

    return for_each(platform, caller, project_id, body, move)


@router.delete("/api/v1/projects/{project_id}/experiments/delete", needs=needs.DELETE_EXPERIMENT.in_body)
def delete_experiments(
    project_id: int, body: wire_experiments.BulkExperimentsRequest, platform: PlatformOf, caller: Caller
) -> wire_experiments.BulkExperimentsResponse:
    return for_each(
        platform, caller, project_id, body, experiment_engine.delete_experiment, Permission.DELETE_EXPERIMENT
    )
