"""What a hyperparameter may be in `tune`: a range or a set of values, and its form in an experiment's configuration."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from resolute.client.lifecycle.faults import InvalidModelProperty

Json = dict[str, Any]


class Domain:
    """Values that one hyperparameter may have."""

    @property
    def points(self) -> int | None:
        """How many different values there are; None when there is no end of them."""
        raise NotImplementedError

    def as_hyperparameter(self) -> Json:
        """As the configuration spells it."""
        raise NotImplementedError


@dataclass(frozen=True)
class Double(Domain):
    """Any number from `min` to `max`."""

    min: float
    max: float

    def __post_init__(self) -> None:
        for end in (self.min, self.max):
            if isinstance(end, bool) or not isinstance(end, int | float) or not math.isfinite(end):
                raise InvalidModelProperty(f"Double({self.min!r}, {self.max!r}): both ends must be finite numbers.")
        _check_order(self, self.min, self.max)

    @property
    def points(self) -> int | None:
        return 1 if self.min == self.max else None

    def as_hyperparameter(self) -> Json:
        if self.min == self.max:
            return _constant(float(self.min))
        return {"type": "double", "minval": float(self.min), "maxval": float(self.max)}


@dataclass(frozen=True)
class Integer(Domain):
    """Any whole number from `min` to `max`, both included."""

    min: int
    max: int

    def __post_init__(self) -> None:
        for end in (self.min, self.max):
            if isinstance(end, bool) or not isinstance(end, int):
                raise InvalidModelProperty(
                    f"Integer({self.min!r}, {self.max!r}): both ends must be whole numbers. Use Double for others."
                )
        _check_order(self, self.min, self.max)

    @property
    def points(self) -> int | None:
        return self.max - self.min + 1

    def as_hyperparameter(self) -> Json:
        if self.min == self.max:
            return _constant(self.min)
        return {"type": "int", "minval": self.min, "maxval": self.max}


class _Choice(Domain):
    """One of the values listed."""

    def __init__(self, values: Sequence[Any]) -> None:
        kind = type(self).__name__
        if isinstance(values, str | bytes) or not isinstance(values, Sequence) or not values:
            raise InvalidModelProperty(f"{kind}({values!r}): give a list of at least one value.")
        # As JSON, because 1 and True are equal to Python but are different choices.
        different = {json.dumps(value, sort_keys=True, default=str): value for value in values}
        if any(isinstance(value, dict | list) for value in values):
            raise InvalidModelProperty(f"{kind}({values!r}): values must be text, numbers or booleans.")
        self.values = tuple(different.values())

    @property
    def points(self) -> int | None:
        return len(self.values)

    def as_hyperparameter(self) -> Json:
        if len(self.values) == 1:
            return _constant(self.values[0])
        return {"type": "categorical", "vals": list(self.values)}

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, _Choice) and self.values == other.values

    def __hash__(self) -> int:
        return hash((type(self), self.values))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self.values)!r})"


class Discrete(_Choice):
    """Numbers, or texts that are passed on as they are."""


class Categorical(_Choice):
    """Names."""


def space_of(hyperparameters: Mapping[str, Any]) -> dict[str, Domain]:
    """Every value as a domain; a plain value is a set of one. Refuses an empty space."""
    if not hyperparameters:
        raise InvalidModelProperty("hyperparameters: empty. Give at least one, for example {'--lr': Double(0.1, 1)}.")
    return {name: given if isinstance(given, Domain) else Discrete([given]) for name, given in hyperparameters.items()}


def points_of(space: Mapping[str, Domain]) -> int | None:
    """How many different settings there are; None when there is no end of them."""
    size = 1
    for domain in space.values():
        if domain.points is None:
            return None
        size *= domain.points
    return size


def _constant(value: Any) -> Json:
    return {"type": "const", "val": value}


def _check_order(domain: Double | Integer, low: float, high: float) -> None:
    if low > high:
        raise InvalidModelProperty(f"{domain!r}: min must not be greater than max; swap them.")
