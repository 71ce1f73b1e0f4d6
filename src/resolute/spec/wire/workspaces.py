"""Messages about workspaces, projects and templates. Pure."""

from resolute.spec.wire.base import JsonObject, Request, Time, Wire
from resolute.spec.wire.enums import ColumnLocation, ColumnType, WorkspaceState
from resolute.spec.wire.paging import Pagination
from resolute.spec.wire.users import AgentUserGroup


class Workspace(Wire):
    id: int
    name: str
    archived: bool = False
    username: str = ""
    user_id: int = 0
    immutable: bool = False
    num_projects: int = 0
    num_experiments: int = 0
    pinned: bool = False
    pinned_at: Time | None = None
    state: WorkspaceState = WorkspaceState.UNSPECIFIED
    error_message: str = ""
    agent_user_group: AgentUserGroup | None = None
    checkpoint_storage_config: JsonObject | None = None
    default_compute_pool: str = ""
    default_aux_pool: str = ""


class GetWorkspacesResponse(Wire):
    workspaces: list[Workspace] = []
    pagination: Pagination = Pagination()


class WorkspaceResponse(Wire):
    workspace: Workspace
    namespace_bindings: dict[str, JsonObject] = {}
    """Always empty; clients loop over it."""


class PostWorkspaceRequest(Request):
    name: str = ""
    checkpoint_storage_config: JsonObject | None = None
    agent_user_group: AgentUserGroup | None = None
    default_compute_pool: str | None = None
    default_aux_pool: str | None = None


class PatchWorkspace(Request):
    name: str | None = None
    checkpoint_storage_config: JsonObject | None = None
    agent_user_group: AgentUserGroup | None = None
    default_compute_pool: str | None = None
    default_aux_pool: str | None = None


class Completed(Wire):
    completed: bool = True


class Note(Request):
    name: str = ""
    contents: str = ""


class Project(Wire):
    id: int
    name: str
    key: str = ""
    workspace_id: int
    workspace_name: str = ""
    description: str = ""
    last_experiment_started_at: Time | None = None
    notes: list[Note] = []
    num_experiments: int = 0
    num_runs: int = 0
    num_active_experiments: int = 0
    archived: bool = False
    username: str = ""
    user_id: int = 0
    immutable: bool = False
    state: WorkspaceState = WorkspaceState.UNSPECIFIED
    error_message: str = ""


class ProjectResponse(Wire):
    project: Project


class GetWorkspaceProjectsResponse(Wire):
    projects: list[Project] = []
    pagination: Pagination = Pagination()


class PostProjectRequest(Request):
    name: str = ""
    description: str = ""
    workspace_id: int = 0
    key: str = ""


class PatchProject(Request):
    name: str | None = None
    description: str | None = None
    key: str | None = None


class MoveProjectRequest(Request):
    project_id: int = 0
    destination_workspace_id: int


class NotesResponse(Wire):
    notes: list[Note] = []


class PutProjectNotesRequest(Request):
    notes: list[Note] = []
    project_id: int = 0


class ProjectColumn(Wire):
    column: str
    location: ColumnLocation
    type: ColumnType
    display_name: str = ""


class GetProjectColumnsResponse(Wire):
    columns: list[ProjectColumn] = []


class MetricsRange(Wire):
    metrics_name: str
    min: float
    max: float


class GetProjectNumericMetricsRangeResponse(Wire):
    ranges: list[MetricsRange] = []


class ListRPsBoundToWorkspaceResponse(Wire):
    resource_pools: list[str] = []
    pagination: Pagination = Pagination()


class Template(Request):
    name: str = ""
    config: JsonObject = {}
    workspace_id: int = 1


class TemplateResponse(Wire):
    template: Template


class GetTemplatesResponse(Wire):
    templates: list[Template] = []
    pagination: Pagination = Pagination()


class PatchTemplateNameRequest(Request):
    old_name: str = ""
    new_name: str = ""
