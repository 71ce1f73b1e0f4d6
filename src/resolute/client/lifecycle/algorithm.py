"""Search algorithms by the names that users of Katib know, and the searcher of ours that does the work."""

from collections.abc import Mapping
from enum import Enum
from typing import Any

from resolute.client.lifecycle.contract import RECORDING
from resolute.client.lifecycle.faults import InvalidModelProperty, UnsupportedAlgorithmException

Json = dict[str, Any]
_LENGTHS = ("max_recordings", "r_l")
"""Settings that say how long a whole trial is, in calls of `record_metrics`; the second is Katib's name."""


class Algorithm(Enum):
    """The value is the name of our searcher."""

    RANDOM = "random"
    GRID = "grid"
    TPE = "tpe"
    ASHA = "adaptive_asha"

    @classmethod
    def of(cls, name: "Algorithm | str") -> "Algorithm":
        if isinstance(name, cls):
            return name
        found = _NAMES.get(str(name).strip().lower().replace("_", "-"))
        if found is None:
            raise UnsupportedAlgorithmException(
                f"algorithm: {name!r} is not supported. Choose one of {', '.join(_NAMES)}."
            )
        return found

    @property
    def stops_trials(self) -> bool:
        """Whether weak trials are ended early, which needs a trainer that records metrics as it goes."""
        return self is Algorithm.ASHA

    @property
    def learns(self) -> bool:
        """Whether what is tried next, or ended, depends on what was measured."""
        return self in (Algorithm.TPE, Algorithm.ASHA)

    def searcher(self, settings: Mapping[str, Any], *, trials: int, parallel_trials: int) -> Json:
        """The searcher's section but for metric and goal. Settings go into it by our names of its keys."""
        rest = {key: _number(value) for key, value in settings.items() if key not in (*_LENGTHS, "resource_name")}
        searcher: Json = {"name": self.value, "max_concurrent_trials": parallel_trials, **rest}
        if self is not Algorithm.GRID:
            searcher["max_trials"] = trials
        if self.stops_trials:
            searcher |= {"time_metric": RECORDING, "max_time": _length(settings)}
        return searcher


def _length(settings: Mapping[str, Any]) -> int:
    given = next((settings[key] for key in _LENGTHS if key in settings), None)
    length = _number(given)
    if not isinstance(length, int) or length < 1:
        raise InvalidModelProperty(
            f"algorithm_setting: max_recordings is {given!r}; this algorithm ends weak trials early and must know how "
            "often a whole trial calls record_metrics, for example {'max_recordings': 5}."
        )
    return length


def _number(value: Any) -> Any:
    """Katib's settings are texts."""
    if not isinstance(value, str):
        return value
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


_NAMES = {
    "random": Algorithm.RANDOM,
    "grid": Algorithm.GRID,
    "tpe": Algorithm.TPE,
    "bayesianoptimization": Algorithm.TPE,
    "multivariate-tpe": Algorithm.TPE,
    "hyperband": Algorithm.ASHA,
    "asha": Algorithm.ASHA,
    "adaptive-asha": Algorithm.ASHA,
}
