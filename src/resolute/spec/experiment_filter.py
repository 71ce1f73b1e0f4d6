"""The filter of a table of experiments: a tree that tables send as JSON, and whether a row passes it. Pure.

A tree is made of `{"kind": "group", "conjunction": "and", "children": [...]}` and
`{"kind": "field", "columnName": "validation.loss.min", "operator": "<", "value": 0.1}`.
"""

import json
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from resolute.domain.errors import InvalidInput

MAX_DEPTH = 50
"""Of groups inside groups: tables make three, and each level is one call deep."""
ValueOf = Callable[[str], object]
"""What a row has in a column; None when nothing."""


@dataclass(frozen=True, slots=True)
class Condition:
    column: str
    operator: str
    value: object

    def holds(self, value_of: ValueOf) -> bool:
        return _compare(value_of(self.column), self.operator, self.value)

    @property
    def columns(self) -> Iterator[str]:
        yield self.column


@dataclass(frozen=True, slots=True)
class Group:
    """An empty one holds."""

    children: "tuple[Group | Condition, ...]" = ()
    is_any: bool = False
    """One child is enough; otherwise all must hold."""

    def holds(self, value_of: ValueOf) -> bool:
        if not self.children:
            return True
        return (any if self.is_any else all)(child.holds(value_of) for child in self.children)

    @property
    def columns(self) -> Iterator[str]:
        for child in self.children:
            yield from child.columns


@dataclass(frozen=True, slots=True)
class ExperimentFilter:
    condition: Group | Condition = Group()
    shows_archived: bool = True

    def keeps(self, value_of: ValueOf) -> bool:
        return (self.shows_archived or not value_of("archived")) and self.condition.holds(value_of)

    @property
    def columns(self) -> frozenset[str]:
        """What has to be known of a row."""
        return frozenset(self.condition.columns)


def parse_filter(text: str) -> ExperimentFilter:
    """Raises InvalidInput for what is no tree of groups and fields, or is nested beyond what a table can send."""
    if not text:
        return ExperimentFilter()
    try:
        tree: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"filter: not JSON: {error}.") from error
    if not isinstance(tree, dict):
        return ExperimentFilter(_node(tree, 0))
    return ExperimentFilter(_node(tree.get("filterGroup", tree), 0), bool(tree.get("showArchived", True)))


def _node(node: object, depth: int) -> Group | Condition:
    children = node.get("children") or [] if isinstance(node, dict) else None
    if not isinstance(node, dict) or not isinstance(children, list):
        raise InvalidInput(
            f"filter: {node!r:.80} is neither a group nor a field. Send {{kind, children}} or {{columnName}}."
        )
    column = node.get("columnName", "")
    if not isinstance(column, str):
        raise InvalidInput(f"filter: columnName {column!r:.80} is not text. Name a column.")
    if depth > MAX_DEPTH:
        raise InvalidInput(f"filter: groups are nested more than {MAX_DEPTH} deep. Flatten them.")
    if node.get("kind") == "group" or "children" in node:
        return Group(tuple(_node(child, depth + 1) for child in children), node.get("conjunction") == "or")
    return Condition(column, str(node.get("operator", "=")), node.get("value"))


_ORDERS: dict[str, Callable[[float | str, float | str], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _compare(actual: object, operator: str, wanted: object) -> bool:
    match operator:
        case "isEmpty":
            return actual in (None, "")
        case "notEmpty":
            return actual not in (None, "")
        case "contains":
            return str(wanted or "").lower() in str(actual or "").lower()
        case "notContains":
            return str(wanted or "").lower() not in str(actual or "").lower()
        case "=":
            return actual == wanted or str(actual) == str(wanted)
        case "!=":
            return actual != wanted and str(actual) != str(wanted)
    if wanted is None or wanted == "":
        return True
    left, right = _comparable(actual), _comparable(wanted)
    # Numbers are compared with numbers and words with words; a table of both has no other order.
    if operator not in _ORDERS or isinstance(left, float) != isinstance(right, float) or None in (left, right):
        return False
    assert left is not None
    assert right is not None
    return _ORDERS[operator](left, right)


def _comparable(value: object) -> float | str | None:
    if isinstance(value, int | float | str):
        try:
            return float(value)
        except (ValueError, OverflowError):
            return value if isinstance(value, str) else None
    return None
