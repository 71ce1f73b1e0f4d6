"""From domains, objectives and algorithms to a searcher's configuration."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.client.lifecycle.domain import points_of, space_of
from resolute.client.lifecycle.plan import Goal, Search
from resolute.lifecycle import (
    Algorithm,
    Categorical,
    Discrete,
    Double,
    Integer,
    InvalidModelProperty,
    ModelValidationException,
    UnsupportedAlgorithmException,
)
from resolute.spec.hyperparameters import Hyperparameters


def search(space: dict[str, Any], **changes: Any) -> Search:
    defaults: dict[str, Any] = {
        "space": space_of(space),
        "goal": Goal.of(["accuracy"], "maximize", None),
        "algorithm": Algorithm.RANDOM,
        "settings": {},
        "trials": 16,
        "parallel_trials": 2,
        "failed_trials": 4,
    }
    return Search(**{**defaults, **changes})


class TestDomains:
    @pytest.mark.parametrize(
        ("domain", "section", "points"),
        [
            (Double(0.1, 0.5), {"type": "double", "minval": 0.1, "maxval": 0.5}, None),
            (Double(1, 1), {"type": "const", "val": 1.0}, 1),
            (Integer(2, 5), {"type": "int", "minval": 2, "maxval": 5}, 4),
            (Integer(2, 2), {"type": "const", "val": 2}, 1),
            (Discrete(["1", "7"]), {"type": "categorical", "vals": ["1", "7"]}, 2),
            (Discrete([5]), {"type": "const", "val": 5}, 1),
            (Categorical(["sgd", "adam", "sgd"]), {"type": "categorical", "vals": ["sgd", "adam"]}, 2),
        ],
    )
    def test_each_becomes_a_hyperparameter(self, domain: Any, section: dict[str, Any], points: int | None) -> None:
        assert domain.as_hyperparameter() == section
        assert domain.points == points

    @pytest.mark.parametrize(
        "wrong",
        [
            lambda: Double(2, 1),
            lambda: Double("a", 1),  # type: ignore[arg-type]
            lambda: Double(0, float("inf")),
            lambda: Integer(1, 2.5),  # type: ignore[arg-type]
            lambda: Integer(3, 2),
            lambda: Discrete([]),
            lambda: Discrete("123"),
            lambda: Categorical([["a"]]),
            lambda: space_of({}),
        ],
    )
    def test_what_cannot_be_drawn_from_is_refused(self, wrong: Any) -> None:
        with pytest.raises(InvalidModelProperty):
            wrong()

    def test_a_plain_value_is_a_set_of_one(self) -> None:
        space = space_of({"--epochs": 5, "--lr": Double(0, 1)})

        assert space["--epochs"] == Discrete([5])
        assert points_of(space) is None
        assert points_of(space_of({"--epochs": 5, "--seed": Discrete([1, 2])})) == 2

    @given(
        st.dictionaries(
            st.sampled_from(["--a", "--b", "--c"]),
            st.one_of(
                st.integers(-5, 5).flatmap(lambda low: st.integers(low, 9).map(lambda high: Integer(low, high))),
                st.lists(st.text(max_size=3), min_size=1, max_size=4).map(Categorical),
            ),
            min_size=1,
        )
    )
    def test_the_master_counts_the_points_as_we_do(self, given_space: dict[str, Any]) -> None:
        sections = {name: domain.as_hyperparameter() for name, domain in given_space.items()}

        assert Hyperparameters.model_validate(sections).points == points_of(given_space)


class TestAlgorithms:
    @pytest.mark.parametrize(
        ("name", "searcher"),
        [
            ("random", "random"),
            ("Grid", "grid"),
            ("bayesianoptimization", "tpe"),
            ("tpe", "tpe"),
            ("hyperband", "adaptive_asha"),
            ("adaptive_asha", "adaptive_asha"),
        ],
    )
    def test_names_of_katib_lead_to_our_searchers(self, name: str, searcher: str) -> None:
        assert Algorithm.of(name).value == searcher
        assert Algorithm.of(Algorithm.of(name)).value == searcher

    def test_an_unknown_one_is_answered_with_those_there_are(self) -> None:
        with pytest.raises(
            UnsupportedAlgorithmException, match=r"'darts' is not supported\. Choose one of random, grid"
        ):
            Algorithm.of("darts")

    def test_settings_become_keys_of_the_searcher(self) -> None:
        section = Algorithm.TPE.searcher({"startup_trials": "5"}, trials=8, parallel_trials=2)

        assert section == {"name": "tpe", "max_concurrent_trials": 2, "startup_trials": 5, "max_trials": 8}

    @pytest.mark.parametrize("key", ["max_recordings", "r_l"])
    def test_one_that_ends_trials_early_counts_recordings(self, key: str) -> None:
        section = Algorithm.ASHA.searcher({key: "9", "resource_name": "--epochs"}, trials=8, parallel_trials=2)

        assert (section["time_metric"], section["max_time"]) == ("recording", 9)
        assert "resource_name" not in section

    @pytest.mark.parametrize("settings", [{}, {"max_recordings": 0}, {"r_l": "many"}])
    def test_one_that_ends_trials_early_must_know_their_length(self, settings: dict[str, Any]) -> None:
        with pytest.raises(InvalidModelProperty, match="max_recordings"):
            Algorithm.ASHA.searcher(settings, trials=8, parallel_trials=2)


class TestGoal:
    def test_one_objective_is_a_metric_with_its_direction_and_goal(self) -> None:
        assert Goal.of(["accuracy"], "maximize", 0.99).section() == {
            "metric": "accuracy",
            "smaller_is_better": False,
            "goal": 0.99,
        }

    def test_the_first_of_several_is_primary_and_has_the_goal(self) -> None:
        goal = Goal.of(["loss", "accuracy"], "minimize", 0.1)

        assert goal.primary == "loss"
        assert goal.section() == {
            "metric": ["loss", "accuracy"],
            "smaller_is_better": [True, True],
            "goal": [0.1, None],
        }

    @pytest.mark.parametrize(
        ("objectives", "kind", "value"),
        [("accuracy", "maximize", None), ([], "maximize", None), (["a"], "best", None), (["a"], "maximize", "0.9")],
    )
    def test_nonsense_is_refused(self, objectives: Any, kind: str, value: Any) -> None:
        with pytest.raises(InvalidModelProperty):
            Goal.of(objectives, kind, value)


class TestSeveralObjectives:
    @pytest.mark.parametrize(
        ("algorithm", "metric"),
        [
            (Algorithm.RANDOM, ["accuracy", "loss"]),
            (Algorithm.GRID, ["accuracy", "loss"]),
            (Algorithm.TPE, "accuracy"),
            (Algorithm.ASHA, "accuracy"),
        ],
    )
    def test_only_the_first_one_decides_what_is_tried(self, algorithm: Algorithm, metric: Any) -> None:
        goal = Goal.of(["accuracy", "loss"], "maximize", 0.9)
        wanted = search({"--lr": Double(0, 1)}, goal=goal, algorithm=algorithm, settings={"r_l": 3})

        assert wanted.searcher()["metric"] == metric


class TestFitting:
    def test_a_space_smaller_than_the_trials_is_tried_whole_with_a_warning(self) -> None:
        wanted = search({"--epochs": Discrete(["5"]), "--seed": Discrete(["1", "7"])}, trials=12)

        fitted, told = wanted.fitted()

        assert (fitted.trials, fitted.algorithm) == (2, Algorithm.GRID)
        assert "12 are asked for, but the hyperparameters have only 2" in told

    def test_a_space_without_end_stays_as_it_is(self) -> None:
        wanted = search({"--lr": Double(0, 1)})

        assert wanted.fitted() == (wanted, "")

    def test_a_space_of_exactly_the_trials_needs_no_warning(self) -> None:
        fitted, told = search({"--n": Integer(1, 4)}, trials=4).fitted()

        assert (fitted.algorithm, told) == (Algorithm.GRID, "")
        assert fitted.hyperparameters() == {"--n": {"type": "int", "minval": 1, "maxval": 4, "count": 4}}

    def test_ranges_of_a_grid_share_the_trials(self) -> None:
        wanted = search({"--lr": Double(0, 1), "--m": Double(0, 1), "--s": Discrete([1])}, algorithm=Algorithm.GRID)

        fitted, _ = wanted.fitted()

        assert fitted.trials == 16
        assert fitted.hyperparameters()["--lr"]["count"] == 4

    def test_a_grid_larger_than_the_trials_is_refused(self) -> None:
        with pytest.raises(ModelValidationException, match="the grid has 20 settings, but only 16"):
            search({"--n": Integer(1, 20)}, algorithm=Algorithm.GRID).fitted()
