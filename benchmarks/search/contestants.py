"""Everyone who races: our searchers and, where they are installed, Optuna, Ray Tune and Syne Tune.

All get the same rungs (1, 4, 16, 64 epochs; one in four goes on) and the same seeds.
"""

import logging
import random
from collections import deque
from collections.abc import Callable, Container
from typing import Any

import numpy

from benchmarks.search.race import Contestant
from benchmarks.search.synthetic import random_point
from benchmarks.search.task import MAX_EPOCHS, Dimension, Point, Task
from resolute.search import new_searcher
from resolute.search.events import CreateTrial, Outcome, SearchStarted, StopTrial, TrialClosed, Validated

DIVISOR = 4
MOST_TRIALS = 50
"""For each training of full length in the budget: more than anybody can begin, so that nobody stops early."""

Entry = Callable[[Task, int, int], Contestant]
"""(task, seed, workers)"""


class Ours:
    """Snapshot and all, as the engine uses it. `epochs`: when it is told of a trial; after each one if not given."""

    def __init__(
        self, config: dict[str, Any], task: Task, seed: int, workers: int, epochs: Container[int] | None = None
    ) -> None:
        self._epochs = epochs
        section = {"metric": "loss", "max_concurrent_trials": workers, **config}
        self._searcher = new_searcher(section, task.hyperparameters(), seed)
        self._waiting: deque[CreateTrial] = deque()
        self._take(self._searcher.handle(SearchStarted()))

    def suggest(self) -> tuple[Any, Point] | None:
        if not self._waiting:
            return None
        trial = self._waiting.popleft()
        return trial.request_id, trial.hparams

    def report(self, handle: Any, epoch: int, loss: float) -> bool:
        if self._epochs is not None and epoch not in self._epochs:
            return True
        outcome = self._searcher.handle(Validated(handle, float(epoch), {"loss": loss}))
        self._searcher.snapshot()
        self._take(outcome)
        is_stopped = any(isinstance(action, StopTrial) and action.request_id == handle for action in outcome.actions)
        if is_stopped or epoch >= MAX_EPOCHS:
            self._take(self._searcher.handle(TrialClosed(handle)))
        return not is_stopped

    def _take(self, outcome: Outcome) -> None:
        self._waiting.extend(action for action in outcome.actions if isinstance(action, CreateTrial))


class OptunaContestant:
    def __init__(self, sampler: Any, pruner: Any, task: Task) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._study = optuna.create_study(sampler=sampler, pruner=pruner)
        self._states = optuna.trial.TrialState
        self._task = task

    def suggest(self) -> tuple[Any, Point] | None:
        trial = self._study.ask()
        return trial, {dimension.name: _suggested(trial, dimension) for dimension in self._task.dimensions}

    def report(self, handle: Any, epoch: int, loss: float) -> bool:
        handle.report(loss, epoch)
        if epoch >= MAX_EPOCHS:
            self._study.tell(handle, loss)
            return False
        if handle.should_prune():
            self._study.tell(handle, state=self._states.PRUNED)
            return False
        return True


class RayAsha:
    """Ray Tune's own scheduler class, driven without a cluster; random sampling as in its default."""

    class _Trial:
        def __init__(self, number: int) -> None:
            self.trial_id = str(number)

    def __init__(self, task: Task, seed: int, brackets: int) -> None:
        from ray.tune.schedulers import AsyncHyperBandScheduler

        self._scheduler = AsyncHyperBandScheduler(
            time_attr="epoch",
            metric="loss",
            mode="min",
            max_t=MAX_EPOCHS,
            grace_period=1,
            reduction_factor=DIVISOR,
            brackets=brackets,
        )
        # It draws brackets from numpy's global generator.
        numpy.random.seed(seed)
        self._dice, self._task, self._count = random.Random(seed), task, 0

    def suggest(self) -> tuple[Any, Point] | None:
        self._count += 1
        trial = self._Trial(self._count)
        self._scheduler.on_trial_add(None, trial)
        return trial, random_point(self._task.dimensions, self._dice)

    def report(self, handle: Any, epoch: int, loss: float) -> bool:
        return self._scheduler.on_trial_result(None, handle, {"epoch": epoch, "loss": loss}) == "CONTINUE"


class SyneContestant:
    def __init__(self, name: str, task: Task, seed: int, **options: Any) -> None:
        from syne_tune.backend.trial_status import Trial
        from syne_tune.optimizer import baselines

        logging.getLogger("syne_tune").setLevel(logging.ERROR)
        self._trial_class = Trial
        self._scheduler = getattr(baselines, name)(
            {dimension.name: _syne_domain(dimension) for dimension in task.dimensions},
            metric="loss",
            time_attr="epoch",
            max_t=MAX_EPOCHS,
            grace_period=1,
            reduction_factor=DIVISOR,
            random_seed=seed,
            **options,
        )
        self._count = 0

    def suggest(self) -> tuple[Any, Point] | None:
        import datetime

        suggestion = self._scheduler.suggest()
        trial = self._trial_class(self._count, suggestion.config, datetime.datetime.now(tz=datetime.UTC))
        self._count += 1
        self._scheduler.on_trial_add(trial)
        return trial, {key: suggestion.config[key] for key in suggestion.config}

    def report(self, handle: Any, epoch: int, loss: float) -> bool:
        result = {"epoch": epoch, "loss": loss}
        decision = self._scheduler.on_trial_result(handle, result)
        if epoch >= MAX_EPOCHS:
            self._scheduler.on_trial_complete(handle, result)
            return False
        if decision != "CONTINUE":
            self._scheduler.on_trial_remove(handle)
        return bool(decision == "CONTINUE")


def entries(trainings: int) -> dict[str, Entry]:
    """By name; `trainings` of full length is the budget."""
    most = {"max_trials": MOST_TRIALS * trainings}
    found: dict[str, Entry] = {
        "random": _ours(most | {"name": "random"}),
        "adaptive_asha": _ours(most | _halving("adaptive_asha", mode="standard")),
        "adaptive_asha aggressive": _ours(most | _halving("adaptive_asha", mode="aggressive")),
        "async_halving": _ours(most | _halving("async_halving", num_rungs=4)),
        "tpe": _ours(most | {"name": "tpe"}),
        "adaptive_tpe": _ours(most | _halving("adaptive_tpe")),
        "adaptive_tpe 8 reports": _ours(most | _halving("adaptive_tpe"), epochs=range(8, MAX_EPOCHS + 1, 8)),
        "adaptive_tpe at rungs": _ours(most | _halving("adaptive_tpe"), epochs=(1, 4, 16, MAX_EPOCHS)),
    }
    return {**found, **_optuna(), **_ray(), **_syne()}


def _halving(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "max_time": MAX_EPOCHS, "time_metric": "epochs", "divisor": DIVISOR, "stop_once": True} | more


def _ours(config: dict[str, Any], epochs: Container[int] | None = None) -> Entry:
    return lambda task, seed, workers: Ours(config, task, seed, workers, epochs)


def _optuna() -> dict[str, Entry]:
    try:
        import optuna
    except ImportError:
        return {}
    halving = {"min_resource": 1, "reduction_factor": DIVISOR}

    def entry(pruner: Callable[[], Any]) -> Entry:
        return lambda task, seed, workers: OptunaContestant(
            optuna.samplers.TPESampler(seed=seed, constant_liar=workers > 1), pruner(), task
        )

    return {
        "optuna tpe+sha": entry(lambda: optuna.pruners.SuccessiveHalvingPruner(**halving)),
        "optuna tpe+hyperband": entry(
            lambda: optuna.pruners.HyperbandPruner(min_resource=1, max_resource=MAX_EPOCHS, reduction_factor=DIVISOR)
        ),
    }


def _ray() -> dict[str, Entry]:
    try:
        import ray.tune.schedulers  # noqa: F401
    except ImportError:
        return {}
    return {
        "ray asha": lambda task, seed, workers: RayAsha(task, seed, brackets=1),
        "ray asha 3 brackets": lambda task, seed, workers: RayAsha(task, seed, brackets=3),
    }


def _syne() -> dict[str, Entry]:
    try:
        import syne_tune.optimizer.baselines  # noqa: F401
    except ImportError:
        return {}
    return {
        "syne asha": lambda task, seed, workers: SyneContestant("ASHA", task, seed),
        "syne asha 3 brackets": lambda task, seed, workers: SyneContestant("ASHA", task, seed, brackets=3),
        "syne bohb": lambda task, seed, workers: SyneContestant("BOHB", task, seed),
    }


def _suggested(trial: Any, dimension: Dimension) -> Any:
    if dimension.kind == "choice":
        return trial.suggest_categorical(dimension.name, dimension.choices)
    if dimension.kind == "int":
        return trial.suggest_int(dimension.name, int(dimension.low), int(dimension.high))
    return trial.suggest_float(dimension.name, dimension.low, dimension.high)


def _syne_domain(dimension: Dimension) -> Any:
    from syne_tune import config_space

    if dimension.kind == "choice":
        return config_space.choice(list(dimension.choices))
    if dimension.kind == "int":
        return config_space.randint(int(dimension.low), int(dimension.high))
    return config_space.uniform(dimension.low, dimension.high)
