"""Reads that several routes share: an experiment with its names, a trial with what is shown beside it."""

from collections.abc import Sequence

from resolute.domain.trial import Trial
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.ports.queries import ExperimentQuery, ExperimentSummary
from resolute.engine.trials.views import trial_views
from resolute.server.shapes.experiments import experiment_message
from resolute.server.shapes.trials import trial_message
from resolute.spec.wire.experiments import Experiment as ExperimentMessage
from resolute.spec.wire.trials import Trial as TrialMessage


def experiment_summary(tx: Transaction, experiment_id: int) -> ExperimentSummary:
    """Raises NotFound."""
    found = tx.experiments.search(ExperimentQuery(ids=(experiment_id,))).items
    if not found:
        tx.experiments.get(experiment_id)
    return found[0]


def show_experiment(platform: Platform, experiment_id: int) -> ExperimentMessage:
    with platform.store.read() as tx:
        summary = experiment_summary(tx, experiment_id)
        trial_ids = tx.trials.ids_of([experiment_id])
    return experiment_message(summary, now=platform.clock(), trial_ids=trial_ids)


def show_trial(platform: Platform, trial_id: int) -> TrialMessage:
    with platform.store.read() as tx:
        views = trial_views(tx, [tx.trials.get(trial_id)])
    return trial_message(views[0], now=platform.clock())


def show_trials(platform: Platform, tx: Transaction, trials: Sequence[Trial]) -> list[TrialMessage]:
    now = platform.clock()
    return [trial_message(view, now=now) for view in trial_views(tx, trials)]
