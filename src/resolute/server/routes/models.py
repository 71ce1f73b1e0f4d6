"""The model registry: models, their versions, labels and stages. A model is named by its name or its id."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Query

from resolute.domain import needs
from resolute.domain.errors import NotFound
from resolute.domain.model import Model, ModelVersion
from resolute.domain.rights import Permission
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.ports.queries import Page
from resolute.engine.ports.registry import ModelQuery
from resolute.engine.registry import models as engine
from resolute.engine.trials.sources import metrics_of
from resolute.server.auth import Caller, PlatformOf, Principal
from resolute.server.paging import Order, Paging, is_descending, pagination
from resolute.server.resource import Resource
from resolute.server.shapes.metrics import report_message, source_kind
from resolute.server.shapes.registry import model_message, version_message
from resolute.spec.wire import enums
from resolute.spec.wire import registry as wire
from resolute.spec.wire.base import Empty
from resolute.spec.wire.metrics import GetMetricsResponse

router = Resource(tags=["models"])

_MODEL = "/api/v1/models/{model_name}"
_VERSION = _MODEL + "/versions/{model_version_num}"
SortBy = Annotated[enums.ModelSortBy, Query(alias="sortBy")]
VersionSortBy = Annotated[enums.ModelVersionSortBy, Query(alias="sortBy")]


# ------------------------------------------------------------------------------------------------------------ look


@router.get("/api/v1/models", needs=needs.VIEW_MODEL.listed.or_any_task)
def get_models(
    platform: PlatformOf,
    caller: Caller,
    page: Paging,
    name: str = "",
    description: str = "",
    id: int | None = None,
    archived: bool | None = None,
    labels: Annotated[list[str], Query()] = [],  # noqa: B006
    users: Annotated[list[str], Query()] = [],  # noqa: B006
    user_ids: Annotated[list[int], Query(alias="userIds")] = [],  # noqa: B006
    workspace_ids: Annotated[list[int], Query(alias="workspaceIds")] = [],  # noqa: B006
    workspace_names: Annotated[list[str], Query(alias="workspaceNames")] = [],  # noqa: B006
    sort_by: SortBy = enums.ModelSortBy.UNSPECIFIED,
    order_by: Order = enums.OrderBy.UNSPECIFIED,
) -> wire.GetModelsResponse:
    """Names and descriptions match by a part, whatever the case; every label given must be there."""
    request = page.request
    query = ModelQuery(
        id=id,
        name_contains=name,
        description_contains=description,
        labels=tuple(labels),
        archived=archived,
        users=tuple(users),
        user_ids=tuple(user_ids),
        workspace_ids=tuple(workspace_ids),
        workspace_names=tuple(workspace_names),
        visible_in=caller.workspaces(Permission.VIEW_MODEL_REGISTRY),
        sort_by=_sort_field(sort_by),
        descending=is_descending(order_by),
        offset=request.offset,
        limit=request.limit,
    )
    with platform.store.read() as tx:
        found, total = tx.models.search(query)
        messages = _model_messages(tx, found)
    start = max(total + request.offset, 0) if request.offset < 0 else min(request.offset, total)
    return wire.GetModelsResponse(models=messages, pagination=pagination(Page(messages, total, start), page))


def _sort_field(sort_by: enums.ModelSortBy) -> str:
    return "id" if sort_by is enums.ModelSortBy.UNSPECIFIED else sort_by.removeprefix("SORT_BY_").lower()


@router.get("/api/v1/model/labels", needs=needs.VIEW_MODEL.listed)
def get_model_labels(
    platform: PlatformOf, caller: Caller, workspace_id: Annotated[int | None, Query(alias="workspaceId")] = None
) -> wire.GetModelLabelsResponse:
    """Most used first."""
    visible = caller.workspaces(Permission.VIEW_MODEL_REGISTRY)
    with platform.store.read() as tx:
        return wire.GetModelLabelsResponse(labels=tx.models.labels(workspace_id or None, visible_in=visible))


@router.get(_MODEL, needs=needs.VIEW_MODEL)
def get_model(model_name: str, platform: PlatformOf) -> wire.ModelResponse:
    with platform.store.read() as tx:
        return _shown(tx, engine.find_model(tx, model_name))


@router.get(_MODEL + "/versions", needs=needs.VIEW_MODEL)
def get_model_versions(
    model_name: str,
    platform: PlatformOf,
    page: Paging,
    sort_by: VersionSortBy = enums.ModelVersionSortBy.UNSPECIFIED,
    order_by: Order = enums.OrderBy.UNSPECIFIED,
) -> wire.GetModelVersionsResponse:
    """Numbers are given in the order of registration, so every sort key says the same."""
    with platform.store.read() as tx:
        model = engine.find_model(tx, model_name)
        versions = tx.models.versions(model.id)
        if not is_descending(order_by):
            versions.reverse()
        cut = page.cut(versions)
        return wire.GetModelVersionsResponse(
            model=_model_messages(tx, [model])[0],
            model_versions=_version_messages(tx, model, cut.items),
            pagination=pagination(cut, page),
        )


@router.get(_VERSION, needs=needs.VIEW_MODEL)
def get_model_version(model_name: str, model_version_num: int, platform: PlatformOf) -> wire.ModelVersionResponse:
    with platform.store.read() as tx:
        model = engine.find_model(tx, model_name)
        return _shown_version(tx, model, tx.models.version(model.id, model_version_num))


@router.get(_VERSION + "/metrics", needs=needs.VIEW_MODEL)
def get_trial_metrics_by_model_version(
    model_name: str,
    model_version_num: int,
    platform: PlatformOf,
    caller: Caller,
    trial_source_info_type: Annotated[enums.TrialSourceInfoType | None, Query(alias="trialSourceInfoType")] = None,
    metric_group: Annotated[str | None, Query(alias="metricGroup")] = None,
) -> GetMetricsResponse:
    """What trials reported that said to work with this version."""
    with platform.store.read() as tx:
        version = tx.models.version(engine.find_model(tx, model_name).id, model_version_num)
        found = metrics_of(
            tx,
            model=(version.model_id, version.version),
            kind=source_kind(trial_source_info_type),
            group=metric_group,
            visible_in=caller.workspaces(Permission.VIEW_EXPERIMENT_METADATA),
        )
    return GetMetricsResponse(metrics=[report_message(*each) for each in found])


# ---------------------------------------------------------------------------------------------------------- change


@router.post("/api/v1/models", needs=needs.CREATE_MODEL.in_body)
def post_model(body: wire.PostModelRequest, platform: PlatformOf, caller: Caller) -> wire.ModelResponse:
    place = engine.Place(workspace_id=body.workspace_id, workspace_name=body.workspace_name)
    _check_place(platform, caller, place)
    model = engine.create_model(
        platform,
        user=caller.user,
        name=body.name,
        description=body.description,
        notes=body.notes,
        labels=body.labels,
        metadata=body.metadata,
        place=place,
    )
    return _show(platform, model)


@router.patch(_MODEL, needs=needs.EDIT_MODEL)
def patch_model(model_name: str, body: wire.PatchModel, platform: PlatformOf, caller: Caller) -> wire.ModelResponse:
    """Replaces what is given. A workspace moves the model there."""
    place = engine.Place(workspace_id=body.workspace_id, workspace_name=body.workspace_name)
    if place.is_given:
        _check_place(platform, caller, place)
    given = body.model_dump(exclude_unset=True, exclude={"workspace_id", "workspace_name"})
    return _show(platform, engine.change_model(platform, model_name, given, place=place))


@router.post(_MODEL + "/archive", needs=needs.EDIT_MODEL)
def archive_model(model_name: str, platform: PlatformOf) -> Empty:
    engine.archive_model(platform, model_name, archived=True)
    return Empty()


@router.post(_MODEL + "/unarchive", needs=needs.EDIT_MODEL)
def unarchive_model(model_name: str, platform: PlatformOf) -> Empty:
    engine.archive_model(platform, model_name, archived=False)
    return Empty()


@router.post(_MODEL + "/move", needs=needs.EDIT_MODEL)
def move_model(model_name: str, body: wire.MoveModelRequest, platform: PlatformOf, caller: Caller) -> Empty:
    place = engine.Place(workspace_id=body.destination_workspace_id)
    _check_place(platform, caller, place)
    engine.change_model(platform, model_name, {}, place=place)
    return Empty()


def _check_place(platform: Platform, caller: Principal, place: engine.Place) -> None:
    """Whether the caller may put a model there. Names are looked up without telling which others there are."""
    if caller.rights.has(Permission.CREATE_MODEL_REGISTRY):
        return
    with platform.store.read() as tx:
        workspace_id = place.workspace_id or 1
        if place.workspace_name:
            named = tx.workspaces.by_name(place.workspace_name)
            if named is None or not caller.lists(Permission.VIEW_WORKSPACE, named.id):
                raise NotFound(f"workspace not found: {place.workspace_name!r}")
            workspace_id = named.id
        caller.check(tx, Permission.CREATE_MODEL_REGISTRY, "workspace_id", workspace_id)


@router.delete(_MODEL, needs=needs.DELETE_MODEL)
def delete_model(model_name: str, platform: PlatformOf) -> Empty:
    """With its versions. Checkpoints stay."""
    engine.delete_model(platform, model_name)
    return Empty()


@router.post(_MODEL + "/versions", needs=needs.EDIT_MODEL)
def post_model_version(
    model_name: str, body: wire.PostModelVersionRequest, platform: PlatformOf, caller: Caller
) -> wire.ModelVersionResponse:
    """A whole checkpoint becomes the next version; it is kept as long as the version is."""
    with platform.store.read() as tx:
        caller.check(tx, Permission.VIEW_EXPERIMENT_ARTIFACTS, "checkpoint_uuid", body.checkpoint_uuid)
    version = engine.register_version(
        platform,
        model_name,
        user=caller.user,
        checkpoint_uuid=body.checkpoint_uuid,
        name=body.name,
        comment=body.comment,
        notes=body.notes,
        labels=body.labels,
        metadata=body.metadata,
    )
    return _show_version(platform, version)


@router.patch(_VERSION, needs=needs.EDIT_MODEL)
def patch_model_version(
    model_name: str, model_version_num: int, body: wire.PatchModelVersion, platform: PlatformOf
) -> wire.ModelVersionResponse:
    """Replaces what is given. `stage: PRODUCTION` retires the version that was in production."""
    given = body.model_dump(exclude_unset=True)
    return _show_version(platform, engine.change_version(platform, model_name, model_version_num, given))


@router.delete(_VERSION, needs=needs.DELETE_MODEL_VERSION)
def delete_model_version(model_name: str, model_version_num: int, platform: PlatformOf) -> Empty:
    """The checkpoint stays, and may be collected from now on."""
    engine.delete_version(platform, model_name, model_version_num)
    return Empty()


# ------------------------------------------------------------------------------------------------------------ show


def _show(platform: Platform, model: Model) -> wire.ModelResponse:
    with platform.store.read() as tx:
        return _shown(tx, model)


def _shown(tx: Transaction, model: Model) -> wire.ModelResponse:
    return wire.ModelResponse(model=_model_messages(tx, [model])[0])


def _show_version(platform: Platform, version: ModelVersion) -> wire.ModelVersionResponse:
    with platform.store.read() as tx:
        return _shown_version(tx, tx.models.get(version.model_id), version)


def _shown_version(tx: Transaction, model: Model, version: ModelVersion) -> wire.ModelVersionResponse:
    return wire.ModelVersionResponse(model_version=_version_messages(tx, model, [version])[0])


def _model_messages(tx: Transaction, models: Sequence[Model]) -> list[wire.Model]:
    counts = tx.models.version_counts([model.id for model in models])
    names = _usernames(tx, {model.user_id for model in models})
    return [model_message(m, username=names[m.user_id], num_versions=counts.get(m.id, 0)) for m in models]


def _version_messages(tx: Transaction, model: Model, versions: Sequence[ModelVersion]) -> list[wire.ModelVersion]:
    owner = _model_messages(tx, [model])[0]
    names = _usernames(tx, {version.user_id for version in versions})
    return [
        version_message(v, owner, tx.checkpoints.view(v.checkpoint_uuid), username=names[v.user_id]) for v in versions
    ]


def _usernames(tx: Transaction, user_ids: set[int]) -> dict[int, str]:
    return {user_id: tx.users.get(user_id).username for user_id in user_ids}
