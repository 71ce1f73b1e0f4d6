"""Messages about registered models, their versions, and webhooks. Pure."""

from typing import Annotated

from pydantic import BeforeValidator

from resolute.domain.model import Stage
from resolute.spec.wire.base import JsonObject, Request, Time, Wire
from resolute.spec.wire.checkpoints import Checkpoint
from resolute.spec.wire.enums import LogLevel
from resolute.spec.wire.paging import Pagination


class Model(Wire):
    id: int
    name: str
    description: str = ""
    metadata: JsonObject = {}
    creation_time: Time
    last_updated_time: Time
    num_versions: int = 0
    labels: list[str] = []
    username: str = ""
    user_id: int = 0
    workspace_id: int = 1
    archived: bool = False
    notes: str = ""


class GetModelsResponse(Wire):
    models: list[Model] = []
    pagination: Pagination = Pagination()


class ModelResponse(Wire):
    model: Model


class PostModelRequest(Request):
    name: str = ""
    description: str = ""
    labels: list[str] = []
    metadata: JsonObject = {}
    notes: str = ""
    workspace_id: int | None = None
    workspace_name: str | None = None


class PatchModel(Request):
    """What is left out stays."""

    name: str | None = None
    description: str | None = None
    labels: list[str] | None = None
    metadata: JsonObject | None = None
    notes: str | None = None
    workspace_id: int | None = None
    workspace_name: str | None = None


class MoveModelRequest(Request):
    model_name: str = ""
    destination_workspace_id: int


class ModelVersion(Wire):
    id: int
    model: Model
    version: int
    checkpoint: Checkpoint
    creation_time: Time
    last_updated_time: Time
    name: str = ""
    comment: str = ""
    notes: str = ""
    labels: list[str] = []
    metadata: JsonObject = {}
    user_id: int = 0
    username: str = ""
    stage: Stage = Stage.NONE
    """Ours: how far the version has come. At most one version of a model is in production."""


class ModelVersionResponse(Wire):
    model_version: ModelVersion


class GetModelVersionsResponse(Wire):
    model: Model
    model_versions: list[ModelVersion] = []
    pagination: Pagination = Pagination()


class PostModelVersionRequest(Request):
    checkpoint_uuid: str
    model_name: str = ""
    name: str = ""
    comment: str = ""
    notes: str = ""
    labels: list[str] = []
    metadata: JsonObject = {}


class PatchModelVersion(Request):
    """What is left out stays."""

    name: str | None = None
    comment: str | None = None
    notes: str | None = None
    labels: list[str] | None = None
    metadata: JsonObject | None = None
    stage: Annotated[Stage, BeforeValidator(lambda word: word.upper() if isinstance(word, str) else word)] | None = None


class GetModelLabelsResponse(Wire):
    labels: list[str] = []


class Webhook(Wire):
    id: int
    url: str = ""


class GetWebhooksResponse(Wire):
    webhooks: list[Webhook] = []


class CustomWebhookEventData(Request):
    title: str = ""
    description: str = ""
    level: LogLevel = LogLevel.UNSPECIFIED


class PostWebhookEventDataRequest(Request):
    data: CustomWebhookEventData = CustomWebhookEventData()
    experiment_id: int = 0
    trial_id: int | None = None
