"""A search that starts from earlier results takes those that are points of its space, and nothing else of them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.search import extend_searcher
from resolute.search.events import CreateTrial, SearchStarted
from resolute.search.registry import fitting_results
from resolute.search.rng import Rng
from resolute.search.searcher import EarlierResult
from resolute.search.space import Space

SPACE: dict[str, Any] = {
    "rate": {"type": "log", "minval": -4, "maxval": 0, "base": 10},
    "layers": {"type": "int", "minval": 2, "maxval": 8},
    "net": {"kind": {"type": "categorical", "vals": ["a", "b", True]}},
    "drop": {"type": "double", "minval": 0.0, "maxval": 0.5, "when": {"net.kind": "a"}},
    "epochs": 3,
}
SECTIONS: dict[str, dict[str, Any]] = {
    "random": {"max_trials": 5},
    "adaptive_asha": {"max_trials": 5, "max_time": 16},
    "tpe": {"max_trials": 5, "startup_trials": 1},
    "adaptive_tpe": {"max_trials": 5, "max_time": 16, "startup_trials": 1},
    "pbt": {"population_size": 5, "num_rounds": 2, "length_per_round": 4},
}
ODD = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-2, 2) | st.sampled_from(["a", "b", "c", ""])


def point(**changes: Any) -> dict[str, Any]:
    whole = {"rate": 0.01, "layers": 3, "net": {"kind": "b"}, "epochs": 50}
    return {**whole, **changes}


@pytest.mark.parametrize("name", SECTIONS)
@given(rows=st.lists(st.fixed_dictionaries({}, optional={"rate": ODD, "layers": ODD, "net": ODD, "new": ODD})))
def test_results_of_any_other_space_do_no_harm(name: str, rows: list[dict[str, Any]]) -> None:
    earlier = [EarlierResult(row, {"loss": 0.5}) for row in [*rows, point()]]

    search = extend_searcher({"name": name, "metric": "loss", **SECTIONS[name]}, SPACE, earlier=earlier)
    created = [action for action in search.handle(SearchStarted()).actions if isinstance(action, CreateTrial)]

    assert len(created) == 5
    for trial in created:
        assert 1e-4 <= trial.hparams["rate"] <= 1
        assert trial.hparams["layers"] in range(2, 9)
        assert trial.hparams["epochs"] == 3


def test_the_best_is_tried_again_with_the_constants_of_the_new_search() -> None:
    earlier = [EarlierResult(point(layers=layers), {"loss": layers / 10}) for layers in (5, 2, 7)]

    search = extend_searcher({"name": "random", "metric": "loss", "max_trials": 1}, SPACE, earlier=earlier)
    (trial,) = search.handle(SearchStarted()).actions[:1]

    assert isinstance(trial, CreateTrial)
    assert (trial.hparams["layers"], trial.hparams["rate"], trial.hparams["epochs"]) == (2, 0.01, 3)


@pytest.mark.parametrize(
    "outside",
    [
        {"rate": 2.0},
        {"rate": -0.1},
        {"rate": "fast"},
        {"layers": 9},
        {"layers": 2.5},
        {"layers": True},
        {"net": {"kind": "c"}},
        {"net": {"kind": 1}},
        {"drop": float("nan")},
    ],
    ids=str,
)
def test_a_value_that_could_not_be_drawn_makes_the_result_useless(outside: dict[str, Any]) -> None:
    assert fitting_results(SPACE, [EarlierResult(point(**outside), {"loss": 1.0})]) == []


def test_a_result_that_shares_no_free_parameter_is_useless() -> None:
    assert fitting_results(SPACE, [EarlierResult({"epochs": 3, "other": 1}, {"loss": 1.0})]) == []


@given(seed=st.integers(0, 2**32))
def test_everything_that_a_space_draws_is_a_point_of_it(seed: int) -> None:
    space = Space(SPACE)
    drawn = space.sample(Rng(seed))

    found = space.point_of(space.nested(drawn))

    assert found == {name: value for name, value in drawn.items() if name != "epochs"}


def test_strangers_are_what_the_space_does_not_know() -> None:
    hparams = {"rate": 0.1, "net": {"kind": "a", "size": {"deep": 1}}, "extra": [1]}

    assert Space(SPACE).strangers(hparams) == {"net": {"size": {"deep": 1}}, "extra": [1]}
    assert Space(SPACE).strangers({"net": 5}) == {"net": 5}
