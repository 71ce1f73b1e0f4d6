"""Workspaces and templates."""

from typing import Annotated, Any

from fastapi import Body, Query

from resolute.domain.template import Template
from resolute.domain.workspace import Workspace
from resolute.engine.access import workspaces as engine
from resolute.engine.experiments import templates as template_engine
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.server.auth import Caller, PlatformOf
from resolute.server.paging import Order, Paging, is_descending, pagination
from resolute.server.resource import Resource
from resolute.server.shapes.workspaces import template_message, workspace_message
from resolute.spec.wire import workspaces as wire
from resolute.spec.wire.base import Empty
from resolute.spec.wire.enums import NameSortBy, OrderBy

router = Resource(tags=["workspaces"])

SortBy = Annotated[NameSortBy, Query(alias="sortBy")]


@router.get("/api/v1/workspaces")
def get_workspaces(
    platform: PlatformOf,
    page: Paging,
    name: str = "",
    name_case_sensitive: Annotated[str, Query(alias="nameCaseSensitive")] = "",
    archived: bool | None = None,
    pinned: bool | None = None,
    users: Annotated[list[str], Query()] = [],  # noqa: B006
    user_ids: Annotated[list[int], Query(alias="userIds")] = [],  # noqa: B006
    sort_by: SortBy = NameSortBy.UNSPECIFIED,
    order_by: Order = OrderBy.UNSPECIFIED,
) -> wire.GetWorkspacesResponse:
    with platform.store.read() as tx:
        messages = [_message(tx, workspace) for workspace in tx.workspaces.all()]
    found = [
        message
        for message in messages
        if name.lower() in message.name.lower()
        and name_case_sensitive in ("", message.name)
        and archived in (None, message.archived)
        and pinned in (None, message.pinned)
        and (not users or message.username in users)
        and (not user_ids or message.user_id in user_ids)
    ]
    found.sort(key=lambda each: each.name if sort_by is NameSortBy.NAME else each.id, reverse=is_descending(order_by))
    cut = page.cut(found)
    return wire.GetWorkspacesResponse(workspaces=cut.items, pagination=pagination(cut, page))


@router.post("/api/v1/workspaces")
def post_workspace(body: wire.PostWorkspaceRequest, platform: PlatformOf, caller: Caller) -> wire.WorkspaceResponse:
    workspace = engine.add_workspace(
        platform, user=caller.user, name=body.name, checkpoint_storage=body.checkpoint_storage_config
    )
    return _show(platform, workspace.id)


@router.get("/api/v1/workspaces/{workspace_id}")
def get_workspace(workspace_id: int, platform: PlatformOf) -> wire.WorkspaceResponse:
    return _show(platform, workspace_id)


@router.patch("/api/v1/workspaces/{workspace_id}")
def patch_workspace(
    workspace_id: int, body: wire.PatchWorkspace, platform: PlatformOf, caller: Caller
) -> wire.WorkspaceResponse:
    engine.change_workspace(
        platform,
        workspace_id,
        by=caller.user,
        name=body.name,
        checkpoint_storage=body.checkpoint_storage_config,
    )
    return _show(platform, workspace_id)


@router.delete("/api/v1/workspaces/{workspace_id}")
def delete_workspace(workspace_id: int, platform: PlatformOf, caller: Caller) -> wire.Completed:
    """Only one without experiments."""
    engine.delete_workspace(platform, workspace_id, by=caller.user)
    return wire.Completed()


@router.post("/api/v1/workspaces/{workspace_id}/archive")
def archive_workspace(workspace_id: int, platform: PlatformOf, caller: Caller) -> Empty:
    engine.archive_workspace(platform, workspace_id, by=caller.user, archived=True)
    return Empty()


@router.post("/api/v1/workspaces/{workspace_id}/unarchive")
def unarchive_workspace(workspace_id: int, platform: PlatformOf, caller: Caller) -> Empty:
    engine.archive_workspace(platform, workspace_id, by=caller.user, archived=False)
    return Empty()


@router.post("/api/v1/workspaces/{workspace_id}/pin")
def pin_workspace(workspace_id: int, platform: PlatformOf) -> Empty:
    engine.pin_workspace(platform, workspace_id, pinned=True)
    return Empty()


@router.post("/api/v1/workspaces/{workspace_id}/unpin")
def unpin_workspace(workspace_id: int, platform: PlatformOf) -> Empty:
    engine.pin_workspace(platform, workspace_id, pinned=False)
    return Empty()


@router.get("/api/v1/workspaces/{workspace_id}/available-resource-pools", operation_id="ListRPsBoundToWorkspace")
def list_pools_of_workspace(
    workspace_id: int, platform: PlatformOf, page: Paging
) -> wire.ListRPsBoundToWorkspaceResponse:
    with platform.store.read() as tx:
        tx.workspaces.get(workspace_id)
    cut = page.cut(sorted({node.resource_pool for node in platform.runner.nodes()}))
    return wire.ListRPsBoundToWorkspaceResponse(resource_pools=cut.items, pagination=pagination(cut, page))


def _show(platform: Platform, workspace_id: int) -> wire.WorkspaceResponse:
    with platform.store.read() as tx:
        return wire.WorkspaceResponse(workspace=_message(tx, tx.workspaces.get(workspace_id)))


def _message(tx: Transaction, workspace: Workspace) -> wire.Workspace:
    counts = tx.workspaces.counts().get(workspace.id, (0, 0))
    return workspace_message(workspace, tx.users.get(workspace.user_id), counts)


# ------------------------------------------------------------------------------------------------------- templates


@router.get("/api/v1/templates")
def get_templates(
    platform: PlatformOf,
    page: Paging,
    name: str = "",
    workspace_ids: Annotated[list[int], Query(alias="workspaceIds")] = [],  # noqa: B006
    order_by: Order = OrderBy.UNSPECIFIED,
) -> wire.GetTemplatesResponse:
    with platform.store.read() as tx:
        templates = tx.templates.all()
    found = [
        template
        for template in templates
        if name.lower() in template.name.lower() and (not workspace_ids or template.workspace_id in workspace_ids)
    ]
    found.sort(key=lambda template: template.name, reverse=is_descending(order_by))
    cut = page.cut(found)
    return wire.GetTemplatesResponse(
        templates=[template_message(template) for template in cut.items], pagination=pagination(cut, page)
    )


@router.patch("/api/v1/template/rename")
def patch_template_name(body: wire.PatchTemplateNameRequest, platform: PlatformOf) -> wire.TemplateResponse:
    return _template(template_engine.rename_template(platform, body.old_name, body.new_name))


@router.get("/api/v1/templates/{template_name}")
def get_template(template_name: str, platform: PlatformOf) -> wire.TemplateResponse:
    with platform.store.read() as tx:
        return _template(tx.templates.get(template_name))


@router.post("/api/v1/templates/{template_name}")
def post_template(template_name: str, body: wire.Template, platform: PlatformOf) -> wire.TemplateResponse:
    """Only a new name; PUT replaces."""
    template = Template(name=template_name, config=body.config, workspace_id=body.workspace_id or 1)
    return _template(template_engine.put_template(platform, template, must_be_new=True))


@router.put("/api/v1/templates/{template_name}")
def put_template(template_name: str, body: wire.Template, platform: PlatformOf) -> wire.TemplateResponse:
    template = Template(name=template_name, config=body.config, workspace_id=body.workspace_id or 1)
    return _template(template_engine.put_template(platform, template))


@router.patch("/api/v1/templates/{template_name}")
def patch_template_config(
    template_name: str, body: Annotated[dict[str, Any], Body()], platform: PlatformOf
) -> wire.TemplateResponse:
    """The body is the configuration itself."""
    return _template(template_engine.change_template(platform, template_name, body))


@router.delete("/api/v1/templates/{template_name}")
def delete_template(template_name: str, platform: PlatformOf) -> Empty:
    template_engine.remove_template(platform, template_name)
    return Empty()


def _template(template: Template) -> wire.TemplateResponse:
    return wire.TemplateResponse(template=template_message(template))
