"""What the model-based searchers stand on: the density, the curves, rungs, objectives and patience."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.domain.errors import InvalidConfig
from resolute.search.density import Density
from resolute.search.improvements import ENOUGH, Improvements
from resolute.search.objective import WORST, Objective
from resolute.search.rng import Rng
from resolute.search.rung import Patience, Rung
from resolute.search.space import Space

NUMBERS = {
    "x": {"type": "double", "minval": 0, "maxval": 1},
    "rate": {"type": "log", "minval": -4, "maxval": 0, "base": 10},
    "n": {"type": "int", "minval": 1, "maxval": 8},
}
CHOICE = {"net": {"type": "categorical", "vals": ["a", "b", True, None]}}


def test_a_point_is_encoded_as_places_and_positions() -> None:
    density = Density(Space(NUMBERS | CHOICE))

    row = density.encode({"x": 0.25, "rate": 0.01, "n": 1, "net": "b"})

    assert density.width == 4
    assert sorted(row[:3]) == pytest.approx(sorted([1 / 16, 0.5, 0.25]))
    assert row[3] == 1.0


def test_values_outside_the_space_are_encoded_at_its_edge() -> None:
    density = Density(Space(NUMBERS | CHOICE))

    row = density.encode({"x": 7.0, "rate": 1e-9, "n": 99, "net": "unknown"})

    assert all(0.0 <= value <= 1.0 for value in row[:3])
    assert row[3] == -1.0


@given(st.integers(0, 2**64 - 1), st.integers(1, 30), st.integers(0, 60))
def test_every_proposal_is_a_legal_point(seed: int, good: int, rest: int) -> None:
    space = Space(NUMBERS | CHOICE)
    density, rng = Density(space), Rng(seed)
    rows = [density.encode(space.sample(rng)) for _ in range(good + rest)]

    point = density.propose(rows[:good], rows[good:], rng)

    assert 0.0 <= point["x"] <= 1.0
    assert 1e-4 <= point["rate"] <= 1.0
    assert point["n"] in range(1, 9)
    assert point["net"] in ("a", "b", True, None)


def test_proposals_lie_near_the_good_points_and_away_from_the_rest() -> None:
    space = Space({"x": NUMBERS["x"], "net": {"type": "categorical", "vals": ["a", "b"]}})
    density, rng = Density(space), Rng(3)
    good = [density.encode({"x": 0.8 + at / 100, "net": "b"}) for at in range(8)]
    rest = [density.encode({"x": at / 60, "net": "a"}) for at in range(40)]

    points = [density.propose(good, rest, rng) for _ in range(50)]

    assert sum(point["net"] == "b" for point in points) >= 45
    assert sum(point["x"] > 0.6 for point in points) >= 45


def test_the_same_dice_give_the_same_proposal() -> None:
    space = Space(NUMBERS)
    density = Density(space)
    rows = [density.encode(space.sample(Rng(at))) for at in range(12)]

    assert density.propose(rows[:3], rows[3:], Rng(5)) == density.propose(rows[:3], rows[3:], Rng(5))


def test_a_condition_holds_in_proposals_too(space: dict[str, Any]) -> None:
    parsed = Space(space)
    density, rng = Density(parsed), Rng(1)
    rows = [density.encode(parsed.sample(rng)) for _ in range(30)]

    points = [density.propose(rows[:6], rows[6:], rng) for _ in range(40)]

    assert {point["optimizer"] for point in points} == {"sgd", "adam"}
    assert all(("momentum" in point) == (point["optimizer"] == "sgd") for point in points)


def test_curves_tell_the_largest_gain_once_enough_have_come_that_far() -> None:
    curves = Improvements()
    for trial in range(ENOUGH):
        assert curves.largest_gain(4, 16) is None
        for time in (1, 4, 16):
            curves.add(trial, time, 10.0 - trial * math.log2(time))

    assert curves.largest_gain(4, 16) == pytest.approx((ENOUGH - 1) * 2.0)
    assert curves.largest_gain(4, 64) is None


def test_a_curve_keeps_few_values_of_a_long_training() -> None:
    curves = Improvements()

    for time in range(1, 10_001):
        curves.add(0, time, 1.0 / time)

    assert len(curves.snapshot()["times"][0]) < 30
    assert Improvements.of_snapshot(curves.snapshot()).snapshot() == curves.snapshot()


@pytest.mark.parametrize(("newest_first", "place"), [(True, 1), (False, 3)])
def test_ties_at_a_rung_go_as_asked(newest_first: bool, place: int) -> None:
    rung = Rung(4)
    for trial, loss in enumerate([0.5, 0.5, 0.1]):
        rung.insert(trial, (loss,), newest_first=newest_first)

    assert rung.insert(3, (0.5,), newest_first=newest_first) == place


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=20), st.booleans())
def test_a_rung_comes_back_from_its_snapshot(results: list[tuple[float, float]], is_single: bool) -> None:
    rung = Rung(4)
    for trial, losses in enumerate(results):
        rung.insert(trial, losses[:1] if is_single else losses, newest_first=True)
    rung.promoted.add(0)
    rung.remove(len(results))

    copy = Rung.of_snapshot(rung.snapshot())

    assert copy.snapshot() == rung.snapshot()
    assert sorted(copy.order) == list(range(len(results)))
    copy.remove(0)
    assert 0 not in copy.order
    assert 0 not in copy.promoted


@pytest.mark.parametrize(("results", "divisor", "quota"), [(1, 4, 1), (7, 4, 1), (8, 4, 2), (10, 2.5, 4)])
def test_a_rung_lets_one_in_divisor_go_on(results: int, divisor: float, quota: int) -> None:
    rung = Rung(1)
    for trial in range(results):
        rung.insert(trial, (float(trial),), newest_first=True)

    assert rung.quota(divisor) == quota


@pytest.mark.parametrize(
    ("value", "smaller", "loss"),
    [
        (2.0, True, 2.0),
        (2.0, False, -2.0),
        (math.nan, False, WORST),
        (None, True, WORST),
        (math.inf, True, WORST),
        (math.inf, False, -WORST),
    ],
)
def test_losses_are_finite_and_smaller_is_better(value: float | None, smaller: bool, loss: float) -> None:
    objective = Objective({"metric": "m", "smaller_is_better": smaller})

    assert objective.losses({} if value is None else {"m": value}) == (loss,)


def test_one_direction_serves_all_metrics() -> None:
    objective = Objective({"metric": ["a", "b"], "smaller_is_better": False})

    assert objective.losses({"a": 1.0, "b": 2.0}) == (-1.0, -2.0)
    assert not objective.is_single


@pytest.mark.parametrize(
    ("patience", "rung", "units", "spared"),
    [
        (None, 0, 1, False),
        (0, 0, 1, False),
        (2, 1, 9, True),
        (2, 2, 9, False),
        ({"rungs": 1}, 0, 1, True),
        ({"epochs": 10}, 3, 9, True),
        ({"epochs": 10}, 3, 10, False),
        ({"batches": None, "epochs": 5}, 0, 4, True),
    ],
)
def test_patience_spares_rungs_and_lengths(patience: Any, rung: int, units: float, spared: bool) -> None:
    assert Patience(patience).spares(rung, units) is spared


def test_patience_cannot_be_negative() -> None:
    with pytest.raises(InvalidConfig, match="cannot be negative"):
        Patience({"epochs": -3})
