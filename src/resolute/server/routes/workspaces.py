"""Workspaces and templates."""

from typing import Annotated

from fastapi import Body, Query

from resolute.domain import needs
from resolute.domain.rights import Permission
from resolute.domain.template import Template
from resolute.domain.workspace import Workspace
from resolute.engine.access import workspaces as engine
from resolute.engine.experiments import templates as template_engine
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.server.auth import Caller, PlatformOf
from resolute.server.paging import Order, Paging, is_descending, pagination
from resolute.server.resource import Resource
from resolute.server.shapes.users import given_account
from resolute.server.shapes.workspaces import template_message, workspace_message
from resolute.spec.wire import workspaces as wire
from resolute.spec.wire.base import Empty
from resolute.spec.wire.enums import NameSortBy, OrderBy

router = Resource(tags=["workspaces"])

SortBy = Annotated[NameSortBy, Query(alias="sortBy")]


@router.get("/api/v1/workspaces", needs=needs.VIEW_WORKSPACE.listed)
def get_workspaces(
    platform: PlatformOf,
    caller: Caller,
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
    visible = caller.workspaces(Permission.VIEW_WORKSPACE)
    with platform.store.read() as tx:
        messages = [_message(tx, workspace) for workspace in tx.workspaces.all(visible_in=visible)]
    found = [
        message
        for message in messages
        # Official clients look a workspace up by this, and take two answers for a fault.
        if name.lower() in ("", message.name.lower())
        and name_case_sensitive in ("", message.name)
        and archived in (None, message.archived)
        and pinned in (None, message.pinned)
        and (not users or message.username in users)
        and (not user_ids or message.user_id in user_ids)
    ]
    found.sort(key=lambda each: each.name if sort_by is NameSortBy.NAME else each.id, reverse=is_descending(order_by))
    cut = page.cut(found)
    return wire.GetWorkspacesResponse(workspaces=cut.items, pagination=pagination(cut, page))


@router.post("/api/v1/workspaces", needs=needs.CREATE_WORKSPACE)
def post_workspace(body: wire.PostWorkspaceRequest, platform: PlatformOf, caller: Caller) -> wire.WorkspaceResponse:
    if body.agent_user_group is not None:
        caller.rights.require_everywhere(Permission.ADMINISTRATE_USER)
    workspace = engine.add_workspace(
        platform,
        user=caller.user,
        name=body.name,
        checkpoint_storage=body.checkpoint_storage_config,
        agent_account=given_account(platform, body.agent_user_group),
        settings=_settings(body),
    )
    return _show(platform, workspace.id)


@router.get("/api/v1/workspaces/{workspace_id}", needs=needs.VIEW_WORKSPACE)
def get_workspace(workspace_id: int, platform: PlatformOf) -> wire.WorkspaceResponse:
    return _show(platform, workspace_id)


@router.patch("/api/v1/workspaces/{workspace_id}", needs=needs.EDIT_WORKSPACE)
def patch_workspace(
    workspace_id: int, body: wire.PatchWorkspace, platform: PlatformOf, caller: Caller
) -> wire.WorkspaceResponse:
    if body.checkpoint_storage_config is not None:
        with platform.store.read() as tx:
            permission = Permission.SET_WORKSPACE_CHECKPOINT_STORAGE_CONFIG
            caller.check(tx, permission, "workspace_id", workspace_id)
    if body.agent_user_group is not None:
        caller.rights.require_everywhere(Permission.ADMINISTRATE_USER)
    account = given_account(platform, body.agent_user_group)
    engine.change_workspace(
        platform,
        workspace_id,
        name=body.name,
        checkpoint_storage=body.checkpoint_storage_config,
        agent_account=account,
        clears_agent_account=body.agent_user_group is not None and account is None,
        settings=_settings(body),
    )
    return _show(platform, workspace_id)


def _settings(body: wire.PostWorkspaceRequest | wire.PatchWorkspace) -> engine.WorkspaceSettings:
    return engine.WorkspaceSettings(
        default_compute_pool=body.default_compute_pool,
        default_aux_pool=body.default_aux_pool,
    )


@router.delete("/api/v1/workspaces/{workspace_id}", needs=needs.DELETE_WORKSPACE)
def delete_workspace(workspace_id: int, platform: PlatformOf) -> wire.Completed:
    """Only one without experiments."""
    engine.delete_workspace(platform, workspace_id)
    return wire.Completed()


@router.post("/api/v1/workspaces/{workspace_id}/archive", needs=needs.EDIT_WORKSPACE)
def archive_workspace(workspace_id: int, platform: PlatformOf) -> Empty:
    engine.archive_workspace(platform, workspace_id, archived=True)
    return Empty()


@router.post("/api/v1/workspaces/{workspace_id}/unarchive", needs=needs.EDIT_WORKSPACE)
def unarchive_workspace(workspace_id: int, platform: PlatformOf) -> Empty:
    engine.archive_workspace(platform, workspace_id, archived=False)
    return Empty()


@router.post("/api/v1/workspaces/{workspace_id}/pin", needs=needs.VIEW_WORKSPACE)
def pin_workspace(workspace_id: int, platform: PlatformOf) -> Empty:
    engine.pin_workspace(platform, workspace_id, pinned=True)
    return Empty()


@router.post("/api/v1/workspaces/{workspace_id}/unpin", needs=needs.VIEW_WORKSPACE)
def unpin_workspace(workspace_id: int, platform: PlatformOf) -> Empty:
    engine.pin_workspace(platform, workspace_id, pinned=False)
    return Empty()


@router.get(
    "/api/v1/workspaces/{workspace_id}/available-resource-pools",
    needs=needs.VIEW_WORKSPACE,
    operation_id="ListRPsBoundToWorkspace",
)
def list_pools_of_workspace(
    workspace_id: int, platform: PlatformOf, page: Paging
) -> wire.ListRPsBoundToWorkspaceResponse:
    with platform.store.read() as tx:
        tx.workspaces.get(workspace_id)
    cut = page.cut([pool.name for pool in platform.runner.pools()])
    return wire.ListRPsBoundToWorkspaceResponse(resource_pools=cut.items, pagination=pagination(cut, page))


def _show(platform: Platform, workspace_id: int) -> wire.WorkspaceResponse:
    with platform.store.read() as tx:
        return wire.WorkspaceResponse(workspace=_message(tx, tx.workspaces.get(workspace_id)))


def _message(tx: Transaction, workspace: Workspace) -> wire.Workspace:
    counts = tx.workspaces.counts().get(workspace.id, (0, 0))
    return workspace_message(workspace, tx.users.get(workspace.user_id), counts)


# ------------------------------------------------------------------------------------------------------- templates


@router.get("/api/v1/templates", needs=needs.VIEW_TEMPLATE.listed)
def get_templates(
    platform: PlatformOf,
    caller: Caller,
    page: Paging,
    name: str = "",
    workspace_ids: Annotated[list[int], Query(alias="workspaceIds")] = [],  # noqa: B006
    order_by: Order = OrderBy.UNSPECIFIED,
) -> wire.GetTemplatesResponse:
    with platform.store.read() as tx:
        templates = tx.templates.all(visible_in=caller.workspaces(Permission.VIEW_TEMPLATES))
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


@router.patch("/api/v1/template/rename", needs=needs.EDIT_TEMPLATE.in_body)
def patch_template_name(
    body: wire.PatchTemplateNameRequest, platform: PlatformOf, caller: Caller
) -> wire.TemplateResponse:
    with platform.store.read() as tx:
        caller.check(tx, Permission.UPDATE_TEMPLATES, "template_name", body.old_name)
    return _template(template_engine.rename_template(platform, body.old_name, body.new_name))


@router.get("/api/v1/templates/{template_name}", needs=needs.VIEW_TEMPLATE)
def get_template(template_name: str, platform: PlatformOf) -> wire.TemplateResponse:
    with platform.store.read() as tx:
        return _template(tx.templates.get(template_name))


@router.post("/api/v1/templates/{template_name}", needs=needs.CREATE_TEMPLATE.in_body)
def post_template(
    template_name: str, body: wire.Template, platform: PlatformOf, caller: Caller
) -> wire.TemplateResponse:
    """Only a new name; PUT replaces."""
    template = Template(name=template_name, config=body.config, workspace_id=body.workspace_id or 1)
    with platform.store.read() as tx:
        caller.check(tx, Permission.CREATE_TEMPLATES, "workspace_id", template.workspace_id)
    return _template(template_engine.put_template(platform, template, must_be_new=True))


@router.put("/api/v1/templates/{template_name}", needs=needs.EDIT_TEMPLATE.in_body)
def put_template(
    template_name: str, body: wire.Template, platform: PlatformOf, caller: Caller
) -> wire.TemplateResponse:
    template = Template(name=template_name, config=body.config, workspace_id=body.workspace_id or 1)
    with platform.store.read() as tx:
        # It may stand elsewhere until now.
        if any(known.name == template.name.strip() for known in tx.templates.all()):
            caller.check(tx, Permission.UPDATE_TEMPLATES, "template_name", template.name.strip())
        caller.check(tx, Permission.CREATE_TEMPLATES, "workspace_id", template.workspace_id)
    return _template(template_engine.put_template(platform, template))


@router.patch("/api/v1/templates/{template_name}", needs=needs.EDIT_TEMPLATE)
def patch_template_config(
    template_name: str, body: Annotated[dict[str, object], Body()], platform: PlatformOf
) -> wire.TemplateResponse:
    """The body is the configuration itself."""
    return _template(template_engine.change_template(platform, template_name, body))


@router.delete("/api/v1/templates/{template_name}", needs=needs.DELETE_TEMPLATE)
def delete_template(template_name: str, platform: PlatformOf) -> Empty:
    template_engine.remove_template(platform, template_name)
    return Empty()


def _template(template: Template) -> wire.TemplateResponse:
    return wire.TemplateResponse(template=template_message(template))
