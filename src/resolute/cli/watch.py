"""A live line about an experiment: how far it is, its trials, the best metric so far."""

import time
from collections import Counter
from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from resolute.client.experiment import Experiment
from resolute.client.trial import Trial
from resolute.domain.errors import IllegalTransition

EVERY_S = 0.5


def watch(
    experiment: Experiment,
    *,
    console: Console | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> str:
    """Show it until it ends, and return how. A paused experiment ends the watching with an error."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[facts]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task(f"Experiment {experiment.id}", total=1.0, facts="")
        while True:
            experiment.reload()
            trials = experiment.trials()
            completed = 1.0 if experiment.state == "COMPLETED" else experiment.progress
            progress.update(bar, completed=completed, facts=facts(experiment, trials))
            if experiment.is_finished:
                return experiment.state
            if experiment.state == "PAUSED":
                raise IllegalTransition(
                    f"Experiment {experiment.id} is paused. Go on: resolute e activate {experiment.id}"
                )
            sleep(EVERY_S)


def facts(experiment: Experiment, trials: list[Trial]) -> str:
    """`RUNNING, 3 of 8 trials ended, best loss 0.0312 (trial 5)`"""
    by_end = Counter(trial.is_finished for trial in trials)
    parts = [experiment.state]
    if trials:
        parts.append(f"{by_end[True]} of {len(trials)} trial{'s' if len(trials) > 1 else ''} ended")
    best = best_trial(experiment, trials)
    if best is not None:
        parts.append(f"best {experiment.searcher_metric} {best.searcher_metric:.6g} (trial {best.id})")
    return ", ".join(parts)


def best_trial(experiment: Experiment, trials: list[Trial]) -> Trial | None:
    measured = [t for t in trials if isinstance(t.searcher_metric, (int, float))]
    sign = 1 if experiment.smaller_is_better else -1
    return min(measured, key=lambda t: sign * (t.searcher_metric or 0.0), default=None)
