"""The filter tree and the sort of experiment tables."""

import json
from typing import Any

import pytest

from resolute.domain.errors import InvalidInput
from resolute.server.routes.search import _filter, _sorted

ROW: dict[str, Any] = {
    "id": 7,
    "name": "Digits",
    "archived": False,
    "hp.lr": 0.1,
    "validation.loss.min": 0.25,
    "startTime": "2026-01-01T12:00:00+00:00",
    "description": "",
}


def field(column: str, operator: str, value: Any = None) -> dict[str, Any]:
    return {"kind": "field", "columnName": column, "operator": operator, "value": value}


def keeps(*children: dict[str, Any], conjunction: str = "and", **extra: Any) -> bool:
    tree = {"filterGroup": {"kind": "group", "conjunction": conjunction, "children": list(children)}, **extra}
    return bool(_filter(json.dumps(tree))(ROW))


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (field("id", "=", 7), True),
        (field("id", "=", "7"), True),
        (field("id", "!=", 7), False),
        (field("name", "contains", "dig"), True),
        (field("name", "notContains", "dig"), False),
        (field("description", "isEmpty"), True),
        (field("name", "notEmpty"), True),
        (field("validation.loss.min", "<", 0.3), True),
        (field("validation.loss.min", ">=", "0.3"), False),
        (field("hp.lr", "<=", 0.1), True),
        (field("startTime", ">", "2026-01-01T00:00:00"), True),
        (field("missing", "<", 1), False),
        (field("missing", "isEmpty"), True),
        (field("id", "<", None), True),
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
    assert keeps()


def test_archived_ones_can_be_hidden() -> None:
    hide = _filter(json.dumps({"showArchived": False, "filterGroup": {"children": []}}))

    assert hide({**ROW, "archived": True}) is False
    assert hide(ROW) is True


def test_what_is_not_json_is_a_sentence() -> None:
    with pytest.raises(InvalidInput, match="filter: not JSON"):
        _filter("{")


def test_rows_are_sorted_by_several_columns_and_those_without_a_value_stay_last() -> None:
    rows: Any = [
        (1, {"id": 1, "name": "b", "loss": 0.5}),
        (2, {"id": 2, "name": "a", "loss": 0.5}),
        (3, {"id": 3, "name": "c", "loss": None}),
        (4, {"id": 4, "name": "d", "loss": 0.1}),
    ]

    assert [row[0] for row in _sorted(rows, "loss=asc,name=asc")] == [4, 2, 1, 3]
    assert [row[0] for row in _sorted(rows, "loss=desc")] == [1, 2, 4, 3]
    assert [row[0] for row in _sorted(rows, "")] == [4, 3, 2, 1]
