"""The filter tree of experiment tables."""

import json
from typing import Any

import pytest

from resolute.domain.errors import InvalidInput
from resolute.spec.experiment_filter import MAX_DEPTH, parse_filter

ROW: dict[str, Any] = {
    "id": 7,
    "name": "Digits",
    "archived": False,
    "hp.lr": 0.1,
    "hp.space": {"type": "double"},
    "validation.loss.min": 0.25,
    "startTime": "2026-01-01T12:00:00+00:00",
    "description": "",
}


def field(column: str, operator: str, value: Any = None) -> dict[str, Any]:
    return {"kind": "field", "columnName": column, "operator": operator, "value": value}


def keeps(*children: dict[str, Any], conjunction: str = "and", **extra: Any) -> bool:
    tree = {"filterGroup": {"kind": "group", "conjunction": conjunction, "children": list(children)}, **extra}
    return parse_filter(json.dumps(tree)).keeps(ROW.get)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (field("id", "=", 7), True),
        (field("id", "=", "7"), True),
        (field("id", "!=", 7), False),
        (field("id", "!=", "8"), True),
        (field("name", "contains", "dig"), True),
        (field("name", "contains", None), True),
        (field("name", "notContains", "dig"), False),
        (field("missing", "notContains", "dig"), True),
        (field("description", "isEmpty"), True),
        (field("name", "isEmpty"), False),
        (field("name", "notEmpty"), True),
        (field("validation.loss.min", "<", 0.3), True),
        (field("validation.loss.min", ">", 0.25), False),
        (field("validation.loss.min", ">=", "0.25"), True),
        (field("validation.loss.min", ">=", "0.3"), False),
        (field("hp.lr", "<=", 0.1), True),
        (field("startTime", ">", "2026-01-01T00:00:00"), True),
        (field("startTime", "<", 5), False),
        (field("missing", "<", 1), False),
        (field("hp.space", "<", 1), False),
        (field("hp.space", "<", {"type": "log"}), False),
        (field("missing", "isEmpty"), True),
        (field("id", "<", None), True),
        (field("id", "<", 10**400), False),
        (field("id", "nonsense", 3), False),
    ],
)
def test_each_operator(condition: dict[str, Any], expected: bool) -> None:
    assert keeps(condition) is expected


def test_groups_join_by_and_or_or_and_nest() -> None:
    yes, no = field("id", "=", 7), field("id", "=", 8)
    nested = {"kind": "group", "conjunction": "or", "children": [no, yes]}

    assert keeps(yes, nested)
    assert not keeps(yes, no)
    assert keeps(yes, no, conjunction="or")
    assert not keeps(no, no, conjunction="or")


def test_an_empty_filter_keeps_everything() -> None:
    assert keeps()
    assert keeps(conjunction="or")
    assert parse_filter("").keeps(ROW.get)
    assert parse_filter("{}").columns == {""}


def test_archived_ones_can_be_hidden() -> None:
    hide = parse_filter(json.dumps({"showArchived": False, "filterGroup": {"kind": "group", "children": []}}))

    assert not hide.keeps({**ROW, "archived": True}.get)
    assert hide.keeps(ROW.get)


def test_it_tells_which_columns_it_looks_at() -> None:
    inner = {"kind": "group", "children": [field("b", "="), field("a", "<")]}

    assert parse_filter(json.dumps({"children": [inner, field("c", "isEmpty")]})).columns == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "filter: not JSON"),
        ("7", "filter: 7 is neither a group nor a field"),
        ('{"filterGroup": null}', "filter: None is neither a group nor a field"),
        ('{"children": [3]}', "filter: 3 is neither a group nor a field"),
        ('{"children": "x"}', "is neither a group nor a field. Send {kind, children} or {columnName}"),
        ('{"columnName": 5}', "filter: columnName 5 is not text. Name a column"),
    ],
)
def test_what_is_no_filter_is_refused_with_what_to_send(text: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        parse_filter(text)

    assert said in str(refusal.value)


def test_groups_nested_beyond_what_a_table_sends_are_refused() -> None:
    def nested(depth: int) -> str:
        return '{"children":[' * depth + "]}" * depth

    assert parse_filter(nested(MAX_DEPTH + 1)).keeps(ROW.get)
    with pytest.raises(InvalidInput, match=f"nested more than {MAX_DEPTH} deep"):
        parse_filter(nested(MAX_DEPTH + 2))
