"""An `Experiment` of Katib as the sections of ours that say the same: hyperparameters and searcher. Pure; no I/O.

What its trials run, a pod template, is not translated: the entrypoint is yours to give.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from resolute.domain.errors import InvalidConfig
from resolute.spec.problem import Problem
from resolute.spec.source import Source, read_source

Json = dict[str, object]
Number = int | float
_ALGORITHMS = {
    "random": "random",
    "grid": "grid",
    "tpe": "tpe",
    "multivariate-tpe": "tpe",
    "bayesianoptimization": "tpe",
    "hyperband": "adaptive_asha",
}
_DIRECTIONS = {"minimize": True, "maximize": False}
_MOST_VALUES = 1000
_KIND = re.compile(r"""^kind:\s*["']?Experiment\b""", re.MULTILINE)
_API = re.compile(r"""^apiVersion:\s*["']?kubeflow\.org/""", re.MULTILINE)
_PASSED_OVER = ("earlyStopping", "metricsCollectorSpec", "nasConfig", "resumePolicy", "trialTemplate")


@dataclass(frozen=True, slots=True, kw_only=True)
class KatibExperiment:
    config: Json
    """`name`, `hyperparameters` and `searcher`."""
    passed_over: tuple[str, ...]
    """Keys that have no counterpart."""


def is_katib(text: str) -> bool:
    return bool(_KIND.search(text) and _API.search(text))


def read_katib(text: str, *, filename: str = "experiment") -> KatibExperiment:
    """Raises InvalidConfig with file, line, key and remedy of all that is wrong."""
    source = read_source(text, filename=filename)
    reading = _Reading(source, list(source.problems))
    config = reading.config()
    if reading.problems:
        raise InvalidConfig(source.sentences(reading.problems))
    return KatibExperiment(config=config, passed_over=tuple(reading.passed_over))


@dataclass(slots=True)
class _Reading:
    source: Source
    problems: list[Problem]
    passed_over: list[str] = field(default_factory=list)

    def config(self) -> Json:
        spec = _map(self.source.config.get("spec"))
        self.passed_over = [f"spec.{key}" for key in _PASSED_OVER if key in spec]
        searcher = self._searcher(spec)
        name = _map(self.source.config.get("metadata")).get("name") or "katib"
        return {"name": name, "hyperparameters": self._parameters(spec, searcher), "searcher": searcher}

    def _searcher(self, spec: Json) -> Json:
        objective, algorithm = _map(spec.get("objective")), _map(spec.get("algorithm"))
        metric, direction = objective.get("objectiveMetricName"), objective.get("type")
        if not isinstance(metric, str):
            self._wrong(("spec", "objective", "objectiveMetricName"), "is missing; it names the metric to search by")
        if not isinstance(direction, str) or direction not in _DIRECTIONS:
            self._wrong(("spec", "objective", "type"), f"is {direction!r}; wanted minimize or maximize")
        if objective.get("additionalMetricNames"):
            self.passed_over.append("spec.objective.additionalMetricNames")
        searcher: Json = {"name": self._algorithm(algorithm.get("algorithmName")), "metric": metric}
        searcher["smaller_is_better"] = _DIRECTIONS.get(str(direction), True)
        if objective.get("goal") is not None:
            searcher["goal"] = objective["goal"]
        self._counts(spec, searcher)
        self._settings(algorithm, searcher)
        return searcher

    def _algorithm(self, name: object) -> str:
        if isinstance(name, str) and name in _ALGORITHMS:
            return _ALGORITHMS[name]
        self._wrong(("spec", "algorithm", "algorithmName"), f"is {name!r}; there are {', '.join(_ALGORITHMS)}")
        return "random"

    def _counts(self, spec: Json, searcher: Json) -> None:
        if searcher["name"] != "grid":
            if not isinstance(spec.get("maxTrialCount"), int):
                self._wrong(("spec", "maxTrialCount"), "is missing; say how many trials there may be")
            searcher["max_trials"] = spec.get("maxTrialCount")
        searcher["max_concurrent_trials"] = spec.get("parallelTrialCount") or 3
        if spec.get("maxFailedTrialCount") is not None:
            searcher["max_failed_trials"] = spec["maxFailedTrialCount"]

    def _settings(self, algorithm: Json, searcher: Json) -> None:
        rows = algorithm.get("algorithmSettings")
        given = {str(_map(row).get("name")): _map(row).get("value") for row in rows} if isinstance(rows, list) else {}
        if searcher["name"] != "adaptive_asha":
            self.passed_over += [f"spec.algorithm.algorithmSettings {name}" for name in given]
            return
        longest = _number(given.pop("r_l", None))
        if longest is None or longest < 1:
            path = ("spec", "algorithm", "algorithmSettings")
            self._wrong(path, "has no r_l; hyperband needs the length of a whole training")
        searcher["max_time"] = longest
        searcher["time_metric"] = given.pop("resource_name", None) or "batches"
        if (eta := _number(given.pop("eta", None))) is not None:
            searcher["divisor"] = eta
        self.passed_over += [f"spec.algorithm.algorithmSettings {name}" for name in given]

    def _parameters(self, spec: Json, searcher: Json) -> Json:
        rows = spec.get("parameters")
        if not isinstance(rows, list) or not rows:
            self._wrong(("spec", "parameters"), "is empty; a search needs something that varies")
            return {}
        found: Json = {}
        for index, row in enumerate(rows):
            parameter, path = _map(row), ("spec", "parameters", index)
            name, kind = (
                str(parameter.get("name") or f"parameter {index}").removeprefix("--"),
                parameter.get("parameterType"),
            )
            read = _READ.get(str(kind))
            if read is None:
                self._wrong((*path, "parameterType"), f"is {kind!r}; wanted {', '.join(_READ)}")
                continue
            try:
                found[name] = read(_map(parameter.get("feasibleSpace")))
            except ValueError as problem:
                self._wrong((*path, "feasibleSpace"), str(problem))
                continue
            if searcher["name"] == "grid" and _map(found[name]).get("type") in ("double", "log"):
                self._wrong((*path, "feasibleSpace"), "has no step, which a grid needs")
        return found

    def _wrong(self, path: tuple[str | int, ...], message: str) -> None:
        self.problems.append(Problem(path, message))


def _real(space: Json) -> Json:
    low, high, step = _bounds(space)
    if step is not None:
        return _choice([round(low + step * index, 12) for index in range(_count(low, high, step))])
    if str(space.get("distribution", "")).lower().startswith("log"):
        if low <= 0:
            raise ValueError(f"begins at {low:g}; a logarithmic space begins above 0")
        return {"type": "log", "base": 10, "minval": math.log10(low), "maxval": math.log10(high)}
    return {"type": "double", "minval": low, "maxval": high}


def _whole(space: Json) -> Json:
    low, high, step = _bounds(space)
    if step is not None and step != 1:
        return _choice([int(low + step * index) for index in range(_count(low, high, step))])
    return {"type": "int", "minval": int(low), "maxval": int(high)}


def _discrete(space: Json) -> Json:
    values = [_number(value) for value in _list(space)]
    if None in values:
        raise ValueError("holds what is no number; wanted a list of numbers")
    return _choice(list(values))


def _categorical(space: Json) -> Json:
    return _choice(_list(space))


_READ: dict[str, Callable[[Json], Json]] = {
    "double": _real,
    "int": _whole,
    "discrete": _discrete,
    "categorical": _categorical,
}


def _bounds(space: Json) -> tuple[Number, Number, Number | None]:
    low, high, step = (_number(space.get(key)) for key in ("min", "max", "step"))
    if low is None or high is None or low > high:
        raise ValueError(f"is from {space.get('min')!r} to {space.get('max')!r}; wanted min and max, in this order")
    if step is not None and step <= 0:
        raise ValueError(f"has the step {step:g}; wanted one above 0")
    return low, high, step


def _count(low: Number, high: Number, step: Number) -> int:
    count = int((high - low) / step + 1e-9) + 1
    if count > _MOST_VALUES:
        raise ValueError(f"has {count:,} values; at most {_MOST_VALUES:,} are tried one by one")
    return count


def _choice(values: list[object]) -> Json:
    return {"type": "categorical", "vals": values}


def _list(space: Json) -> list[object]:
    values = space.get("list")
    if not isinstance(values, list) or not values:
        raise ValueError("has no list of values")
    return values


def _number(value: object) -> Number | None:
    """Katib writes numbers as text."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    if not math.isfinite(number):
        return None
    return int(number) if number.is_integer() and "." not in str(value) else number


def _map(value: object) -> Json:
    return dict(value) if isinstance(value, Mapping) else {}
