"""Brackets, rungs and shares: numbers that must equal Determined's."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.domain.errors import InvalidConfig
from resolute.search.brackets import bracket_places, bracket_rungs, bracket_trials, plan_halving, rung_lengths


def asha(**more: Any) -> dict[str, Any]:
    return {"name": "adaptive_asha", "metric": "loss", "max_trials": 16, "max_length": {"batches": 256}} | more


@pytest.mark.parametrize(
    ("rungs", "divisor", "length", "expected"),
    [
        (1, 4, 1000, (1000,)),
        (3, 4, 1000, (62, 250, 1000)),
        (5, 4, 256, (1, 4, 16, 64, 256)),
        (4, 3, 900, (33, 100, 300, 900)),
        (5, 4, 16, (1, 1, 1, 4, 16)),
        (2, 2.5, 100, (40, 100)),
    ],
)
def test_rung_lengths_fall_by_the_divisor_and_never_below_one(
    rungs: int, divisor: float, length: int, expected: tuple[int, ...]
) -> None:
    assert rung_lengths(rungs, divisor, length) == expected


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("aggressive", [5]), ("standard", [5, 4, 3]), ("conservative", [5, 4, 3, 2, 1])],
)
def test_a_mode_says_which_brackets_there_are(mode: str, expected: list[int]) -> None:
    assert bracket_rungs(asha(mode=mode), 4, 256, 256) == expected


@pytest.mark.parametrize(
    ("length", "max_trials", "expected"),
    [(256, 16, [3, 2]), (16, 256, [3, 2]), (3, 256, [1]), (256, 3, [1]), (1000, 64, [4, 3, 2]), (5000, 6, [2, 1])],
)
def test_short_training_and_few_trials_leave_fewer_rungs(length: int, max_trials: int, expected: list[int]) -> None:
    assert bracket_rungs(asha(), 4, length, max_trials) == expected


def test_an_exact_power_of_the_divisor_is_not_lost_to_rounding() -> None:
    assert bracket_rungs(asha(mode="aggressive"), 10, 1000, 1000) == [4]


def test_given_brackets_are_used_most_rungs_first() -> None:
    assert bracket_rungs(asha(bracket_rungs=[1, 3, 2]), 4, 256, 256) == [3, 2, 1]


def test_six_trials_of_5000_batches_make_brackets_of_four_and_two() -> None:
    plans = plan_halving(asha(max_trials=6, max_length={"batches": 5000}))

    assert [(plan.lengths, plan.max_trials) for plan in plans] == [((1250, 5000), 4), ((5000,), 2)]


@pytest.mark.parametrize(
    ("max_trials", "divisor", "brackets", "expected"),
    [
        (6, 4, [2, 1], [4, 2]),
        (5, 3, [2, 1], [3, 2]),
        (16, 4, [3, 2], [12, 4]),
        (256, 4, [5, 4, 3], [182, 56, 18]),
        (100, 4, [4, 3, 2], [70, 22, 8]),
    ],
)
def test_brackets_share_the_trials(max_trials: int, divisor: float, brackets: list[int], expected: list[int]) -> None:
    assert bracket_trials(max_trials, divisor, brackets) == expected


@given(st.integers(1, 3000), st.floats(2, 10), st.lists(st.integers(1, 6), min_size=1, max_size=6, unique=True))
def test_the_shares_add_up_whatever_the_brackets(max_trials: int, divisor: float, brackets: list[int]) -> None:
    brackets = sorted(brackets, reverse=True)[:max_trials]

    trials = bracket_trials(max_trials, divisor, brackets)

    assert min(trials) >= 1
    assert sum(trials) == max_trials or sum(trials) == max(max_trials, sum(trials[1:]) + 1)


@pytest.mark.parametrize(
    ("concurrency", "trials", "expected"),
    [(16, [12, 4], [8, 8]), (16, [182, 56, 18], [6, 5, 5]), (2, [9, 3, 1], [1, 1, 0]), (0, [12, 3], [4, 4])],
)
def test_places_are_split_evenly_and_the_first_take_the_rest(
    concurrency: int, trials: list[int], expected: list[int]
) -> None:
    assert bracket_places(concurrency, 4, trials) == expected


def test_one_bracket_starts_as_many_as_let_one_trial_reach_the_top() -> None:
    config = asha(name="async_halving", num_rungs=3, max_trials=100, max_concurrent_trials=0)

    (plan,) = plan_halving(config)

    assert plan.places == 16
    assert plan.lengths == (16, 64, 256)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"divisor": 1}, "divisor is 1; it must be greater than 1"),
        ({"mode": "wild"}, "'wild'; use aggressive, standard or conservative"),
        ({"max_length": None}, "needs `max_time` with `time_metric`, or `max_length`"),
        ({"max_length": {"batches": 0}}, "of at least 1; it has 0"),
    ],
)
def test_a_plan_that_cannot_work_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        plan_halving(asha(**change))

    assert said in str(refused.value)


def test_max_time_counts_before_max_length() -> None:
    (first, *_) = plan_halving(asha(max_time=64, time_metric="epochs", mode="aggressive"))

    assert first.lengths[-1] == 64
