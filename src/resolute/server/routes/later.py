"""Resources of the API that this master does not have: lists are empty, deeds are refused with a sentence.

Clients that only look around work; clients that act learn what to do instead.
"""

from resolute.domain.errors import NotSupported
from resolute.server.auth import Caller
from resolute.server.resource import Resource
from resolute.spec.wire import registry, tasks
from resolute.spec.wire.base import Empty

router = Resource(tags=["not yet"])


@router.get("/api/v1/notebooks")
def get_notebooks() -> tasks.GetNotebooksResponse:
    return tasks.GetNotebooksResponse()


@router.get("/api/v1/tensorboards")
def get_tensorboards() -> tasks.GetTensorboardsResponse:
    return tasks.GetTensorboardsResponse()


@router.get("/api/v1/shells")
def get_shells() -> tasks.GetShellsResponse:
    return tasks.GetShellsResponse()


@router.get("/api/v1/commands")
def get_commands() -> tasks.GetCommandsResponse:
    return tasks.GetCommandsResponse()


@router.post("/api/v1/notebooks")
def launch_notebook() -> Empty:
    raise NotSupported(
        "This master does not launch notebooks. Run JupyterLab on your machine and use the Python client."
    )


@router.post("/api/v1/tensorboards")
def launch_tensorboard() -> Empty:
    raise NotSupported(
        "This master does not launch TensorBoard. Look at the curves in the web UI, or run tensorboard over the "
        "checkpoint storage."
    )


@router.post("/api/v1/shells")
def launch_shell() -> Empty:
    raise NotSupported("This master does not launch shells. Trials run on this very machine: use its own shell.")


@router.post("/api/v1/commands")
def launch_command() -> Empty:
    raise NotSupported("This master does not launch commands. Submit an experiment with the command as its entrypoint.")


@router.post("/api/v1/generic-tasks")
def create_generic_task() -> Empty:
    raise NotSupported(
        "This master does not run generic tasks. Submit an experiment with the command as its entrypoint."
    )


@router.get("/api/v1/webhooks")
def get_webhooks() -> registry.GetWebhooksResponse:
    return registry.GetWebhooksResponse()


@router.post("/api/v1/webhooks")
def post_webhook() -> Empty:
    raise NotSupported("This master does not send webhooks. Poll `experiment wait`, or listen to /api/v1/events.")


@router.post("/api/v1/webhooks/custom")
def post_webhook_event_data(body: registry.PostWebhookEventDataRequest, caller: Caller) -> Empty:
    """Accepted, so that a script's alert does not fail its training; nobody is told."""
    return Empty()


# ------------------------------------------------------------------------------------------------ small refusals

_LOGS_STAY = "Logs are kept until their experiment is deleted; this master has no shorter retention."


@router.put("/api/v1/experiments/{experiment_id}/retain_logs")
def put_experiment_retain_logs(experiment_id: int) -> Empty:
    raise NotSupported(_LOGS_STAY)


@router.put("/api/v1/trials/{trial_id}/retain_logs")
def put_trial_retain_logs(trial_id: int) -> Empty:
    raise NotSupported(_LOGS_STAY)


@router.delete("/api/v1/experiments/{experiment_id}/tensorboard-files")
def delete_tensorboard_files(experiment_id: int) -> Empty:
    """Nothing to delete: event files are part of what a trial writes itself."""
    return Empty()


@router.post("/api/v1/trial-source-info")
def report_trial_source_info() -> Empty:
    raise NotSupported("This master does not record which checkpoint an inference run used.")
