"""What the routes of commands, notebooks, TensorBoards and shells share: starting one, listing, and looking at one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query

from resolute.domain.rights import Permission
from resolute.domain.task import Task, TaskType
from resolute.engine.access.rights import seen
from resolute.engine.interactive import launch as engine
from resolute.engine.interactive.configuration import spec_of
from resolute.engine.interactive.owner_session import visitors_token
from resolute.engine.interactive.views import TaskView, task_of, tasks_of, view_of, views_of
from resolute.engine.jobs.fencing import secret_of
from resolute.engine.jobs.tasks import kill
from resolute.engine.jobs.waiting import job_names, why_it_waits
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.ports.queries import Page
from resolute.server.auth import Principal
from resolute.server.paging import PageParams, Paging
from resolute.server.shapes.interactive import interactive_message
from resolute.server.uploads import pack_files
from resolute.spec.secrets import masked
from resolute.spec.wire import enums
from resolute.spec.wire import interactive as wire
from resolute.spec.wire.base import JsonObject


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which of a list are shown, and in which order."""

    users: Sequence[str]
    user_ids: Sequence[int]
    workspace_id: int
    is_descending: bool
    paging: PageParams


async def _wanted(
    paging: Paging,
    users: Annotated[list[str], Query(description="Only of these users.")] = [],  # noqa: B006
    user_ids: Annotated[list[int], Query(alias="userIds")] = [],  # noqa: B006
    workspace_id: Annotated[int, Query(alias="workspaceId")] = 0,
    order_by: Annotated[enums.OrderBy, Query(alias="orderBy")] = enums.OrderBy.UNSPECIFIED,
) -> Wanted:
    return Wanted(users, user_ids, workspace_id, order_by is enums.OrderBy.DESC, paging)


Filter = Annotated[Wanted, Depends(_wanted)]


def check(
    platform: Platform,
    caller: Principal,
    type: TaskType,
    body: wire.LaunchRequest,
    *,
    own: dict[str, object] | None = None,
) -> engine.Checked:
    with platform.store.read() as tx:
        if body.template_name:
            caller.check(tx, Permission.VIEW_TEMPLATES, "template_name", body.template_name)
    order = engine.Order(
        type=type,
        config=body.config,
        template=body.template_name,
        workspace_id=body.workspace_id,
        context=pack_files(body.files),
        own=own,
    )
    return engine.check_order(platform, order, rights=caller.rights)


def start(platform: Platform, caller: Principal, checked: engine.Checked) -> Task:
    return engine.launch(platform, checked, user=caller.user).task


def unsaved(platform: Platform, caller: Principal, checked: engine.Checked) -> wire.InteractiveTask:
    """Of a preview: it has no id, and is nowhere."""
    return wire.InteractiveTask(
        id="",
        description=checked.config.description,
        state=enums.TaskState.UNSPECIFIED,
        start_time=platform.clock(),
        username=caller.user.username,
        user_id=caller.user.id,
        resource_pool=checked.config.resources.resource_pool,
        slots=checked.config.resources.slots,
        workspace_id=checked.workspace.id,
    )


def show(platform: Platform, caller: Principal, task: Task) -> wire.InteractiveTask:
    """With the key to a notebook for those who may enter it."""
    view, waiting = look(platform, caller, task)
    message = interactive_message(view, waiting=waiting)
    if task.type is not TaskType.NOTEBOOK or not _may_enter(platform, caller, task):
        return message
    with platform.store.read() as tx:
        token = visitors_token(secret_of(tx), task)
    return message.model_copy(update={"service_address": f"{message.service_address}lab?token={token}"})


def _may_enter(platform: Platform, caller: Principal, task: Task) -> bool:
    with platform.store.read() as tx:
        return bool(seen(tx, caller.rights, Permission.UPDATE_NSC, "task_id", [task.id]))


def look(platform: Platform, caller: Principal, task: Task) -> tuple[TaskView, str]:
    """With why it waits."""
    with platform.store.read() as tx:
        view = view_of(tx, tx.tasks.get(task.id))
        return view, _waiting(platform, tx, caller, view)


def find(platform: Platform, task_id: str, type: TaskType) -> Task:
    """Raises NotFound for a task of another kind."""
    with platform.store.read() as tx:
        return task_of(tx, task_id, type)


def page(platform: Platform, caller: Principal, type: TaskType, wanted: Wanted) -> Page[TaskView]:
    with platform.store.read() as tx:
        tasks = tasks_of(
            tx,
            type,
            usernames=wanted.users,
            user_ids=wanted.user_ids,
            workspace_id=wanted.workspace_id,
            visible_in=caller.workspaces(Permission.VIEW_NSC),
        )
        found = wanted.paging.cut(tasks[::-1] if wanted.is_descending else tasks)
        return Page(items=views_of(tx, found.items), total=found.total, offset=found.offset)


def end(platform: Platform, task_id: str, type: TaskType) -> Task:
    task = find(platform, task_id, type)
    kill(platform, task.id)
    return task


def shown_config(task: Task) -> JsonObject:
    """Without what nobody may read."""
    return masked(spec_of(task))


def _waiting(platform: Platform, tx: Transaction, caller: Principal, view: TaskView) -> str:
    last = view.allocations[-1]
    if not last.waits:
        return ""
    names = job_names(tx.jobs.in_queue(), caller.workspaces(Permission.VIEW_EXPERIMENT_METADATA))
    reason = why_it_waits(platform.waiting, last, names)
    return reason.sentence if reason is not None else ""
