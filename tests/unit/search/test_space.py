"""The space: drawing, the grid, conditions, and what is refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.domain.errors import InvalidConfig
from resolute.search.grid import Grid
from resolute.search.parameter import Parameter
from resolute.search.rng import Rng
from resolute.search.space import Space


def test_bare_values_and_explicit_constants_are_passed_on() -> None:
    space = Space({"a": 3, "b": {"type": "const", "val": [1, 2]}, "c": {"d": "x"}, "e": {}})

    drawn = space.nested(space.sample(Rng(1)))

    assert drawn == {"a": 3, "b": [1, 2], "c": {"d": "x"}, "e": {}}


@given(st.integers(-50, 50), st.integers(1, 20), st.integers(0, 2**64 - 1))
def test_both_ends_of_an_integer_range_can_be_drawn(low: int, width: int, seed: int) -> None:
    space = Space({"n": {"type": "int", "minval": low, "maxval": low + width}})
    rng = Rng(seed)

    drawn = {space.sample(rng)["n"] for _ in range(60 * width)}

    assert drawn <= set(range(low, low + width + 1))
    assert {low, low + width} <= drawn


@given(st.integers(0, 2**64 - 1))
def test_a_log_range_is_drawn_evenly_over_exponents(seed: int) -> None:
    space = Space({"rate": {"type": "log", "minval": -4, "maxval": 0, "base": 10}})
    rng = Rng(seed)

    drawn = [space.sample(rng)["rate"] for _ in range(400)]

    assert all(1e-4 <= rate <= 1.0 for rate in drawn)
    assert 0.35 < sum(rate < 1e-2 for rate in drawn) / 400 < 0.65


@pytest.mark.parametrize(
    ("leaf", "expected"),
    [
        ({"type": "int", "minval": 0, "maxval": 10, "count": 5}, [0, 3, 5, 8, 10]),
        ({"type": "int", "minval": 0, "maxval": 2, "count": 9}, [0, 1, 2]),
        ({"type": "int", "minval": 1, "maxval": 4, "count": 1}, [3]),
        ({"type": "int", "minval": -5, "maxval": 0, "count": 3}, [-5, -3, 0]),
        ({"type": "double", "minval": 0.0, "maxval": 1.0, "count": 3}, [0.0, 0.5, 1.0]),
        ({"type": "double", "minval": 1.0, "maxval": 2.0, "count": 1}, [1.5]),
        ({"type": "log", "minval": -3, "maxval": -1, "base": 10, "count": 3}, [0.001, 0.01, 0.1]),
        ({"type": "log", "minval": 0, "maxval": 4, "base": 2, "count": 1}, [4.0]),
        ({"type": "categorical", "vals": ["b", "a"]}, ["b", "a"]),
        (7, [7]),
    ],
)
def test_a_grid_axis_includes_both_ends(leaf: Any, expected: list[Any]) -> None:
    points = Space({"p": leaf}).grid()

    assert [point["p"] for point in points] == pytest.approx(expected) if leaf != 7 else [{"p": 7}]


def test_the_last_name_of_a_grid_changes_fastest() -> None:
    space = Space({"b": {"type": "categorical", "vals": [1, 2]}, "a": {"type": "categorical", "vals": ["x", "y"]}})

    points = [(point["a"], point["b"]) for point in space.grid()]

    assert points == [("x", 1), ("x", 2), ("y", 1), ("y", 2)]


def test_a_grid_leaves_out_what_a_condition_removes() -> None:
    space = Space(
        {
            "optimizer": {"type": "categorical", "vals": ["sgd", "adam"]},
            "momentum": {"type": "categorical", "vals": [0.8, 0.9], "when": {"optimizer": "sgd"}},
        }
    )

    points = space.grid()

    assert points == [
        {"optimizer": "sgd", "momentum": 0.8},
        {"optimizer": "adam"},
        {"optimizer": "sgd", "momentum": 0.9},
    ]


@pytest.mark.parametrize("has_condition", [True, False])
def test_a_lazy_grid_has_the_same_points(space: dict[str, Any], has_condition: bool) -> None:
    if not has_condition:
        space["momentum"].pop("when")
    parsed = Space(space)

    grid = Grid(parsed)

    assert [grid[number] for number in range(len(grid))] == parsed.grid()


def test_a_grid_of_many_millions_costs_nothing() -> None:
    axis = {"type": "int", "minval": 1, "maxval": 1000, "count": 1000}

    grid = Grid(Space({"a": axis, "b": axis, "c": axis}))

    assert len(grid) == 10**9
    assert grid[123_456_789] == {"a": 124, "b": 457, "c": 790}


def test_conditions_may_stand_on_conditions() -> None:
    space = Space(
        {
            "a": {"type": "categorical", "vals": [True, False], "when": {"z.kind": ["big"]}},
            "b": {"type": "double", "minval": 0, "maxval": 1, "when": {"a": [True]}},
            "z": {"kind": {"type": "categorical", "vals": ["big", "small"]}},
        }
    )
    rng = Rng(4)

    for _ in range(50):
        drawn = space.sample(rng)

        assert ("a" in drawn) == (drawn["z.kind"] == "big")
        assert ("b" in drawn) == (drawn.get("a") is True)


def test_true_is_not_one_in_a_condition() -> None:
    space = Space({"n": {"type": "const", "val": 1}, "m": {"type": "const", "val": 2, "when": {"n": [True]}}})

    assert space.sample(Rng(0)) == {"n": 1}


@pytest.mark.parametrize(
    ("leaf", "said"),
    [
        ({"type": "int", "minval": 3, "maxval": 3}, "minval 3 must be less than maxval 3"),
        ({"type": "double", "minval": 0}, "needs the numbers minval and maxval"),
        ({"type": "log", "minval": 0, "maxval": 1, "base": 0}, "base 0 must be greater than 0"),
        ({"type": "categorical", "vals": []}, "needs a list `vals` with at least one value"),
        ({"type": "categorical", "vals": ["a", "b", "a"]}, "'a' is listed more than once"),
        ({"type": "int", "minval": 0, "maxval": 9, "count": 0}, "count 0 must be a whole number"),
        ({"type": "int", "minval": 0, "maxval": 9, "when": "x"}, "when must map another hyperparameter"),
        ({"type": "int", "minval": 0, "maxval": 9, "when": {"gone": 1}}, "names 'gone', which is not a hyperparameter"),
    ],
)
def test_a_faulty_parameter_is_refused_with_its_place(leaf: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        Space({"net": {"p": leaf}})

    assert said in str(refused.value)
    assert "hyperparameters.net.p" in str(refused.value)


def test_one_and_true_are_different_choices() -> None:
    assert Space({"p": {"type": "categorical", "vals": [1, True, "1"]}}).free


def test_conditions_in_a_circle_are_refused() -> None:
    leaf = {"type": "categorical", "vals": [1, 2]}

    with pytest.raises(InvalidConfig, match="depend on each other; break the circle"):
        Space({"a": {**leaf, "when": {"b": 1}}, "b": {**leaf, "when": {"a": 1}}})


def test_every_fault_is_told_at_once() -> None:
    with pytest.raises(InvalidConfig) as refused:
        Space({"a": {"type": "int", "minval": 2, "maxval": 1}, "b": {"type": "categorical", "vals": [1, 1]}})

    assert len(refused.value.problems) == 2


@given(st.sampled_from(["int", "double", "log"]), st.floats(0, 1))
def test_the_unit_scale_goes_there_and_back(kind: str, unit: float) -> None:
    parameter = Parameter("p", kind, -3.0, 4.0, 2.0)

    value = parameter.from_unit(unit)

    assert parameter.from_unit(parameter.to_unit(value)) == pytest.approx(value)
    assert 0.0 <= parameter.to_unit(value) <= 1.0 + 1e-9


@pytest.mark.parametrize(
    ("kind", "value", "expected"), [("int", 9.7, 4), ("int", 2.6, 3), ("double", -9.0, -3.0), ("log", 99.0, 16.0)]
)
def test_a_perturbed_value_stays_in_its_range(kind: str, value: float, expected: float) -> None:
    assert Parameter("p", kind, -3.0, 4.0, 2.0).clamped(value) == expected


def test_a_trials_values_can_be_read_back_flat(space: dict[str, Any]) -> None:
    parsed = Space(space)
    drawn = parsed.sample(Rng(8))

    assert parsed.flat({**parsed.nested(drawn), "unknown": 1}) == drawn


def test_completing_keeps_what_is_given_and_drops_what_cannot_be(space: dict[str, Any]) -> None:
    parsed = Space(space)

    completed = parsed.complete({"optimizer": "adam", "momentum": 0.9, "layer.size": 5}, Rng(2))

    assert completed["layer.size"] == 5
    assert "momentum" not in completed
    assert "learning_rate" in completed
