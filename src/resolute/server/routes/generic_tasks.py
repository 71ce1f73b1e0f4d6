"""Generic tasks: created, forked, paused, resumed, killed with all that they started."""

import json

from resolute.domain import needs
from resolute.domain.errors import InvalidInput
from resolute.domain.rights import Permission
from resolute.domain.task import Task, TaskType
from resolute.engine.interactive import generic
from resolute.engine.interactive.configuration import spec_of
from resolute.engine.interactive.launch import Order, check_order, launch
from resolute.engine.platform import Platform
from resolute.server.auth import Caller, PlatformOf, Principal
from resolute.server.interactive import shown_config
from resolute.server.resource import Resource
from resolute.server.uploads import pack_files
from resolute.spec.wire import interactive as wire
from resolute.spec.wire.base import Empty

router = Resource(tags=["tasks"])


@router.post("/api/v1/generic-tasks", needs=needs.CREATE_TASK.in_body)
def create_generic_task(
    body: wire.CreateGenericTaskRequest, platform: PlatformOf, caller: Caller
) -> wire.CreateGenericTaskResponse:
    """A fork has the configuration and the files of its origin unless it brings its own. A child may inherit the files
    of its parent."""
    checked = check_order(platform, _order(platform, caller, body), rights=caller.rights)
    launched = launch(platform, checked, user=caller.user)
    return wire.CreateGenericTaskResponse(task_id=launched.task.id, messages=list(launched.warnings))


def _order(platform: Platform, caller: Principal, body: wire.CreateGenericTaskRequest) -> Order:
    if body.inherit_context and not body.parent_id:
        raise InvalidInput("inheritContext: there is no parent to inherit files from. Name one as parentId.")
    origin = _source(platform, caller, body.forked_from, Permission.VIEW_NSC)
    parent = _source(platform, caller, body.parent_id, Permission.UPDATE_NSC)
    context = pack_files(body.context_directory)
    source = parent if body.inherit_context else origin
    if context is None and source is not None and source.context_id is not None:
        with platform.store.read() as tx:
            context = tx.contexts.get(source.context_id)
    return Order(
        type=TaskType.GENERIC,
        config=body.config or (spec_of(origin) if origin else ""),
        workspace_id=_workspace_id(platform, body.project_id, parent or origin),
        context=context,
        parent_id=parent.id if parent else None,
        forked_from=origin.id if origin else None,
        is_pausable=not body.no_pause,
    )


def _source(platform: Platform, caller: Principal, task_id: str, permission: Permission) -> Task | None:
    if not task_id:
        return None
    with platform.store.read() as tx:
        caller.check(tx, permission, "task_id", task_id)
        return generic.generic_task(tx, task_id)


def _workspace_id(platform: Platform, project_id: int, source: Task | None) -> int:
    if project_id:
        with platform.store.read() as tx:
            return tx.workspaces.project(project_id).workspace_id
    return source.workspace_id if source else 0


@router.get("/api/v1/tasks/{task_id}/config", needs=needs.VIEW_TASK.or_own_task)
def get_generic_task_config(task_id: str, platform: PlatformOf) -> wire.GetGenericTaskConfigResponse:
    with platform.store.read() as tx:
        task = generic.generic_task(tx, task_id)
    return wire.GetGenericTaskConfigResponse(config=json.dumps(shown_config(task)))


@router.post("/api/v1/tasks/{task_id}/kill", needs=needs.EDIT_TASK)
def kill_generic_task(task_id: str, body: wire.KillGenericTaskRequest, platform: PlatformOf) -> Empty:
    """With all that it started; from the root, with all that its oldest ancestor did."""
    generic.kill_family(platform, task_id, from_root=body.kill_from_root)
    return Empty()


@router.post("/api/v1/tasks/{task_id}/pause", needs=needs.EDIT_TASK)
def pause_generic_task(task_id: str, platform: PlatformOf) -> Empty:
    generic.pause(platform, task_id)
    return Empty()


@router.post("/api/v1/tasks/{task_id}/unpause", needs=needs.EDIT_TASK)
def unpause_generic_task(task_id: str, platform: PlatformOf) -> Empty:
    generic.resume(platform, task_id)
    return Empty()
