"""Reads that several routes share: an experiment with its names, a trial with what is shown beside it."""

from collections.abc import Sequence

from resolute.domain.allocation import Allocation
from resolute.domain.metric import Highlights
from resolute.domain.trial import Trial
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.ports.queries import ExperimentQuery, ExperimentSummary
from resolute.server.shapes.experiments import experiment_message
from resolute.server.shapes.trials import TrialView, trial_message
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
        trial_ids = [trial.id for trial in tx.trials.of_experiment(experiment_id)]
    return experiment_message(summary, now=platform.clock(), trial_ids=trial_ids)


def show_trial(platform: Platform, trial_id: int) -> TrialMessage:
    with platform.store.read() as tx:
        views = trial_views(tx, [tx.trials.get(trial_id)])
    return trial_message(views[0], now=platform.clock())


def show_trials(platform: Platform, tx: Transaction, trials: Sequence[Trial]) -> list[TrialMessage]:
    now = platform.clock()
    return [trial_message(view, now=now) for view in trial_views(tx, trials)]


def trial_views(tx: Transaction, trials: Sequence[Trial]) -> list[TrialView]:
    ids = [trial.id for trial in trials]
    totals = tx.trials.checkpoint_totals(ids)
    summaries = tx.metrics.summaries_of(ids)
    running = live_allocations(tx)
    reported = _highlights(tx, trials)
    checkpoints = tx.checkpoints.best_of([trial_id for trial_id in ids if totals.get(trial_id, (0, 0))[0]])
    views = []
    for trial in trials:
        count, size = totals.get(trial.id, (0, 0))
        shown = reported.get(trial.id, Highlights())
        views.append(
            TrialView(
                trial=trial,
                allocation=running.get(trial.id),
                best=shown.best if trial.searcher_metric_value is not None else None,
                latest=shown.latest,
                best_checkpoint=checkpoints.get(trial.id),
                checkpoint_count=count,
                checkpoint_size=size,
                summaries=summaries.get(trial.id, []),
            )
        )
    return views


def _highlights(tx: Transaction, trials: Sequence[Trial]) -> dict[int, Highlights]:
    of_experiment: dict[int, list[int]] = {}
    for trial in trials:
        of_experiment.setdefault(trial.experiment_id, []).append(trial.id)
    found: dict[int, Highlights] = {}
    for experiment_id, trial_ids in of_experiment.items():
        experiment = tx.experiments.get(experiment_id)
        found |= tx.metrics.highlights(
            trial_ids, experiment.searcher_metric, smaller_is_better=experiment.smaller_is_better
        )
    return found


def live_allocations(tx: Transaction) -> dict[int, Allocation]:
    """Trial id to its allocation that has not ended."""
    return {a.trial_id: a for a in tx.allocations.live() if a.trial_id is not None}
