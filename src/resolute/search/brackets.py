"""How a halving search is laid out: brackets, rungs and their lengths, trials and places per bracket. Numbers only.

The rules are Determined's, so that the same configuration gives the same search.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from resolute.domain.errors import InvalidConfig
from resolute.search.base import DEFAULT_CONCURRENCY

DEFAULT_DIVISOR = 4
DEFAULT_MAX_RUNGS = 5


@dataclass(frozen=True, slots=True)
class BracketPlan:
    lengths: tuple[int, ...]
    """Training units of each rung, lowest first."""
    max_trials: int
    places: int
    """Trials it may have in training at first."""


def plan_halving(searcher: Mapping[str, Any]) -> list[BracketPlan]:
    """Of `async_halving` or `adaptive_asha`, from its resolved section."""
    divisor = divisor_of(searcher)
    length, max_trials = training_length(searcher), int(searcher["max_trials"])
    concurrency = int(searcher.get("max_concurrent_trials", DEFAULT_CONCURRENCY))
    if searcher["name"] == "async_halving":
        rungs = int(searcher.get("num_rungs", DEFAULT_MAX_RUNGS))
        wanted = concurrency or max(int(divisor ** (rungs - 1)), 1)
        return [BracketPlan(rung_lengths(rungs, divisor, length), max_trials, min(wanted, max_trials))]
    brackets = bracket_rungs(searcher, divisor, length, max_trials)[:max_trials]
    trials = bracket_trials(max_trials, divisor, brackets)
    places = bracket_places(concurrency, divisor, trials)
    return [
        BracketPlan(rung_lengths(rungs, divisor, length), share, min(seats, share))
        for rungs, share, seats in zip(brackets, trials, places, strict=True)
    ]


def rung_lengths(rungs: int, divisor: float, length: int) -> tuple[int, ...]:
    return tuple(max(int(length / divisor ** (rungs - 1 - at)), 1) for at in range(rungs))


def bracket_rungs(searcher: Mapping[str, Any], divisor: float, length: int, max_trials: int) -> list[int]:
    """Number of rungs of each bracket, most first."""
    given = searcher.get("bracket_rungs") or []
    if given:
        return sorted((int(rungs) for rungs in given), reverse=True)
    most = int(searcher.get("max_rungs", DEFAULT_MAX_RUNGS))
    most = min(most, _floor_log(length, divisor) + 1, _floor_log(max_trials, divisor) + 1)
    mode = searcher.get("mode", "standard")
    first = {"aggressive": most, "standard": (most - 1) // 2 + 1, "conservative": 1}.get(mode)
    if first is None:
        raise InvalidConfig([f"searcher.mode is {mode!r}; use aggressive, standard or conservative."])
    return list(range(most, first - 1, -1))


def bracket_trials(max_trials: int, divisor: float, brackets: Sequence[int]) -> list[int]:
    """Shares that give every bracket about the same training budget; what is left over goes to the first."""
    weights = [divisor ** (rungs - 1) / rungs for rungs in brackets]
    trials = [max(int(weight / sum(weights) * max_trials), 1) for weight in weights]
    trials[0] += max(max_trials - sum(trials), 0)
    # With brackets of the user's own choosing, the ones that every bracket gets may add up to too many.
    trials[0] -= min(max(sum(trials) - max_trials, 0), trials[0] - 1)
    return trials


def bracket_places(concurrency: int, divisor: float, trials: Sequence[int]) -> list[int]:
    """Evenly, the first ones taking what is left over; 0 asks for the default."""
    if concurrency == 0:
        return [max(trials[-1], int(divisor))] * len(trials)
    each, rest = divmod(concurrency, len(trials))
    return [each + (1 if at < rest else 0) for at in range(len(trials))]


def training_length(searcher: Mapping[str, Any]) -> int:
    """`max_time`, or the number in `max_length`, in the searcher's own unit."""
    length = searcher.get("max_time")
    if length is None:
        length = searcher.get("max_length")
    if isinstance(length, Mapping):
        length = next(iter(length.values()), None)
    if isinstance(length, bool) or not isinstance(length, int | float) or length < 1:
        name = searcher.get("name")
        raise InvalidConfig(
            [f"searcher {name} needs `max_time` with `time_metric`, or `max_length`, of at least 1; it has {length!r}."]
        )
    return int(length)


def divisor_of(searcher: Mapping[str, Any]) -> float:
    divisor = float(searcher.get("divisor", DEFAULT_DIVISOR))
    if divisor <= 1:
        raise InvalidConfig(
            [f"searcher.divisor is {divisor:g}; it must be greater than 1: one in `divisor` trials goes on."]
        )
    return divisor


def _floor_log(value: float, base: float) -> int:
    """Exact where a quotient of logarithms would round 2.9999999999999996 down."""
    power, exponent = base, 0
    while power <= value:
        power *= base
        exponent += 1
    return exponent
