"""Notebooks: started, listed, looked at, killed."""

from resolute.domain import needs
from resolute.domain.task import TaskType
from resolute.engine.interactive.extras import require_extra
from resolute.engine.interactive.views import set_priority
from resolute.server import interactive
from resolute.server.auth import Caller, PlatformOf
from resolute.server.paging import pagination
from resolute.server.resource import Resource
from resolute.server.shapes.interactive import interactive_message
from resolute.spec.secrets import masked
from resolute.spec.wire import interactive as wire

router = Resource(tags=["notebooks"])
_TYPE = TaskType.NOTEBOOK


@router.post("/api/v1/notebooks", needs=needs.CREATE_TASK.in_body)
def launch_notebook(body: wire.LaunchRequest, platform: PlatformOf, caller: Caller) -> wire.LaunchNotebookResponse:
    """With `preview`, only what it would be started with. A browser goes to `serviceAddress`, once it is ready."""
    require_extra("jupyterlab", extra="notebook", name="JupyterLab")
    checked = interactive.check(platform, caller, _TYPE, body)
    if body.preview:
        return wire.LaunchNotebookResponse(
            notebook=interactive.unsaved(platform, caller, checked), config=masked(checked.resolved)
        )
    return wire.LaunchNotebookResponse(
        notebook=interactive.show(platform, caller, interactive.start(platform, caller, checked)),
        config=masked(checked.resolved),
        messages=list(checked.warnings),
    )


@router.get("/api/v1/notebooks", needs=needs.VIEW_TASK.listed)
def get_notebooks(wanted: interactive.Filter, platform: PlatformOf, caller: Caller) -> wire.GetNotebooksResponse:
    page = interactive.page(platform, caller, _TYPE, wanted)
    messages = [interactive_message(view) for view in page.items]
    return wire.GetNotebooksResponse(notebooks=messages, pagination=pagination(page, wanted.paging))


@router.get("/api/v1/notebooks/{task_id}", needs=needs.VIEW_TASK)
def get_notebook(task_id: str, platform: PlatformOf, caller: Caller) -> wire.GetNotebookResponse:
    task = interactive.find(platform, task_id, _TYPE)
    notebook = interactive.show(platform, caller, task)
    return wire.GetNotebookResponse(notebook=notebook, config=interactive.shown_config(task))


@router.post("/api/v1/notebooks/{task_id}/kill", needs=needs.EDIT_TASK)
def kill_notebook(task_id: str, platform: PlatformOf, caller: Caller) -> wire.KillNotebookResponse:
    """Killing one that has ended changes nothing."""
    return wire.KillNotebookResponse(
        notebook=interactive.show(platform, caller, interactive.end(platform, task_id, _TYPE))
    )


@router.post("/api/v1/notebooks/{task_id}/set_priority", needs=needs.EDIT_TASK)
def set_notebook_priority(
    task_id: str, body: wire.SetPriorityRequest, platform: PlatformOf, caller: Caller
) -> wire.KillNotebookResponse:
    task = interactive.find(platform, task_id, _TYPE)
    set_priority(platform, task.id, body.priority)
    return wire.KillNotebookResponse(notebook=interactive.show(platform, caller, task))
