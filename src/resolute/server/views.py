"""Reads that several routes share: an experiment with its names, a trial with what is shown beside it."""

from collections.abc import Sequence

from resolute.domain.allocation import Allocation
from resolute.domain.checkpoint import Checkpoint, CheckpointState
from resolute.domain.metric import VALIDATION, MetricReport
from resolute.domain.trial import Trial
from resolute.engine.platform import Platform
from resolute.engine.ports import CheckpointQuery, ExperimentQuery, ExperimentSummary, PageRequest, Transaction
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
    metrics = {trial.experiment_id: _searcher_metric(tx, trial.experiment_id) for trial in trials}
    views = []
    for trial in trials:
        count, size = totals.get(trial.id, (0, 0))
        metric, smaller_is_better = metrics[trial.experiment_id]
        views.append(
            TrialView(
                trial=trial,
                allocation=running.get(trial.id),
                best=_best_validation(tx, trial, metric, smaller_is_better=smaller_is_better),
                latest=tx.metrics.latest(trial.id, VALIDATION),
                best_checkpoint=_best_checkpoint(tx, trial, count),
                checkpoint_count=count,
                checkpoint_size=size,
                summaries=summaries.get(trial.id, []),
            )
        )
    return views


def live_allocations(tx: Transaction) -> dict[int, Allocation]:
    """Trial id to its allocation that has not ended."""
    return {a.trial_id: a for a in tx.allocations.live() if a.trial_id is not None}


def _searcher_metric(tx: Transaction, experiment_id: int) -> tuple[str, bool]:
    searcher = tx.experiments.get(experiment_id).config.get("searcher") or {}
    metric, smaller = searcher.get("metric", ""), searcher.get("smaller_is_better", True)
    if isinstance(metric, list):
        metric = metric[0]
    return str(metric), bool(smaller[0] if isinstance(smaller, list) else smaller)


def _best_validation(tx: Transaction, trial: Trial, metric: str, *, smaller_is_better: bool) -> MetricReport | None:
    if trial.searcher_metric_value is None:
        return None
    series = tx.metrics.series(trial.id, VALIDATION, metric)
    points = [(value, step) for value, step in zip(series.values, series.steps, strict=True) if value == value]
    if not points:
        return None
    _, step = min(points) if smaller_is_better else max(points, key=lambda point: (point[0], -point[1]))
    return tx.metrics.at_steps(trial.id, VALIDATION, step)


def _best_checkpoint(tx: Transaction, trial: Trial, count: int) -> Checkpoint | None:
    if not count:
        return None
    query = CheckpointQuery(
        trial_id=trial.id,
        states=(CheckpointState.COMPLETED,),
        sort_by="searcher_metric",
        page=PageRequest(limit=1),
    )
    found = tx.checkpoints.search(query).items
    return found[0].checkpoint if found else None
