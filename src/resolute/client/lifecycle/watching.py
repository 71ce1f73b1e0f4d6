"""Waiting for an experiment to end, with its log or its progress on the screen. Stops it when nobody waits any more."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from resolute.client.experiment import Experiment
from resolute.client.lifecycle.faults import WorkloadDeploymentError
from resolute.client.lifecycle.messages import Messages
from resolute.client.lifecycle.plan import Goal
from resolute.client.lifecycle.progress import Progress
from resolute.client.logs import LogFilter
from resolute.client.trial import Trial
from resolute.domain.errors import IllegalTransition, ResoluteError

_LAST_LINES_S = 10.0
SUCCEEDED = "COMPLETED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often to look, and how long at most."""

    timeout_s: float
    interval_s: float = 0.25
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def watch_training(experiment: Experiment, messages: Messages, pace: Pace, *, verbose: bool) -> str:
    """The state it ended in. Lines of the trainer are shown as they come."""
    with _stopped_when_left(experiment):
        printer = threading.Thread(target=_print_log, args=(experiment, messages), daemon=True)
        if verbose:
            printer.start()
        started = pace.clock()
        while not experiment.reload().is_finished:
            _check(experiment, pace, started)
            pace.sleep(pace.interval_s)
        if verbose:
            printer.join(_LAST_LINES_S)
    return experiment.state


def watch_search(experiment: Experiment, messages: Messages, pace: Pace, *, trials: int, goal: Goal) -> str:
    with _stopped_when_left(experiment):
        started = pace.clock()
        while True:
            is_finished = experiment.reload().is_finished
            line = _progress(experiment, goal, trials, pace.clock() - started)
            if is_finished:
                break
            messages.show(line)
            _check(experiment, pace, started)
            pace.sleep(pace.interval_s)
    messages.settle(line)
    return experiment.state


def best_of(trials: list[Trial], goal: Goal) -> Trial | None:
    known = [trial for trial in trials if trial.searcher_metric is not None]
    sign = -1.0 if goal.is_maximized else 1.0
    return min(known, key=lambda trial: (sign * float(trial.searcher_metric or 0.0), trial.id), default=None)


def _progress(experiment: Experiment, goal: Goal, total: int, elapsed_s: float) -> str:
    trials = experiment.trials()
    best = best_of(trials, goal)
    progress = Progress.of([trial.state for trial in trials], total)
    return progress.line(elapsed_s, goal.primary, best.searcher_metric if best else None)


def _print_log(experiment: Experiment, messages: Messages) -> None:
    try:
        for line in experiment.await_first_trial().logs(LogFilter(follow=True)):
            messages.say(_shown(line))
    except ResoluteError as problem:
        messages.say(f"The log cannot be shown: {problem}")


def _shown(line: dict[str, Any]) -> str:
    """As the trainer wrote it; which worker wrote it comes first."""
    text = str(line.get("log") or line["message"]).rstrip("\n")
    rank = line.get("rankId")
    return text if rank is None else f"[rank={rank}] {text}"


def _check(experiment: Experiment, pace: Pace, started: float) -> None:
    if experiment.state == "PAUSED":
        raise IllegalTransition(
            f"Experiment {experiment.id} was paused. Activate it: resolute e activate {experiment.id}"
        )
    if pace.clock() - started >= pace.timeout_s:
        raise WorkloadDeploymentError(
            f"Experiment {experiment.id} ({experiment.name}) is still {experiment.state} after {pace.timeout_s:g} s "
            "and is stopped. Give a larger timeout."
        )


@contextmanager
def _stopped_when_left(experiment: Experiment) -> Iterator[None]:
    """An interrupted cell must not leave work behind that nobody knows of."""
    try:
        yield
    except (KeyboardInterrupt, WorkloadDeploymentError):
        experiment.kill()
        raise
