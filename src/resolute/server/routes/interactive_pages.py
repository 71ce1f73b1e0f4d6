"""Where the official client sends a browser for a notebook or a TensorBoard."""

from fastapi.responses import RedirectResponse, Response

from resolute.domain import needs
from resolute.domain.errors import NotFound
from resolute.server import interactive
from resolute.server.auth import Caller, PlatformOf
from resolute.server.resource import Resource

router = Resource(include_in_schema=False)


@router.get("/det/interactive/{task_id}/{path:path}", needs=needs.EDIT_TASK)
def open_interactive_task(task_id: str, path: str, platform: PlatformOf, caller: Caller) -> Response:
    """On to the task itself, with its key for those who may enter."""
    with platform.store.read() as tx:
        task = tx.tasks.get(task_id)
    address = interactive.show(platform, caller, task).service_address
    if not address:
        raise NotFound(f"The {task.type.lower()} {task_id} has no pages. Its log is all it shows.")
    return RedirectResponse(address, headers={"Cache-Control": "no-store"})
