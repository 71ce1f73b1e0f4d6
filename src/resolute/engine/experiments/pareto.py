"""The Pareto set of a search with several objectives: the trials that no other trial beats in all of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

from resolute.domain.metric import MetricReport
from resolute.domain.trial import Trial
from resolute.engine.experiments.configuration import configuration_of
from resolute.engine.platform import Platform
from resolute.search.objective import Objective
from resolute.search.pareto import pareto_set


@dataclass(frozen=True, slots=True)
class ParetoTrial:
    trial: Trial
    steps: int
    """Of the validation that counts: the trial's latest, because that is the model there is."""
    metrics: dict[str, float]


def pareto_trials(platform: Platform, experiment_id: int) -> list[ParetoTrial]:
    """In the order of the first metric, best first. With one metric: the best trial, and those equal to it."""
    with platform.store.read() as tx:
        experiment = tx.experiments.get(experiment_id)
        objective = Objective(configuration_of(experiment).searcher.resolved())
        trials = {trial.id: trial for trial in tx.trials.of_experiment(experiment_id)}
        highlights = tx.metrics.highlights(
            list(trials), objective.names[0], smaller_is_better=objective.smaller_is_better[0]
        )
    latest = {trial_id: highlights[trial_id].latest for trial_id in sorted(highlights)}
    known = [
        ParetoTrial(trials[trial_id], report.steps_completed, numbers)
        for trial_id, report in latest.items()
        if report is not None and (numbers := validated(report, objective.names))
    ]
    losses = [objective.losses(one.metrics) for one in known]
    return [known[at] for at in sorted(pareto_set(losses), key=losses.__getitem__)]


def validated(report: MetricReport, names: Sequence[str]) -> dict[str, float]:
    """The objectives' values in a report; empty unless all are there and are numbers."""
    found = {name: report.metrics.get(name) for name in names}
    numbers = {name: float(value) for name, value in found.items() if _is_number(value)}
    return numbers if len(numbers) == len(names) else {}


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value
