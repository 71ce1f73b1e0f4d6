"""What an earlier experiment can tell a new search: its trials' validations, where they are about the same thing."""

from collections.abc import Mapping

from resolute.domain.errors import InvalidConfig, NotFound
from resolute.engine.experiments.pareto import validated
from resolute.engine.ports.database import Transaction
from resolute.search.objective import Objective
from resolute.search.registry import fitting_results
from resolute.search.searcher import EarlierResult

_PLACE = "searcher.source_experiment_ids"


def earlier_results(
    tx: Transaction, experiment_id: int, searcher: Mapping[str, object], hyperparameters: Mapping[str, object]
) -> list[EarlierResult]:
    """Best validation of each trial by the new search's first metric. Refused when none of them helps."""
    try:
        tx.experiments.get(experiment_id)
    except NotFound:
        raise InvalidConfig(
            [f"{_PLACE}: there is no experiment {experiment_id}; `resolute experiment list` lists them."]
        ) from None
    objective = Objective(searcher)
    trials = {trial.id: trial for trial in tx.trials.of_experiment(experiment_id)}
    highlights = tx.metrics.highlights(
        list(trials), objective.names[0], smaller_is_better=objective.smaller_is_better[0]
    )
    reported = [
        EarlierResult(trials[trial_id].hparams, validated(best, objective.names), float(best.steps_completed))
        for trial_id in sorted(highlights)
        if (best := highlights[trial_id].best) is not None
    ]
    useful = fitting_results(hyperparameters, [result for result in reported if result.metrics])
    if not useful:
        raise InvalidConfig([_useless(experiment_id, objective.names, reported)])
    return useful


def _useless(experiment_id: int, names: tuple[str, ...], reported: list[EarlierResult]) -> str:
    wanted = " and ".join(names)
    if not any(result.metrics for result in reported):
        return f"{_PLACE}: no trial of experiment {experiment_id} has validated {wanted}; name experiments that did."
    return (
        f"{_PLACE}: no trial of experiment {experiment_id} lies within these hyperparameters (same names, values in "
        "range); name other experiments, or widen the ranges."
    )
