"""The search space as users write it."""

from collections.abc import Callable
from typing import Any

import pytest

from resolute.spec.hyperparameters import Hyperparameters

Refusals = Callable[..., list[str]]
SINGLE = "searcher: {name: single, metric: x}\n"


def space(**parameters: Any) -> Hyperparameters:
    return Hyperparameters.model_validate(parameters)


@pytest.mark.parametrize("value", [3, 0.5, True, "adam", None, [1, 2], []])
def test_a_bare_value_is_a_constant(value: object) -> None:
    assert space(a=value).resolved() == {"a": {"type": "const", "val": value}}


def test_an_explicit_constant_may_hold_anything() -> None:
    constant = {"type": "const", "val": {"type": "int", "deep": [None]}}

    assert space(a=constant).resolved() == {"a": constant}


def test_a_map_without_type_is_a_group() -> None:
    resolved = space(optimizer={"name": "sgd", "lr": {"type": "double", "minval": 0, "maxval": 1}}).resolved()

    assert resolved["optimizer"]["name"] == {"type": "const", "val": "sgd"}
    assert resolved["optimizer"]["lr"] == {"type": "double", "minval": 0.0, "maxval": 1.0, "count": None}


def test_leaves_come_with_their_path_in_the_order_written() -> None:
    leaves = space(b=1, a={"y": 2, "x": {"z": 3}}).leaves()

    assert [path for path, _ in leaves] == [("b",), ("a", "y"), ("a", "x", "z")]


@pytest.mark.parametrize(
    ("parameters", "points"),
    [
        ({}, 1),
        ({"a": 1}, 1),
        ({"a": {"type": "int", "minval": 1, "maxval": 4}}, 4),
        ({"a": {"type": "int", "minval": 1, "maxval": 4, "count": 2}}, 2),
        ({"a": {"type": "int", "minval": 1, "maxval": 4, "count": 9}}, 4),
        ({"a": {"type": "double", "minval": 1, "maxval": 4, "count": 9}}, 9),
        ({"a": {"type": "double", "minval": 1, "maxval": 4}}, None),
        ({"a": {"type": "log", "minval": -5, "maxval": -1, "base": 10}}, None),
        ({"a": {"type": "categorical", "vals": [1, 2]}, "b": {"c": {"type": "categorical", "vals": [1, 2, 3]}}}, 6),
    ],
)
def test_a_space_knows_how_many_settings_it_holds(parameters: dict[str, Any], points: int | None) -> None:
    assert space(**parameters).points == points


@pytest.mark.parametrize(
    ("parameter", "is_free"),
    [
        (3, False),
        ({"type": "categorical", "vals": ["only"]}, False),
        ({"type": "categorical", "vals": ["a", "b"]}, True),
        ({"type": "int", "minval": 0, "maxval": 1}, True),
        ({"nested": {"type": "double", "minval": 0, "maxval": 1}}, True),
    ],
)
def test_a_parameter_is_free_when_it_can_differ_between_trials(parameter: object, is_free: bool) -> None:
    assert space(a=parameter).is_free is is_free


def test_one_and_true_are_different_choices() -> None:
    assert space(a={"type": "categorical", "vals": [1, True, "1"]}).points == 3


def test_a_condition_resolves_to_lists_of_values() -> None:
    resolved = space(
        optimizer={"type": "categorical", "vals": ["sgd", "adam"]},
        momentum={"type": "double", "minval": 0.8, "maxval": 0.99, "when": {"optimizer": "sgd"}},
    ).resolved()

    assert resolved["momentum"]["when"] == {"optimizer": ["sgd"]}
    assert "when" not in resolved["optimizer"]


def test_a_condition_may_name_a_nested_parameter_and_several_values() -> None:
    resolved = space(
        net={"depth": {"type": "int", "minval": 1, "maxval": 4}},
        skip={"type": "categorical", "vals": [True, False], "when": {"net.depth": [3, 4]}},
    ).resolved()

    assert resolved["skip"]["when"] == {"net.depth": [3, 4]}


def test_a_resolved_space_resolves_to_itself() -> None:
    resolved = space(
        a=None,
        b={"c": {"type": "log", "minval": -3, "maxval": 0, "base": 10, "count": 4}},
        d={"type": "const", "val": 1},
    ).resolved()

    assert Hyperparameters.model_validate(resolved).resolved() == resolved


@pytest.mark.parametrize(
    ("parameter", "key", "words"),
    [
        ("{type: int, minval: 5, maxval: 5}", "p.minval", "must be less than maxval"),
        ("{type: double, minval: 2, maxval: 1}", "p.minval", "must be less than maxval"),
        ("{type: int, minval: 1}", "p.maxval", "is missing"),
        ("{type: int, minval: 1.5, maxval: 3}", "p.minval", "1.5 is not a whole number"),
        ("{type: double, minval: low, maxval: 3}", "p.minval", '"low" is not a number'),
        ("{type: double, minval: true, maxval: 3}", "p.minval", "true is not a number"),
        ("{type: log, minval: -3, maxval: 0, base: 0}", "p.base", "greater than 0"),
        ("{type: log, minval: -3000, maxval: 0, base: 0.5}", "p.maxval", "too large"),
        ("{type: log, minval: -3, maxval: 0}", "p.base", "is missing"),
        ("{type: log, minval: 1, maxval: 1000, base: 10}", "p.maxval", "exponents"),
        ("{type: categorical, vals: []}", "p.vals", "is empty"),
        ("{type: categorical, vals: [a, b, a]}", "p.vals[2]", '"a" is in vals twice'),
        ("{type: categorical, vals: a}", "p.vals", "not a list"),
        ("{type: categorical}", "p.vals", "is missing"),
        ("{type: const}", "p.val", "is missing"),
        ("{type: uniform, minval: 0, maxval: 1}", "p.type", '"uniform" is not known'),
        ("{type: catagorical, vals: [1]}", "p.type", "did you mean categorical?"),
        ("{type: int, minval: 1, maxval: 3, count: 0}", "p.count", "at least 1"),
        ("{type: int, minval: 1, max_val: 3}", "p.max_val", "did you mean maxval?"),
        ("{type: const, val: 1, when: {q: 1}}", "p.when.q", "no hyperparameter q"),
        ("{type: const, val: 1, when: {p: 1}}", "p.when.p", "wait for each other"),
        ("{type: const, val: 1, when: {lr: 2}}", "p.when.lr", "lr is never 2"),
        ("{type: const, val: 1, when: {lr: []}}", "p.when.lr", "never no value"),
        ("{type: const, val: 1, when: lr}", "p.when", "not a map"),
    ],
)
def test_a_parameter_that_cannot_work_is_refused_at_its_key(
    parameter: str, key: str, words: str, refusals: Refusals
) -> None:
    problems = refusals(f"{SINGLE}hyperparameters:\n  lr: 1\n  p: {parameter}\n")

    fitting = [problem for problem in problems if problem.startswith(f"exp.yaml:4: hyperparameters.{key}: ")]
    assert any(words in problem for problem in fitting), problems


def test_conditions_in_a_circle_are_refused(refusals: Refusals) -> None:
    problems = refusals(
        SINGLE
        + "hyperparameters:\n"
        + "  a: {type: categorical, vals: [1, 2], when: {b: 1}}\n"
        + "  b: {type: categorical, vals: [1, 2], when: {a: 1}}\n"
    )

    assert "wait for each other" in problems[0]


def test_a_condition_on_a_range_must_lie_inside_it(refusals: Refusals) -> None:
    problems = refusals(
        SINGLE
        + "hyperparameters:\n"
        + "  depth: {type: int, minval: 1, maxval: 3}\n"
        + "  skip: {type: const, val: true, when: {depth: 4}}\n"
    )

    assert problems == [
        "exp.yaml:4: hyperparameters.skip.when.depth: depth is never 4, so skip would never exist;"
        " give a value depth can have"
    ]
