"""The API of searches with several objectives: the trials that no other one beats."""

from resolute.domain import needs
from resolute.engine.experiments.pareto import pareto_trials
from resolute.server.auth import PlatformOf
from resolute.server.resource import Resource
from resolute.spec.wire import searches as wire

router = Resource(tags=["experiments"])


@router.get("/api/v1/experiments/{experiment_id}/pareto", needs=needs.VIEW_EXPERIMENT.or_own_task)
def get_pareto_set(experiment_id: int, platform: PlatformOf) -> wire.GetParetoSetResponse:
    """In the order of the first metric, best first. With one metric: the best trial."""
    return wire.GetParetoSetResponse(
        trials=[
            wire.ParetoTrial(
                trial_id=found.trial.id, steps=found.steps, metrics=dict(found.metrics), hparams=found.trial.hparams
            )
            for found in pareto_trials(platform, experiment_id)
        ]
    )
