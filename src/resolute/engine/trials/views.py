"""Trials with what is shown beside them: a read model of few statements, however many trials there are."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from resolute.domain.allocation import Allocation
from resolute.domain.checkpoint import Checkpoint
from resolute.domain.metric import Highlights, MetricReport, MetricSummary
from resolute.domain.trial import Trial
from resolute.engine.ports.database import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialView:
    """A trial with what its message shows beside it."""

    trial: Trial
    allocation: Allocation | None = None
    """The one that has not ended."""
    best: MetricReport | None = None
    latest: MetricReport | None = None
    best_checkpoint: Checkpoint | None = None
    checkpoint_count: int = 0
    checkpoint_size: int = 0
    summaries: list[MetricSummary] = field(default_factory=list)


def trial_views(tx: Transaction, trials: Sequence[Trial]) -> list[TrialView]:
    """In the order of `trials`."""
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


def live_allocations(tx: Transaction) -> dict[int, Allocation]:
    """Trial id to its allocation that has not ended."""
    return {a.trial_id: a for a in tx.allocations.live() if a.trial_id is not None}


def _highlights(tx: Transaction, trials: Sequence[Trial]) -> dict[int, Highlights]:
    """Trials of experiments that look at the same metric are asked about together."""
    looked_at = tx.experiments.searcher_metrics({trial.experiment_id for trial in trials})
    together: dict[tuple[str, bool], list[int]] = {}
    for trial in trials:
        together.setdefault(looked_at[trial.experiment_id], []).append(trial.id)
    found: dict[int, Highlights] = {}
    for (metric, smaller_is_better), trial_ids in together.items():
        found |= tx.metrics.highlights(trial_ids, metric, smaller_is_better=smaller_is_better)
    return found
