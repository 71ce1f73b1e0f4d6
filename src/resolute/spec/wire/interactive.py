"""Messages about commands, generic tasks, notebooks, TensorBoards and shells. Pure."""

from pydantic import Field

from resolute.spec.wire.base import JsonObject, Request, Time, Wire
from resolute.spec.wire.enums import LaunchWarning, TaskState
from resolute.spec.wire.experiments import File
from resolute.spec.wire.paging import Pagination


class LaunchRequest(Request):
    config: JsonObject = {}
    files: list[File] = []
    template_name: str = ""
    workspace_id: int = 0
    preview: bool = False
    """Check everything, and start nothing."""


class InteractiveTask(Wire):
    """A command, notebook, TensorBoard or shell."""

    id: str
    description: str = ""
    state: TaskState
    start_time: Time
    end_time: Time | None = None
    username: str = ""
    display_name: str = ""
    user_id: int = 0
    resource_pool: str = ""
    slots: int = 0
    priority: int = 0
    exit_status: str | None = None
    exit_code: int | None = None
    is_ready: bool = False
    job_id: str = ""
    workspace_id: int = 1
    service_address: str = ""
    """Path of the master under which it is used."""
    waiting_reason: str = ""
    """Why it waits, in one sentence."""


class SetPriorityRequest(Request):
    priority: int = Field(default=0)


class LaunchCommandResponse(Wire):
    command: InteractiveTask
    config: JsonObject = {}
    warnings: list[LaunchWarning] = []
    messages: list[str] = []


class GetCommandResponse(Wire):
    command: InteractiveTask
    config: JsonObject = {}


class GetCommandsResponse(Wire):
    commands: list[InteractiveTask] = []
    pagination: Pagination = Pagination()


class KillCommandResponse(Wire):
    command: InteractiveTask


class CreateGenericTaskRequest(Request):
    config: str = ""
    """YAML."""
    context_directory: list[File] = []
    project_id: int = 0
    forked_from: str = ""
    parent_id: str = ""
    inherit_context: bool = False
    no_pause: bool = False


class CreateGenericTaskResponse(Wire):
    task_id: str
    warnings: list[LaunchWarning] = []
    messages: list[str] = []


class GetGenericTaskConfigResponse(Wire):
    config: str = "{}"
    """JSON."""


class KillGenericTaskRequest(Request):
    task_id: str = ""
    kill_from_root: bool = False


class LaunchNotebookResponse(Wire):
    notebook: InteractiveTask
    config: JsonObject = {}
    warnings: list[LaunchWarning] = []
    messages: list[str] = []


class GetNotebookResponse(Wire):
    notebook: InteractiveTask
    config: JsonObject = {}


class GetNotebooksResponse(Wire):
    notebooks: list[InteractiveTask] = []
    pagination: Pagination = Pagination()


class KillNotebookResponse(Wire):
    notebook: InteractiveTask


class LaunchTensorboardRequest(LaunchRequest):
    experiment_ids: list[int] = []
    trial_ids: list[int] = []


class Tensorboard(InteractiveTask):
    experiment_ids: list[int] = []
    trial_ids: list[int] = []


class LaunchTensorboardResponse(Wire):
    tensorboard: Tensorboard
    config: JsonObject = {}
    warnings: list[LaunchWarning] = []
    messages: list[str] = []


class GetTensorboardResponse(Wire):
    tensorboard: Tensorboard
    config: JsonObject = {}


class GetTensorboardsResponse(Wire):
    tensorboards: list[Tensorboard] = []
    pagination: Pagination = Pagination()


class KillTensorboardResponse(Wire):
    tensorboard: Tensorboard


class GetShellsResponse(Wire):
    shells: list[InteractiveTask] = []
    pagination: Pagination = Pagination()
