"""Reads that several routes share: an experiment with its names, a trial with what is shown beside it."""

from collections.abc import Mapping, Sequence

from resolute.domain.trial import Trial
from resolute.engine.jobs.waiting import job_names, why_it_waits
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.ports.queries import ExperimentQuery, ExperimentSummary
from resolute.engine.trials.views import TrialView, trial_views
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


_NOWHERE: frozenset[int] = frozenset()


def show_trial(platform: Platform, trial_id: int, *, visible_in: frozenset[int] | None = _NOWHERE) -> TrialMessage:
    """`visible_in`: workspaces whose jobs may be named as what the trial waits for; None: any."""
    with platform.store.read() as tx:
        return show_trials(platform, tx, [tx.trials.get(trial_id)], visible_in=visible_in)[0]


def show_trials(
    platform: Platform, tx: Transaction, trials: Sequence[Trial], *, visible_in: frozenset[int] | None = _NOWHERE
) -> list[TrialMessage]:
    now = platform.clock()
    views = trial_views(tx, trials)
    names = job_names(tx.jobs.in_queue(), visible_in) if any(_waits(view) for view in views) else {}
    return [trial_message(view, now=now, waiting=_reason(platform, view, names)) for view in views]


def _waits(view: TrialView) -> bool:
    return view.allocation is not None and view.allocation.waits


def _reason(platform: Platform, view: TrialView, names: Mapping[str, str]) -> str:
    waiting = why_it_waits(platform.waiting, view.allocation, names) if view.allocation is not None else None
    return waiting.sentence if waiting is not None else ""
