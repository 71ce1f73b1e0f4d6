"""TensorBoards: started, listed, looked at, killed."""

from resolute.domain import needs
from resolute.domain.rights import Permission
from resolute.domain.task import Task, TaskType
from resolute.engine.interactive.extras import require_extra
from resolute.engine.interactive.tensorboard import sources
from resolute.engine.interactive.views import set_priority
from resolute.engine.platform import Platform
from resolute.server import interactive
from resolute.server.auth import Caller, PlatformOf, Principal
from resolute.server.paging import pagination
from resolute.server.resource import Resource
from resolute.server.shapes.interactive import tensorboard_message
from resolute.spec.secrets import masked
from resolute.spec.wire import interactive as wire

router = Resource(tags=["tensorboards"])
_TYPE = TaskType.TENSORBOARD


@router.post("/api/v1/tensorboards", needs=needs.CREATE_TASK.in_body)
def launch_tensorboard(
    body: wire.LaunchTensorboardRequest, platform: PlatformOf, caller: Caller
) -> wire.LaunchTensorboardResponse:
    """Of experiments, trials, or both. It follows them while they train."""
    own = sources(body.experiment_ids, body.trial_ids)
    with platform.store.read() as tx:
        for name, ids in (("experiment_id", body.experiment_ids), ("trial_id", body.trial_ids)):
            for each in ids:
                caller.check(tx, Permission.VIEW_EXPERIMENT_ARTIFACTS, name, each)
                tx.experiments.get(each) if name == "experiment_id" else tx.trials.get(each)
    require_extra("tensorboard", extra="tensorboard", name="TensorBoard")
    checked = interactive.check(platform, caller, _TYPE, body, own=own)
    return wire.LaunchTensorboardResponse(
        tensorboard=_show(platform, caller, interactive.start(platform, caller, checked)),
        config=masked(checked.resolved),
        messages=list(checked.warnings),
    )


@router.get("/api/v1/tensorboards", needs=needs.VIEW_TASK.listed)
def get_tensorboards(wanted: interactive.Filter, platform: PlatformOf, caller: Caller) -> wire.GetTensorboardsResponse:
    page = interactive.page(platform, caller, _TYPE, wanted)
    messages = [tensorboard_message(view) for view in page.items]
    return wire.GetTensorboardsResponse(tensorboards=messages, pagination=pagination(page, wanted.paging))


@router.get("/api/v1/tensorboards/{task_id}", needs=needs.VIEW_TASK)
def get_tensorboard(task_id: str, platform: PlatformOf, caller: Caller) -> wire.GetTensorboardResponse:
    task = interactive.find(platform, task_id, _TYPE)
    tensorboard = _show(platform, caller, task)
    return wire.GetTensorboardResponse(tensorboard=tensorboard, config=interactive.shown_config(task))


@router.post("/api/v1/tensorboards/{task_id}/kill", needs=needs.EDIT_TASK)
def kill_tensorboard(task_id: str, platform: PlatformOf, caller: Caller) -> wire.KillTensorboardResponse:
    """Killing one that has ended changes nothing."""
    return wire.KillTensorboardResponse(tensorboard=_show(platform, caller, interactive.end(platform, task_id, _TYPE)))


@router.post("/api/v1/tensorboards/{task_id}/set_priority", needs=needs.EDIT_TASK)
def set_tensorboard_priority(
    task_id: str, body: wire.SetPriorityRequest, platform: PlatformOf, caller: Caller
) -> wire.KillTensorboardResponse:
    task = interactive.find(platform, task_id, _TYPE)
    set_priority(platform, task.id, body.priority)
    return wire.KillTensorboardResponse(tensorboard=_show(platform, caller, task))


def _show(platform: Platform, caller: Principal, task: Task) -> wire.Tensorboard:
    view, waiting = interactive.look(platform, caller, task)
    return tensorboard_message(view, waiting=waiting)
