"""Messages about checkpoints. Pure."""

from resolute.spec.wire.base import Int64, JsonObject, Number, Request, Time, Wire
from resolute.spec.wire.enums import CheckpointState, TrialSourceInfoType
from resolute.spec.wire.metrics import Metrics
from resolute.spec.wire.paging import Pagination


class CheckpointTrainingMetadata(Wire):
    trial_id: int | None = None
    experiment_id: int | None = None
    experiment_config: JsonObject | None = None
    hparams: JsonObject | None = None
    training_metrics: Metrics | None = None
    validation_metrics: Metrics | None = None
    searcher_metric: Number | None = None


class Checkpoint(Wire):
    uuid: str
    task_id: str | None = None
    allocation_id: str | None = None
    report_time: Time | None = None
    resources: dict[str, Int64] = {}
    metadata: JsonObject = {}
    state: CheckpointState = CheckpointState.UNSPECIFIED
    training: CheckpointTrainingMetadata = CheckpointTrainingMetadata()
    storage_id: int | None = None
    digests: dict[str, str] | None = None
    """sha256 per file, where the writer gave them: whoever downloads a file compares."""


class ReportCheckpointRequest(Request):
    """A finished checkpoint. `digests` (sha256 per file) is ours and optional."""

    uuid: str
    task_id: str = ""
    allocation_id: str = ""
    report_time: Time | None = None
    resources: dict[str, int] = {}
    metadata: JsonObject = {}
    state: CheckpointState = CheckpointState.COMPLETED
    storage_id: int | None = None
    digests: dict[str, str] | None = None


class CheckpointResponse(Wire):
    checkpoint: Checkpoint


class GetCheckpointsResponse(Wire):
    checkpoints: list[Checkpoint] = []
    pagination: Pagination = Pagination()


class PatchedResources(Request):
    resources: dict[str, int] = {}


class PatchCheckpoint(Request):
    uuid: str
    resources: PatchedResources | None = None


class PatchCheckpointsRequest(Request):
    checkpoints: list[PatchCheckpoint] = []


class DeleteCheckpointsRequest(Request):
    checkpoint_uuids: list[str] = []


class CheckpointsRemoveFilesRequest(Request):
    checkpoint_uuids: list[str] = []
    checkpoint_globs: list[str] = []


class CheckpointMetadata(Request):
    uuid: str = ""
    metadata: JsonObject = {}


class PostCheckpointMetadataRequest(Request):
    checkpoint: CheckpointMetadata = CheckpointMetadata()


class PreviewedCheckpoint(Wire):
    """A checkpoint that a retention policy would delete. PascalCase on the wire, as clients read it."""

    model_config = {"alias_generator": None}

    TrialID: int
    StepsCompleted: int
    State: str
    ValidationMetrics: JsonObject
    UUID: str
    Resources: dict[str, int]


class TrialSourceInfo(Request):
    trial_id: int
    checkpoint_uuid: str
    trial_source_info_type: TrialSourceInfoType = TrialSourceInfoType.UNSPECIFIED
    model_id: int | None = None
    model_version: int | None = None


class ReportTrialSourceInfoRequest(Request):
    trial_source_info: TrialSourceInfo


class ReportTrialSourceInfoResponse(Wire):
    trial_id: int
    checkpoint_uuid: str


class PreviewGcResponse(Wire):
    model_config = {"alias_generator": None}

    checkpoints: list[PreviewedCheckpoint] = []
    metric_name: str = ""
