"""The API of searches: those driven from outside (searcher.name: custom), and what several objectives lead to."""

from resolute.domain import needs
from resolute.engine.experiments.custom_search import searcher_events, tell_searcher
from resolute.engine.experiments.pareto import pareto_trials
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


@router.get("/api/v1/experiments/{experiment_id}/pareto", needs=needs.VIEW_EXPERIMENT.or_own_task)
def get_pareto_set(experiment_id: int, platform: PlatformOf) -> wire.GetParetoSetResponse:
    """The trials that no other one beats, in the order of the first metric, best first. With one metric: the best."""
    return wire.GetParetoSetResponse(
        trials=[
            wire.ParetoTrial(
                trial_id=found.trial.id, steps=found.steps, metrics=dict(found.metrics), hparams=found.trial.hparams
            )
            for found in pareto_trials(platform, experiment_id)
        ]
    )
