"""The search space: what a user may write under `hyperparameters`. Sampling from it is `resolute.search`'s work.

A leaf is `{type: const|int|double|log|categorical, ...}`; anything else that is not a map is a constant, and a map
without `type` is a group of further parameters. `when` makes a parameter exist only while another one has a value:

    momentum: {type: double, minval: 0.8, maxval: 0.99, when: {optimizer: sgd}}

Resolved, every leaf is in its explicit form and `when` maps dotted names to lists of values.
"""

import json
import math
from collections.abc import Iterator
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    RootModel,
    SerializerFunctionWrapHandler,
    Tag,
    field_validator,
    model_serializer,
    model_validator,
)

from resolute.spec.section import OneOrMore, Positive, Section, Whole, fault

Path = tuple[str, ...]
TYPES = ("const", "int", "double", "log", "categorical")
_GROUP = "<group>"


class _Leaf(Section):
    type: str
    when: dict[str, Annotated[list[Any], OneOrMore]] | None = None

    @model_serializer(mode="wrap")
    def _leave_out_when(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # Only our own searchers know `when`: a space without it reads the same everywhere.
        fields: dict[str, Any] = handler(self)
        return {key: value for key, value in fields.items() if key != "when" or value is not None}

    @property
    def is_free(self) -> bool:
        return True

    @property
    def points(self) -> int | None:
        """How many different values there are; None when there is no end of them."""
        return None

    def admits(self, value: Any) -> bool:
        """Whether this parameter can ever have `value`."""
        return isinstance(value, int | float) and not isinstance(value, bool)


class Const(_Leaf):
    type: Literal["const"]
    val: Any

    @classmethod
    def prepared(cls, data: dict[str, Any]) -> dict[str, Any]:
        # Null is a value here, not a missing one.
        return {key: value for key, value in data.items() if value is not None or key == "val"}

    @property
    def is_free(self) -> bool:
        return False

    @property
    def points(self) -> int | None:
        return 1

    def admits(self, value: Any) -> bool:
        return _key(value) == _key(self.val)


class _Range(_Leaf):
    count: Positive | None = None

    @model_validator(mode="after")
    def _runs_upward(self) -> "_Range":
        low, high = getattr(self, "minval"), getattr(self, "maxval")  # noqa: B009 - declared by each kind
        if low >= high:
            raise fault(f"minval {low} must be less than maxval {high}; swap them, or write the value itself", "minval")
        return self


class Int(_Range):
    """Both ends can be drawn."""

    type: Literal["int"]
    minval: Whole
    maxval: Whole

    @property
    def points(self) -> int | None:
        size = self.maxval - self.minval + 1
        return size if self.count is None else min(self.count, size)

    def admits(self, value: Any) -> bool:
        return super().admits(value) and self.minval <= value <= self.maxval


class Double(_Range):
    type: Literal["double"]
    minval: float
    maxval: float

    @property
    def points(self) -> int | None:
        return self.count

    def admits(self, value: Any) -> bool:
        return super().admits(value) and self.minval <= value <= self.maxval


class Log(_Range):
    """`base` to the power of a number between minval and maxval."""

    type: Literal["log"]
    minval: float
    maxval: float
    base: float

    @property
    def points(self) -> int | None:
        return self.count

    @field_validator("base")
    @classmethod
    def _grows(cls, base: float) -> float:
        if base <= 0:
            raise fault(f"base {base:g} must be greater than 0; 10 makes minval and maxval powers of ten")
        return base

    @model_validator(mode="after")
    def _stays_finite(self) -> "Log":
        try:
            for exponent in (self.minval, self.maxval):
                math.pow(self.base, exponent)
                math.pow(self.base, -exponent)
        except OverflowError:
            raise fault(
                f"{self.base:g} to the power of {self.maxval:g} is too large; minval and maxval are exponents,"
                " so 1e-4 is written as -4 with base 10",
                "maxval",
            ) from None
        return self


class Categorical(_Leaf):
    type: Literal["categorical"]
    vals: list[Any]

    @field_validator("vals")
    @classmethod
    def _differ(cls, vals: list[Any]) -> list[Any]:
        if not vals:
            raise fault("vals is empty; give at least one value")
        seen: set[str] = set()
        for index, value in enumerate(vals):
            if _key(value) in seen:
                raise fault(f"{json.dumps(value)} is in vals twice; keep one", index)
            seen.add(_key(value))
        return vals

    @property
    def is_free(self) -> bool:
        return len(self.vals) > 1

    @property
    def points(self) -> int | None:
        return len(self.vals)

    def admits(self, value: Any) -> bool:
        return _key(value) in {_key(each) for each in self.vals}


def _kind(value: Any) -> str:
    if isinstance(value, RootModel):
        return _GROUP
    if isinstance(value, _Leaf):
        return value.type
    if not isinstance(value, dict):
        return "const"
    return str(value["type"]) if "type" in value else _GROUP


def _explicit(value: Any) -> Any:
    return value if isinstance(value, dict | _Leaf | RootModel) else {"type": "const", "val": value}


class Group(RootModel[dict[str, "Hyperparameter"]]):
    """A map of parameters, by name."""

    model_config = ConfigDict(defer_build=True)


Leaf: TypeAlias = Const | Int | Double | Log | Categorical
Hyperparameter = Annotated[
    Annotated[Const, Tag("const")]
    | Annotated[Int, Tag("int")]
    | Annotated[Double, Tag("double")]
    | Annotated[Log, Tag("log")]
    | Annotated[Categorical, Tag("categorical")]
    | Annotated[Group, Tag(_GROUP)],
    Discriminator(_kind),
    BeforeValidator(_explicit),
]


class Hyperparameters(Group):
    """The whole space. Names in `when` are dotted paths from here."""

    root: dict[str, Hyperparameter] = Field(default_factory=dict)

    def leaves(self) -> Iterator[tuple[Path, Leaf]]:
        """Every parameter with the path to it, in the order written."""
        return _leaves(self.root, ())

    def resolved(self) -> dict[str, Any]:
        resolved: dict[str, Any] = self.model_dump(mode="json")
        return resolved

    @property
    def points(self) -> int | None:
        """How many different trials the space holds at most; None when there is no end of them."""
        size = 1
        for _, leaf in self.leaves():
            if leaf.points is None:
                return None
            size *= leaf.points
        return size

    @property
    def is_free(self) -> bool:
        return any(leaf.is_free for _, leaf in self.leaves())

    @model_validator(mode="after")
    def _conditions_can_hold(self) -> "Hyperparameters":
        leaves = {".".join(path): leaf for path, leaf in self.leaves()}
        for name, leaf in leaves.items():
            for other, values in (leaf.when or {}).items():
                _check_condition(leaves, name, other, values)
        return self


def _leaves(group: dict[str, Any], prefix: Path) -> Iterator[tuple[Path, Leaf]]:
    for name, node in group.items():
        if isinstance(node, Group):
            yield from _leaves(node.root, (*prefix, name))
        else:
            yield (*prefix, name), node


def _check_condition(leaves: dict[str, Leaf], name: str, other: str, values: list[Any]) -> None:
    where = (*name.split("."), "when", other)
    if other not in leaves:
        raise fault(f"there is no hyperparameter {other}; name one of {', '.join(leaves)}", *where)
    if _leads_to(leaves, other, name):
        raise fault(f"{name} and {other} wait for each other; drop one of the two conditions", *where)
    never = [value for value in values if not leaves[other].admits(value)]
    if never or not values:
        shown = json.dumps(never[0]) if never else "no value"
        raise fault(f"{other} is never {shown}, so {name} would never exist; give a value {other} can have", *where)


def _leads_to(leaves: dict[str, Leaf], start: str, goal: str) -> bool:
    """Whether the conditions of `start` depend on `goal`, at any distance."""
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name == goal:
            return True
        if name in seen or name not in leaves:
            continue
        seen.add(name)
        waiting.extend(leaves[name].when or {})
    return False


def _key(value: Any) -> str:
    # As JSON, because 1 and true are equal to Python but are different choices.
    return json.dumps(value, sort_keys=True)
