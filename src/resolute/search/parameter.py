"""One hyperparameter: its kind and range, drawing a value, its grid axis, and its place on a unit scale.

Pure values. Bounds are inclusive for integers; a log parameter's bounds are exponents of its base.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from resolute.search.rng import Rng

KINDS = frozenset({"const", "int", "double", "log", "categorical"})


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    """Dotted."""
    kind: str
    minval: float = 0.0
    maxval: float = 0.0
    base: float = 10.0
    count: int | None = None
    vals: tuple[Any, ...] = ()
    """The choices of a categorical; the one value of a const."""
    when: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def is_free(self) -> bool:
        if self.kind == "log" and self.base == 1:
            return False  # every power of one is one
        return self.kind != "const" and not (self.kind == "categorical" and len(self.vals) == 1)

    def exists_in(self, assignment: Mapping[str, Any]) -> bool:
        for parent, wanted in self.when.items():
            if parent not in assignment or not any(_is_same(assignment[parent], one) for one in wanted):
                return False
        return True

    def sample(self, rng: Rng) -> Any:
        if self.kind == "const":
            return self.vals[0]
        if self.kind == "categorical":
            return self.vals[rng.below(len(self.vals))]
        if self.kind == "int":
            return int(self.minval) + rng.below(int(self.maxval) - int(self.minval) + 1)
        drawn = rng.uniform(self.minval, self.maxval)
        return self.base**drawn if self.kind == "log" else drawn

    def allows(self, value: Any) -> bool:
        """Whether `value` could have been drawn here."""
        if self.kind in ("const", "categorical"):
            return any(_is_same(value, one) for one in self.vals)
        if not _is_number(value) or (self.kind == "int" and value != int(value)):
            return False
        if self.kind == "log":
            low, high = self._log_ends
            slack = 1e-9 * high
            return bool(low - slack <= value <= high + slack)
        return bool(self.minval <= value <= self.maxval)

    @property
    def axis_length(self) -> int:
        """Of `axis`, without making it."""
        if self.kind in ("const", "categorical"):
            return len(self.vals)
        wanted = 1 if self.count is None else self.count
        return min(wanted, int(self.maxval - self.minval) + 1) if self.kind == "int" else wanted

    def axis(self) -> list[Any]:
        """Values a grid walks, ends included; one point lies in the middle."""
        if self.kind in ("const", "categorical"):
            return list(self.vals)
        wanted = self.axis_length
        span = self.maxval - self.minval
        points = [self.minval + span * at / (wanted - 1) for at in range(wanted)] if wanted > 1 else []
        return [self._from_scale(point) for point in points or [(self.minval + self.maxval) / 2]]

    def to_unit(self, value: Any) -> float:
        """Numbers only: where `value` lies in its range, 0 to 1, on the log scale for log parameters."""
        scaled = math.log(value, self.base) if self.kind == "log" else float(value)
        if self.kind == "int":
            return (scaled - self.minval + 0.5) / (self.maxval - self.minval + 1)
        return (scaled - self.minval) / (self.maxval - self.minval)

    def from_unit(self, unit: float) -> Any:
        """The nearest legal value; clamps to the range."""
        unit = min(max(unit, 0.0), 1.0)
        if self.kind == "int":
            return min(int(self.minval + math.floor(unit * (self.maxval - self.minval + 1))), int(self.maxval))
        return self._from_scale(self.minval + unit * (self.maxval - self.minval))

    def clamped(self, value: float) -> Any:
        """Numbers only: the nearest legal value."""
        if self.kind == "log":
            low, high = self._log_ends
            return min(max(value, low), high)
        nearest = min(max(value, self.minval), self.maxval)
        return self._from_scale(nearest)

    @property
    def _log_ends(self) -> tuple[float, float]:
        """Powers of a base below one fall as their exponents rise."""
        ends = self.base**self.minval, self.base**self.maxval
        return min(ends), max(ends)

    def _from_scale(self, point: float) -> Any:
        if self.kind == "int":
            return int(math.copysign(math.floor(abs(point) + 0.5), point))  # halves away from zero, as Determined does
        return self.base**point if self.kind == "log" else point


def is_leaf(value: Any) -> bool:
    """A nested map is a map without a known `type`; everything else is one parameter."""
    return not isinstance(value, Mapping) or not value or value.get("type") in KINDS


def parse_parameter(name: str, leaf: Any, problems: list[str]) -> Parameter:
    """Faults go to `problems`; the parameter returned with them must not be used."""
    if not isinstance(leaf, Mapping) or not leaf:
        return Parameter(name, "const", vals=(leaf,))
    place = f"hyperparameters.{name}"
    when = _parse_when(place, leaf.get("when"), problems)
    kind = leaf["type"]
    if kind == "const":
        return Parameter(name, kind, vals=(leaf.get("val"),), when=when)
    if kind == "categorical":
        return Parameter(name, kind, vals=_parse_vals(place, leaf.get("vals"), problems), when=when)
    return _parse_range(name, leaf, when, problems)


def _parse_range(name: str, leaf: Mapping[str, Any], when: Any, problems: list[str]) -> Parameter:
    place = f"hyperparameters.{name}"
    minval: Any = leaf.get("minval")
    maxval: Any = leaf.get("maxval")
    if not _is_number(minval) or not _is_number(maxval):
        problems.append(f"{place} needs the numbers minval and maxval; it has {minval!r} and {maxval!r}.")
        return Parameter(name, "const", vals=(None,))
    if minval >= maxval:
        problems.append(f"{place}: minval {minval} must be less than maxval {maxval}.")
    base = leaf.get("base", 10.0)
    if leaf["type"] == "log" and (not _is_number(base) or base <= 0):
        problems.append(f"{place}: base {base!r} must be greater than 0, for example 10.")
    count = leaf.get("count")
    if count is not None and (not isinstance(count, int) or count < 1):
        problems.append(f"{place}: count {count!r} must be a whole number of at least 1.")
    if problems:
        return Parameter(name, "const", vals=(None,))
    return Parameter(name, leaf["type"], float(minval), float(maxval), float(base), count, when=when)


def _parse_vals(place: str, vals: Any, problems: list[str]) -> tuple[Any, ...]:
    if not isinstance(vals, list | tuple) or not vals:
        problems.append(f"{place}: a categorical needs a list `vals` with at least one value; it has {vals!r}.")
        return (None,)
    seen = [(type(value).__name__, repr(value)) for value in vals]
    twice = sorted({text for kind, text in seen if seen.count((kind, text)) > 1})
    if twice:
        problems.append(f"{place}: {', '.join(twice)} is listed more than once in `vals`; list each value once.")
    return tuple(vals)


def _parse_when(place: str, when: Any, problems: list[str]) -> dict[str, tuple[Any, ...]]:
    if when is None:
        return {}
    if not isinstance(when, Mapping):
        problems.append(f"{place}.when must map another hyperparameter to a value or a list of values, not {when!r}.")
        return {}
    return {str(key): tuple(value) if isinstance(value, list) else (value,) for key, value in when.items()}


def _is_same(one: Any, other: Any) -> bool:
    """As JSON has it: true is not 1."""
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
