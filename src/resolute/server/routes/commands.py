"""Commands: started, listed, looked at, killed."""

from resolute.domain import needs
from resolute.domain.task import TaskType
from resolute.engine.interactive.views import set_priority
from resolute.server import interactive
from resolute.server.auth import Caller, PlatformOf
from resolute.server.paging import pagination
from resolute.server.resource import Resource
from resolute.server.shapes.interactive import interactive_message
from resolute.spec.secrets import masked
from resolute.spec.wire import interactive as wire

router = Resource(tags=["commands"])
_TYPE = TaskType.COMMAND


@router.post("/api/v1/commands", needs=needs.CREATE_TASK.in_body)
def launch_command(body: wire.LaunchRequest, platform: PlatformOf, caller: Caller) -> wire.LaunchCommandResponse:
    """Everything is checked before anything is stored. Its output is its log; its exit code stays with it."""
    checked = interactive.check(platform, caller, _TYPE, body)
    return wire.LaunchCommandResponse(
        command=interactive.show(platform, caller, interactive.start(platform, caller, checked)),
        config=masked(checked.resolved),
        messages=list(checked.warnings),
    )


@router.get("/api/v1/commands", needs=needs.VIEW_TASK.listed)
def get_commands(wanted: interactive.Filter, platform: PlatformOf, caller: Caller) -> wire.GetCommandsResponse:
    page = interactive.page(platform, caller, _TYPE, wanted)
    messages = [interactive_message(view) for view in page.items]
    return wire.GetCommandsResponse(commands=messages, pagination=pagination(page, wanted.paging))


@router.get("/api/v1/commands/{task_id}", needs=needs.VIEW_TASK)
def get_command(task_id: str, platform: PlatformOf, caller: Caller) -> wire.GetCommandResponse:
    task = interactive.find(platform, task_id, _TYPE)
    command = interactive.show(platform, caller, task)
    return wire.GetCommandResponse(command=command, config=interactive.shown_config(task))


@router.post("/api/v1/commands/{task_id}/kill", needs=needs.EDIT_TASK)
def kill_command(task_id: str, platform: PlatformOf, caller: Caller) -> wire.KillCommandResponse:
    """Killing one that has ended changes nothing."""
    return wire.KillCommandResponse(
        command=interactive.show(platform, caller, interactive.end(platform, task_id, _TYPE))
    )


@router.post("/api/v1/commands/{task_id}/set_priority", needs=needs.EDIT_TASK)
def set_command_priority(
    task_id: str, body: wire.SetPriorityRequest, platform: PlatformOf, caller: Caller
) -> wire.KillCommandResponse:
    task = interactive.find(platform, task_id, _TYPE)
    set_priority(platform, task.id, body.priority)
    return wire.KillCommandResponse(command=interactive.show(platform, caller, task))
