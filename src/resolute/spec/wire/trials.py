"""Messages about trials (runs). Pure."""

from resolute.spec.wire.base import Int64, JsonObject, Number, Request, Time, Wire
from resolute.spec.wire.enums import CheckpointState, ExitedReason, TrialState
from resolute.spec.wire.metrics import DownsampledMetrics, Metrics
from resolute.spec.wire.paging import Pagination


class MetricsWorkload(Wire):
    end_time: Time | None = None
    metrics: Metrics = Metrics()
    num_inputs: int = 0
    total_batches: int = 0


class CheckpointWorkload(Wire):
    uuid: str = ""
    end_time: Time | None = None
    state: CheckpointState = CheckpointState.UNSPECIFIED
    resources: dict[str, Int64] = {}
    total_batches: int = 0
    metadata: JsonObject = {}


class WorkloadContainer(Wire):
    """Exactly one of the three is set."""

    training: MetricsWorkload | None = None
    validation: MetricsWorkload | None = None
    checkpoint: CheckpointWorkload | None = None


class GetTrialWorkloadsResponse(Wire):
    workloads: list[WorkloadContainer] = []
    pagination: Pagination = Pagination()


class Trial(Wire):
    id: int
    experiment_id: int
    start_time: Time
    end_time: Time | None = None
    state: TrialState
    restarts: int = 0
    hparams: JsonObject = {}
    total_batches_processed: int = 0
    best_validation: MetricsWorkload | None = None
    latest_validation: MetricsWorkload | None = None
    best_checkpoint: CheckpointWorkload | None = None
    runner_state: str = ""
    wall_clock_time: float | None = None
    warm_start_checkpoint_uuid: str = ""
    task_id: str = ""
    task_ids: list[str] = []
    total_checkpoint_size: Int64 = 0
    checkpoint_count: int = 0
    summary_metrics: JsonObject = {}
    searcher_metric_value: Number | None = None
    log_retention_days: int | None = None
    metadata: JsonObject | None = None
    log_policy_matched: str | None = None
    seed: int = 0
    run_id: int = 0
    """How many times it has been started; reports of older runs are refused."""
    progress: float = 0.0
    exit_reason: str = ""
    """One sentence on why it ended."""
    waiting_reason: str = ""
    """One sentence on why it waits."""
    request_id: str = ""


class TrialResponse(Wire):
    trial: Trial


class GetTrialsResponse(Wire):
    trials: list[Trial] = []


class GetExperimentTrialsResponse(Wire):
    trials: list[Trial] = []
    pagination: Pagination = Pagination()


class TrialEarlyExit(Request):
    reason: ExitedReason = ExitedReason.UNSPECIFIED


class ReportTrialProgressRequest(Request):
    progress: float = 0.0
    is_raw: bool = False


class TrialRunnerMetadata(Request):
    state: str = ""


class RunPrepareForReportingRequest(Request):
    run_id: int
    checkpoint_storage: JsonObject | None = None


class RunPrepareForReportingResponse(Wire):
    storage_id: int | None = None


class PostRunMetadataRequest(Request):
    run_id: int = 0
    metadata: JsonObject = {}


class RunMetadataResponse(Wire):
    metadata: JsonObject = {}


class ValidateAfterOperation(Request):
    length: Int64 = 0


class SearcherOperation(Wire):
    validate_after: ValidateAfterOperation | None = None


class GetCurrentTrialSearcherOperationResponse(Wire):
    """How far an older trial runtime should train next."""

    op: SearcherOperation | None = None
    completed: bool = False


class CompleteValidateAfterOperation(Request):
    op: ValidateAfterOperation = ValidateAfterOperation()
    searcher_metric: Number | JsonObject | None = None


class CreateTrialRequest(Request):
    experiment_id: int = 0
    hparams: JsonObject = {}
    unmanaged: bool = False


class PutTrialRequest(Request):
    create_trial_request: CreateTrialRequest = CreateTrialRequest()
    external_trial_id: str = ""


class StartTrialRequest(Request):
    trial_id: int = 0
    resume: bool = False


class StartTrialResponse(Wire):
    trial_run_id: int
    latest_checkpoint: str | None = None
    steps_completed: int = 0


class PatchTrialRequest(Request):
    trial_id: int = 0
    state: TrialState | None = None


class ComparableTrial(Wire):
    trial: Trial
    metrics: list[DownsampledMetrics] = []


class CompareTrialsResponse(Wire):
    trials: list[ComparableTrial] = []


class RetainLogsRequest(Request):
    num_days: int | None = None


class RemainingLogRetentionDays(Wire):
    remaining_days: int | None = None
