"""Messages about registered models and webhooks. Pure. Only the lists exist so far; they are empty."""

from resolute.spec.wire.base import JsonObject, Request, Time, Wire
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
