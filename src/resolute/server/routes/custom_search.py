"""The API of a search that is driven from outside (searcher.name: custom): ask what happened, tell what to do."""

from resolute.domain import needs
from resolute.engine.experiments.custom_search import searcher_events, tell_searcher
from resolute.server.auth import PlatformOf
from resolute.server.resource import Resource
from resolute.spec.wire import searches as wire
from resolute.spec.wire.base import Empty

router = Resource(tags=["experiments"])


@router.get("/api/v1/experiments/{experiment_id}/searcher/events", needs=needs.VIEW_EXPERIMENT.or_own_task)
def get_searcher_events(experiment_id: int, platform: PlatformOf) -> wire.GetSearcherEventsResponse:
    """Events nobody has answered yet, oldest first. Listen to the topic `experiment/<id>` instead of polling."""
    return wire.GetSearcherEventsResponse(events=searcher_events(platform, experiment_id))


@router.post("/api/v1/experiments/{experiment_id}/searcher/actions", needs=needs.EDIT_EXPERIMENT)
def post_searcher_actions(experiment_id: int, body: wire.PostSearcherActionsRequest, platform: PlatformOf) -> Empty:
    """Answer all events up to and including `upTo`. Telling the same answer twice changes nothing."""
    tell_searcher(platform, experiment_id, body.actions, up_to=body.up_to, progress=body.progress)
    return Empty()
