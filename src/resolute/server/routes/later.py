"""Resources of the API that this master does not have: lists are empty, deeds are refused with a sentence.

Clients that only look around work; clients that act learn what to do instead.
"""

from resolute.domain import needs
from resolute.domain.errors import NotSupported
from resolute.server.resource import Resource
from resolute.spec.wire import interactive, registry
from resolute.spec.wire.base import Empty

router = Resource(tags=["not yet"])


@router.get("/api/v1/shells", needs=needs.VIEW_TASK.listed)
def get_shells() -> interactive.GetShellsResponse:
    return interactive.GetShellsResponse()


@router.post("/api/v1/shells", needs=needs.CREATE_TASK.in_body)
def launch_shell() -> Empty:
    raise NotSupported("This master does not launch shells. Trials run on this very machine: use its own shell.")


@router.get("/api/v1/webhooks", needs=needs.VIEW_WEBHOOKS)
def get_webhooks() -> registry.GetWebhooksResponse:
    return registry.GetWebhooksResponse()


@router.post("/api/v1/webhooks", needs=needs.EDIT_WEBHOOKS)
def post_webhook() -> Empty:
    raise NotSupported("This master does not send webhooks. Poll `experiment wait`, or listen to /api/v1/events.")


@router.post("/api/v1/webhooks/custom", needs=needs.SIGNED_IN.or_any_task)
def post_webhook_event_data(body: registry.PostWebhookEventDataRequest) -> Empty:
    """Accepted, so that a script's alert does not fail its training; nobody is told."""
    return Empty()
