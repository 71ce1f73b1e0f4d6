"""Messages about experiments. Pure."""

from resolute.spec.wire.base import Int64, JsonObject, Number, Request, Time, Wire
from resolute.spec.wire.enums import ExperimentState, LaunchWarning
from resolute.spec.wire.jobs import JobSummary
from resolute.spec.wire.paging import Pagination
from resolute.spec.wire.trials import Trial


class File(Request):
    """One entry of an uploaded directory. `type` is the code of the tar type flag; `content` is base64."""

    path: str
    type: int = 48
    content: str = ""
    mtime: Int64 = 0
    mode: int = 0o100644
    uid: int = 0
    gid: int = 0


class CreateExperimentRequest(Request):
    config: str = ""
    model_definition: list[File] = []
    activate: bool = False
    validate_only: bool = False
    template: str | None = None
    project_id: int | None = None
    parent_id: int | None = None
    unmanaged: bool = False


class DryRunResponse(Wire):
    """The first trial as the runner would hand it to its engine; secrets read `********`."""

    request: JsonObject
    config: JsonObject = {}
    warnings: list[str] = []


class Experiment(Wire):
    id: int
    name: str = ""
    description: str = ""
    labels: list[str] = []
    notes: str = ""
    state: ExperimentState
    start_time: Time
    end_time: Time | None = None
    duration: int | None = None
    """Seconds from start to end, or until now."""
    archived: bool = False
    num_trials: int = 0
    trial_ids: list[int] = []
    display_name: str = ""
    username: str = ""
    user_id: int = 0
    progress: float = 0.0
    job_id: str = ""
    resource_pool: str = ""
    searcher_type: str = ""
    searcher_metric: str | None = None
    hyperparameters: JsonObject = {}
    forked_from: int | None = None
    project_id: int = 1
    project_name: str = ""
    project_owner_id: int = 0
    workspace_id: int = 1
    workspace_name: str = ""
    parent_archived: bool = False
    config: JsonObject = {}
    original_config: str = ""
    checkpoint_size: Int64 = 0
    checkpoint_count: int = 0
    best_trial_id: int | None = None
    best_trial_searcher_metric: Number | None = None
    unmanaged: bool = False
    external_experiment_id: str | None = None
    external_trial_id: str | None = None
    model_definition_size: int | None = None
    pachyderm_integration: JsonObject | None = None
    smaller_is_better: bool = True
    warnings: list[str] = []
    """Sentences about the configuration, as shown at submission."""
    waiting_reason: str = ""
    """Why a trial of it waits, in one sentence; only where one experiment is asked for."""


class CreateExperimentResponse(Wire):
    experiment: Experiment
    config: JsonObject
    warnings: list[LaunchWarning] = []
    messages: list[str] = []
    """Sentences about the configuration that a person should read."""


class PutExperimentResponse(Wire):
    experiment: Experiment
    config: JsonObject


class GetExperimentResponse(Wire):
    experiment: Experiment
    job_summary: JobSummary | None = None
    config: JsonObject = {}


class GetExperimentsResponse(Wire):
    experiments: list[Experiment] = []
    pagination: Pagination = Pagination()


class SearchExperimentsRequest(Request):
    project_id: int | None = None
    offset: int = 0
    limit: int = 0
    sort: str = ""
    filter: str = ""


class SearchExperimentExperiment(Wire):
    experiment: Experiment
    best_trial: Trial | None = None


class SearchExperimentsResponse(Wire):
    experiments: list[SearchExperimentExperiment] = []
    pagination: Pagination = Pagination()


class PatchResources(Wire):
    """A null `maxSlots` lifts the limit; a missing one leaves it."""

    max_slots: int | None = None
    priority: int | None = None
    weight: float | None = None


class PatchCheckpointStorage(Request):
    save_experiment_best: int | None = None
    save_trial_best: int | None = None
    save_trial_latest: int | None = None


class PatchExperiment(Request):
    id: int = 0
    name: str | None = None
    description: str | None = None
    labels: list[str] | None = None
    notes: str | None = None
    resources: PatchResources | None = None
    checkpoint_storage: PatchCheckpointStorage | None = None


class ExperimentResponse(Wire):
    experiment: Experiment


class ContinueExperimentRequest(Request):
    id: int
    override_config: str = ""


class ContinueExperimentResponse(Wire):
    experiment: Experiment
    warnings: list[LaunchWarning] = []


class MoveExperimentRequest(Request):
    experiment_id: int = 0
    destination_project_id: int


class BulkExperimentFilters(Request):
    name: str = ""
    description: str = ""
    labels: list[str] = []
    archived: bool | None = None
    states: list[ExperimentState] = []
    user_ids: list[int] = []
    project_id: int | None = None
    excluded_experiment_ids: list[int] = []


class BulkExperimentsRequest(Request):
    """Act on these ids, or on all that match `filters`."""

    experiment_ids: list[int] = []
    filters: BulkExperimentFilters | None = None
    project_id: int = 0
    destination_project_id: int | None = None


class BulkRetainLogsRequest(BulkExperimentsRequest):
    num_days: int | None = None


class ExperimentActionResult(Wire):
    id: int
    error: str = ""


class BulkExperimentsResponse(Wire):
    results: list[ExperimentActionResult] = []


class LabelsResponse(Wire):
    labels: list[str] = []


class ValidationHistoryEntry(Wire):
    trial_id: int
    end_time: Time
    searcher_metric: Number


class GetExperimentValidationHistoryResponse(Wire):
    validation_history: list[ValidationHistoryEntry] = []


class BestSearcherValidationMetric(Wire):
    metric: Number | None = None


class ArchiveResponse(Wire):
    """A tar.gz, base64. An empty text means that nothing was uploaded."""

    b64_tgz: str = ""


class FileNode(Wire):
    path: str
    name: str
    modified_time: Time | None = None
    content_length: int = 0
    is_dir: bool = False
    content_type: str = ""
    files: list["FileNode"] = []


class GetModelDefTreeResponse(Wire):
    files: list[FileNode] = []


class GetModelDefFileRequest(Request):
    experiment_id: int = 0
    path: str


class GetModelDefFileResponse(Wire):
    file: str = ""
    """Base64."""


class PreviewHPSearchRequest(Request):
    config: JsonObject = {}
    seed: int = 0


class SearchUnit(Wire):
    name: str = ""
    value: int = 0
    max_length: bool = False


class TrialSummary(Wire):
    count: int
    unit: SearchUnit


class SearchSummary(Wire):
    config: JsonObject = {}
    trials: list[TrialSummary] = []


class PreviewHPSearchResponse(Wire):
    summary: SearchSummary
