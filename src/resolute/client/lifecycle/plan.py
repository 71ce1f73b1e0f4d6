"""From what a user asks of `train` and `tune` to an experiment's configuration. Pure: nothing is read or sent."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from resolute.client.lifecycle.algorithm import Algorithm
from resolute.client.lifecycle.capacity import slots_of
from resolute.client.lifecycle.contract import GPUS, PHASE, RECORDING, SECTION, UPLOAD_PATH, TrialOrder
from resolute.client.lifecycle.definition import Definition
from resolute.client.lifecycle.domain import Domain, points_of
from resolute.client.lifecycle.faults import InvalidModelProperty, ModelValidationException
from resolute.client.lifecycle.quantity import Resources

Json = dict[str, Any]
RUNNER = "resolute.training.lifecycle.runner"
_LAUNCHER = "resolute.launch.torch_distributed"
_MONTH_S = 30 * 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What `train` and `tune` have in common."""

    definition: Definition
    order: TrialOrder
    name: str
    workers: int
    claim: Resources
    upload_path: str
    requirements: str | None = None

    def config(self, searcher: Json, hyperparameters: Json) -> Json:
        labels = [f"{key}={value}" if value else key for key, value in self.definition.labels.items()]
        environment: Json = {"environment_variables": self._variables()}
        if self.requirements:
            environment["requirements"] = self.requirements
        return {
            "name": self.name,
            "description": f"{self.order.phase} {self.definition.id} {self.definition.version}",
            "labels": list(dict.fromkeys([SECTION, self.order.phase, self.definition.service, *labels])),
            "entrypoint": self._entrypoint(),
            "hyperparameters": hyperparameters,
            "searcher": searcher,
            "resources": {"slots_per_trial": slots_of(self.workers, self.claim.gpus)},
            "environment": environment,
            "max_restarts": 0,
            "data": {**self.order.as_data(), "resources": self.claim.as_data()},
        }

    def _entrypoint(self) -> str:
        if not self.definition.framework.is_distributed:
            return f"python3 -m {RUNNER}"
        # Without it there is a process for each slot, which is a worker unless workers have several GPUs.
        nproc = f" --nproc {self.workers}" if self.claim.gpus > 1 else ""
        return f"python3 -m {_LAUNCHER}{nproc} -m {RUNNER}"

    def _variables(self) -> list[str]:
        facts = {PHASE: self.order.phase, UPLOAD_PATH: self.upload_path, GPUS: self.claim.gpus}
        return [f"{name}={value}" for name, value in facts.items()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What a search looks at. The first objective is the one that counts most."""

    objectives: tuple[str, ...]
    is_maximized: bool = True
    value: float | None = None

    @classmethod
    def of(cls, objectives: Sequence[str], objective_type: str, value: float | None) -> "Goal":
        if isinstance(objectives, str) or not objectives or not all(isinstance(each, str) for each in objectives):
            raise InvalidModelProperty(f'objectives: {objectives!r} is not a list of metrics such as ["accuracy"].')
        kind = str(objective_type).lower()
        if kind not in ("maximize", "minimize"):
            raise InvalidModelProperty(f"objective_type: {objective_type!r}. Choose maximize or minimize.")
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise InvalidModelProperty(f"objective_goal: {value!r} is not a number.")
        return cls(objectives=tuple(dict.fromkeys(objectives)), is_maximized=kind == "maximize", value=value)

    @property
    def primary(self) -> str:
        return self.objectives[0]

    def section(self) -> Json:
        smaller = not self.is_maximized
        if len(self.objectives) == 1:
            goal: Json = {"goal": float(self.value)} if self.value is not None else {}
            return {"metric": self.primary, "smaller_is_better": smaller, **goal}
        rest = [None] * (len(self.objectives) - 1)
        goal = {"goal": [float(self.value), *rest]} if self.value is not None else {}
        return {"metric": list(self.objectives), "smaller_is_better": [smaller] * len(self.objectives), **goal}


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    space: Mapping[str, Domain]
    goal: Goal
    algorithm: Algorithm
    settings: Mapping[str, Any]
    trials: int
    parallel_trials: int
    failed_trials: int

    def fitted(self) -> tuple["Search", str]:
        """With no more trials than there are settings, and why. A space that fits is tried whole, each point once."""
        points = points_of(self.space)
        if self.algorithm is Algorithm.GRID:
            return self._fitted_grid()
        if points is None or points > self.trials or self.algorithm.stops_trials:
            return self, ""
        told = ""
        if points < self.trials:
            told = (
                f"trials: {self.trials} are asked for, but the hyperparameters have only {points} different settings; "
                f"each is tried once."
            )
        return replace(self, algorithm=Algorithm.GRID, trials=points, settings={}), told

    def with_parallel(self, parallel_trials: int) -> "Search":
        return replace(self, parallel_trials=parallel_trials)

    def _fitted_grid(self) -> tuple["Search", str]:
        points = math.prod(count for count in self._counts().values())
        if points > self.trials:
            raise ModelValidationException(
                f"trials: the grid has {points} settings, but only {self.trials} trials are asked for. Raise trials, "
                "give fewer values, or use the algorithm random."
            )
        return replace(self, trials=points), ""

    def hyperparameters(self) -> Json:
        spaces = {name: domain.as_hyperparameter() for name, domain in self.space.items()}
        if self.algorithm is not Algorithm.GRID:
            return spaces
        counts = self._counts()
        for name, section in spaces.items():
            if section["type"] in ("int", "double"):
                section["count"] = counts[name]
        return spaces

    def searcher(self) -> Json:
        shape = self.algorithm.searcher(self.settings, trials=self.trials, parallel_trials=self.parallel_trials)
        # The type of the objective is meant for the first one: nothing may be chosen by the direction of the others.
        goal = replace(self.goal, objectives=self.goal.objectives[:1]) if self.algorithm.learns else self.goal
        return {**shape, **goal.section(), "max_failed_trials": self.failed_trials}

    def _counts(self) -> dict[str, int]:
        """How many points a grid has along each hyperparameter: ranges without an end share the trials evenly."""
        endless = sum(domain.points is None for domain in self.space.values())
        rest = math.prod(domain.points or 1 for domain in self.space.values())
        share = max(int((self.trials / rest) ** (1 / endless) + 1e-9), 2) if endless else 1
        return {name: domain.points or share for name, domain in self.space.items()}


def training_config(work: Work, hyperparameters: Mapping[str, Any]) -> Json:
    constants = {name: {"type": "const", "val": value} for name, value in hyperparameters.items()}
    searcher = {"name": "single", "metric": RECORDING, "smaller_is_better": False, "max_length": {"batches": 1}}
    return work.config(searcher, constants)


def tuning_config(work: Work, search: Search) -> Json:
    config = work.config(search.searcher(), search.hyperparameters())
    # Only the best trial's model is of use afterwards.
    kept = {"save_experiment_best": 1, "save_trial_best": 0, "save_trial_latest": 0}
    # A trial that reaches the goal still has to end and export its model, however long that takes.
    patience = {"preemption_timeout": _MONTH_S} if search.goal.value is not None else {}
    return {**config, "checkpoint_storage": kept, **patience}
