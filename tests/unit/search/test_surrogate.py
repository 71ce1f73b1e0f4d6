"""What adaptive_tpe stands on: outlooks over several lengths, the surrogate, and candidates near the best."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.search import new_searcher, restore_searcher
from resolute.search.density import Density
from resolute.search.events import CreateTrial, SearchStarted, StopTrial, TrialClosed, Validated
from resolute.search.objective import WORST
from resolute.search.rng import Rng
from resolute.search.rung_forecast import forecast_from_rungs
from resolute.search.space import Space
from resolute.search.surrogate import Surrogate, improvement

SPACE = {
    "x": {"type": "double", "minval": 0, "maxval": 1},
    "n": {"type": "int", "minval": 1, "maxval": 4},
    "net": {"type": "categorical", "vals": ["a", "b", "c"]},
}
LOSSES = st.lists(st.floats(-1e6, 1e6) | st.just(WORST), min_size=1, max_size=12)


class TestOutlook:
    def test_with_one_length_the_order_is_that_of_the_losses(self) -> None:
        forecast = forecast_from_rungs({4: ([0, 1, 2, 3], [0.1, 0.2, 0.5, 0.9])})

        assert forecast.trials == [0, 1, 2, 3]
        assert list(forecast.means) == sorted(forecast.means)

    def test_a_short_training_is_judged_by_what_became_of_others_like_it(self) -> None:
        """Losses at 4 are ten times those at 64, so 5.0 after 4 promises 0.5."""
        short = [float(value) for value in range(1, 9)]
        levels = {
            4: (list(range(8)), short),
            64: ([0, 1, 2, 3, 5, 6, 7], [short[at] / 10 for at in (0, 1, 2, 3, 5, 6, 7)]),
        }

        forecast = forecast_from_rungs(levels)

        expected = dict(zip(forecast.trials, forecast.means, strict=True))
        assert expected[3] < expected[4] < expected[5]

    def test_the_longer_a_trial_was_trained_the_less_the_doubt(self) -> None:
        rng = Rng(1)
        short = [rng.unit() for _ in range(12)]
        long = [loss + 0.3 * rng.unit() for loss in short[:6]]

        forecast = forecast_from_rungs({4: (list(range(12)), short), 64: (list(range(6)), long)})

        assert forecast.doubts[-1] < forecast.doubts[0]

    def test_a_trial_that_diverged_does_not_flatten_the_others(self) -> None:
        forecast = forecast_from_rungs({4: ([0, 1, 2, 3, 4], [0.1, 0.2, 0.3, 0.4, WORST])})

        means = list(forecast.means)
        assert means == sorted(means)
        assert means[1] - means[0] > 0.1

    @given(low=LOSSES, high=LOSSES)
    def test_any_losses_give_finite_numbers(self, low: list[float], high: list[float]) -> None:
        high = high[: len(low)]

        forecast = forecast_from_rungs(
            {1: (list(range(len(low))), low), 4: (list(range(len(high))), high), 16: ([], [])}
        )

        assert np.isfinite(forecast.means).all()
        assert (forecast.doubts > 0).all()
        assert np.isfinite(forecast.doubts).all()


class TestSurrogate:
    def test_it_goes_through_what_it_was_told_and_doubts_what_is_far(self) -> None:
        surrogate = Surrogate(1, 0)
        points = np.array([[0.1], [0.2], [0.3]])

        surrogate.fit(points, np.array([-1.0, 0.0, 1.0]), np.full(3, 1e-6), np.random.default_rng(0), steps=0)

        means, deviations = surrogate.predict(np.array([[0.1], [0.3], [1.0]]))
        assert surrogate.believed[[0, 2]] == pytest.approx(means[:2])
        assert means[:2] == pytest.approx([-1.0, 1.0], abs=0.05)
        assert deviations[2] > 5 * deviations[0]

    def test_it_learns_which_parameter_matters(self) -> None:
        random = np.random.default_rng(3)
        points = random.random((40, 2))
        surrogate = Surrogate(2, 0)

        for _ in range(40):
            surrogate.fit(points, np.sin(6 * points[:, 0]), np.full(40, 0.01), random, steps=3)

        assert surrogate.weights[0] > surrogate.weights[1] + 1

    def test_choices_are_the_same_or_not(self) -> None:
        surrogate = Surrogate(0, 1)
        surrogate.fit(
            np.array([[0.0], [2.0]]), np.array([-1.0, 1.0]), np.full(2, 0.01), np.random.default_rng(0), steps=0
        )

        means, _ = surrogate.predict(np.array([[0.0], [1.0], [2.0]]))

        assert means[0] < means[1] < means[2]
        assert abs(means[1]) < 0.1

    @pytest.mark.parametrize("count", [1, 5, 31, 32, 33, 80])
    def test_it_is_a_gaussian_process_as_the_textbook_has_it(self, count: int) -> None:
        random = np.random.default_rng(count)
        points = np.column_stack((random.random((count, 2)), random.integers(0, 3, count)))
        means, doubts = random.normal(size=count), random.random(count)
        surrogate = Surrogate(2, 1)
        surrogate.fit(points, means, doubts, random, steps=3)
        covariance = surrogate.likeness(points, points) + np.diag(doubts * np.exp(surrogate.weights[-1]) + 1e-4)

        asked = points[:3] + 0.01
        found, _ = surrogate.predict(asked)
        left_out, _ = surrogate.left_out(means, doubts)

        inverse = np.linalg.inv(covariance)
        assert found == pytest.approx(surrogate.likeness(asked, points) @ inverse @ means)
        assert left_out == pytest.approx(means - inverse @ means / np.diag(inverse))

    def test_points_told_twice_do_not_break_it(self) -> None:
        surrogate = Surrogate(1, 0)

        surrogate.fit(np.full((5, 1), 0.5), np.zeros(5), np.zeros(5), np.random.default_rng(0), steps=2)

        assert np.isfinite(surrogate.predict(np.array([[0.5]]))[0]).all()

    def test_improvement_wants_low_means_and_wide_doubts(self) -> None:
        expected = improvement(np.array([0.0, -1.0, 0.0]), np.array([0.1, 0.1, 1.0]), -0.5)

        assert expected.argmax() == 1
        assert expected[2] > expected[0]


@given(seed=st.integers(0, 2**32))
def test_candidates_are_legal_rows_as_a_point_would_be_encoded(seed: int) -> None:
    space = Space(SPACE)
    density, random = Density(space), np.random.default_rng(seed)
    liked = np.array([density.encode(space.sample(Rng(seed + at))) for at in range(4)])

    rows = density.draws(liked, 30, random)

    for row in rows:
        assert density.encode(density.decode(row, Rng(0))) == pytest.approx(row.tolist(), abs=2e-6)


def section(**more: Any) -> dict[str, Any]:
    return {
        "name": "adaptive_tpe",
        "metric": "loss",
        "max_trials": 60,
        "max_time": 64,
        "max_concurrent_trials": 4,
        "startup_trials": 8,
    } | more


def run(
    config: dict[str, Any], loss: Callable[[dict[str, Any], int], float], seed: int = 1
) -> dict[str, tuple[Any, int]]:
    """Every trial reports at each power of two; returns hyperparameters and length reached."""
    searcher, waiting = new_searcher(config, SPACE, seed), []
    reached: dict[str, tuple[Any, int]] = {}

    def send(event: Any) -> list[Any]:
        actions = searcher.handle(event).actions
        waiting.extend(action for action in actions if isinstance(action, CreateTrial))
        return actions

    send(SearchStarted())
    while waiting:
        trial = waiting.pop(0)
        for time in (1, 2, 4, 8, 16, 32, 64):
            reached[trial.request_id] = trial.hparams, time
            actions = send(Validated(trial.request_id, float(time), {"loss": loss(trial.hparams, time)}))
            if any(isinstance(each, StopTrial) and each.request_id == trial.request_id for each in actions):
                break
        send(TrialClosed(trial.request_id))
    return reached


def bowl(hparams: dict[str, Any], time: int) -> float:
    return (hparams["x"] - 0.7) ** 2 + 0.1 * (hparams["net"] != "b") + 0.02 * hparams["n"] + 1.0 / time


def test_chosen_trials_are_nearer_to_the_best_than_the_first_random_ones() -> None:
    trials = list(run(section(), bowl).values())

    def typical(some: list[tuple[Any, int]]) -> float:
        return float(np.median([bowl(hparams, 64) for hparams, _ in some]))

    assert typical(trials[-20:]) < typical(trials[:8]) / 2


@pytest.mark.parametrize("max_trials", [1, 2, 5, 16, 60])
def test_somebody_always_trains_to_the_end(max_trials: int) -> None:
    trials = run(section(max_trials=max_trials), bowl)

    assert len(trials) == max_trials
    assert any(time == 64 for _, time in trials.values())


def test_most_trials_stop_early_even_when_every_newcomer_is_the_best_so_far() -> None:
    count = iter(range(10_000))

    trials = run(section(), lambda hparams, time: -float(next(count)))

    assert sum(time == 64 for _, time in trials.values()) <= 60 / 4


def test_a_space_that_is_used_up_is_drawn_from_again() -> None:
    small = {"net": {"type": "categorical", "vals": ["a", "b", "c"]}}
    searcher = new_searcher(section(max_trials=30), small, 2)
    waiting = [action for action in searcher.handle(SearchStarted()).actions if isinstance(action, CreateTrial)]
    created = len(waiting)

    while waiting:
        trial = waiting.pop(0)
        for event in (Validated(trial.request_id, 64.0, {"loss": 0.5}), TrialClosed(trial.request_id)):
            new = [action for action in searcher.handle(event).actions if isinstance(action, CreateTrial)]
            created += len(new)
            waiting += new

    assert created == 30


def test_a_snapshot_of_the_searcher_without_a_surrogate_is_still_read() -> None:
    """As written before the surrogate was there: its keys are missing, others are too many."""
    searcher = new_searcher(section(), SPACE, 3)
    searcher.handle(SearchStarted())
    snapshot = json.loads(json.dumps(searcher.snapshot()))
    for key in ("waiting_rows", "weights"):
        del snapshot["state"][key]
    snapshot["state"]["is_modelled"] = [False] * 4

    restored = restore_searcher(section(), SPACE, snapshot)

    assert restored.progress() == searcher.progress()
