"""single, random and grid: how many, in which order, and what follows an exit."""

from typing import Any

import pytest

from resolute.domain.errors import InvalidConfig, NotSupported
from resolute.search import extend_searcher, new_searcher
from resolute.search.events import (
    CreateTrial,
    ExitReason,
    Outcome,
    SearchStarted,
    Shutdown,
    StopTrial,
    TrialClosed,
    TrialExitedEarly,
    TrialProgressed,
    Validated,
)

RATE = {"rate": {"type": "double", "minval": 0, "maxval": 1}}
GRID = {"a": {"type": "categorical", "vals": ["x", "y"]}, "b": {"type": "int", "minval": 1, "maxval": 3, "count": 3}}


def section(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "metric": "loss"} | more


def created(outcome: Outcome) -> list[CreateTrial]:
    return [action for action in outcome.actions if isinstance(action, CreateTrial)]


def test_single_makes_one_trial_and_ends_with_it() -> None:
    searcher = new_searcher(section("single"), {"rate": 0.1}, 3)

    (trial,) = created(searcher.handle(SearchStarted()))

    assert trial.hparams == {"rate": 0.1}
    assert searcher.handle(TrialClosed(trial.request_id)).actions == [Shutdown()]


def test_single_with_invalid_hyperparameters_fails() -> None:
    searcher = new_searcher(section("single"), RATE, 3)
    (trial,) = created(searcher.handle(SearchStarted()))

    outcome = searcher.handle(TrialExitedEarly(trial.request_id, ExitReason.INVALID_HP))

    assert outcome.actions == [Shutdown(failed=True, reason="Every trial failed.")]


def test_a_cancelled_only_trial_cancels_the_search() -> None:
    searcher = new_searcher(section("single"), RATE, 3)
    (trial,) = created(searcher.handle(SearchStarted()))

    outcome = searcher.handle(TrialExitedEarly(trial.request_id, ExitReason.USER_CANCELED))

    assert outcome.actions == [Shutdown(cancelled=True, reason="Every trial was cancelled.")]


@pytest.mark.parametrize(("concurrency", "expected"), [(0, 7), (3, 3), (99, 7)])
def test_random_begins_with_as_many_as_may_run(concurrency: int, expected: int) -> None:
    searcher = new_searcher(section("random", max_trials=7, max_concurrent_trials=concurrency), RATE, 3)

    assert len(created(searcher.handle(SearchStarted()))) == expected


def test_random_makes_one_new_trial_for_each_exit() -> None:
    searcher = new_searcher(section("random", max_trials=4, max_concurrent_trials=2), RATE, 3)
    first, second = created(searcher.handle(SearchStarted()))

    third = searcher.handle(TrialExitedEarly(first.request_id, ExitReason.ERRORED))
    fourth = searcher.handle(TrialClosed(second.request_id))
    none = searcher.handle(TrialClosed(created(third)[0].request_id))

    assert [len(created(outcome)) for outcome in (third, fourth, none)] == [1, 1, 0]


def test_an_invalid_random_trial_does_not_count() -> None:
    searcher = new_searcher(section("random", max_trials=1), RATE, 3)
    (trial,) = created(searcher.handle(SearchStarted()))

    outcome = searcher.handle(TrialExitedEarly(trial.request_id, ExitReason.INVALID_HP))

    assert len(created(outcome)) == 1


def test_random_progress_is_the_share_of_the_work() -> None:
    searcher = new_searcher(section("random", max_trials=4, max_concurrent_trials=2), RATE, 3)
    first, second = created(searcher.handle(SearchStarted()))

    searcher.handle(TrialProgressed(first.request_id, 0.5))
    searcher.handle(TrialClosed(second.request_id))

    assert searcher.progress() == pytest.approx(1.5 / 4)


def test_a_grid_is_taken_from_its_end() -> None:
    searcher = new_searcher(section("grid"), GRID, 3)

    points = [trial.hparams for trial in created(searcher.handle(SearchStarted()))]

    assert points == [{"a": a, "b": b} for a in ("y", "x") for b in (3, 2, 1)]


def test_a_grid_keeps_to_its_places_and_does_not_replace_invalid_points() -> None:
    searcher = new_searcher(section("grid", max_concurrent_trials=5), GRID, 3)
    first, *others = created(searcher.handle(SearchStarted()))

    sixth = searcher.handle(TrialExitedEarly(first.request_id, ExitReason.INVALID_HP))
    none = searcher.handle(TrialClosed(others[0].request_id))

    assert len(others) == 4
    assert [trial.hparams for trial in created(sixth)] == [{"a": "x", "b": 1}]
    assert none.actions == []


def test_a_grid_without_count_is_refused() -> None:
    with pytest.raises(InvalidConfig, match=r"hyperparameters\.rate: a grid needs `count`"):
        new_searcher(section("grid"), RATE, 3)


def test_a_grid_cannot_change_its_points() -> None:
    searcher = new_searcher(section("grid"), GRID, 3)
    finer = GRID | {"b": {"type": "int", "minval": 1, "maxval": 9, "count": 9}}

    with pytest.raises(NotSupported, match="had 6 points and now has 18"):
        extend_searcher(section("grid"), finer, searcher.snapshot())


def test_a_reopened_grid_waits_for_the_points_that_failed() -> None:
    searcher = new_searcher(section("grid"), GRID, 3)
    trials = created(searcher.handle(SearchStarted()))
    searcher.handle(TrialExitedEarly(trials[0].request_id, ExitReason.ERRORED))
    for trial in trials[1:]:
        searcher.handle(TrialClosed(trial.request_id))

    again = extend_searcher(section("grid"), GRID, searcher.snapshot())

    assert again.handle(SearchStarted()).actions == []
    assert again.handle(TrialClosed(trials[0].request_id)).actions == [Shutdown()]


def test_a_single_trial_that_was_done_can_train_on() -> None:
    searcher = new_searcher(section("single"), RATE, 3)
    (trial,) = created(searcher.handle(SearchStarted()))
    searcher.handle(TrialClosed(trial.request_id))

    again = extend_searcher(section("single"), RATE, searcher.snapshot())

    assert again.handle(SearchStarted()).actions == []
    assert again.handle(TrialClosed(trial.request_id)).actions == [Shutdown()]


@pytest.mark.parametrize(("smaller", "value"), [(True, 0.1), (False, 0.99)])
def test_the_goal_stops_every_trial_and_ends_the_search(smaller: bool, value: float) -> None:
    goal = 0.1 if smaller else 0.99
    config = section("random", max_trials=9, max_concurrent_trials=2, smaller_is_better=smaller, goal=goal)
    searcher = new_searcher(config, RATE, 3)
    first, second = created(searcher.handle(SearchStarted()))
    unreached = searcher.handle(Validated(first.request_id, 1, {"loss": 0.5}))

    outcome = searcher.handle(Validated(first.request_id, 2, {"loss": value}))

    assert unreached.actions == []
    assert outcome.actions[:2] == [StopTrial(first.request_id), StopTrial(second.request_id)]
    assert outcome.notices == [f"Goal reached: loss {'<=' if smaller else '>='} {goal}."]
    assert isinstance(outcome.actions[2], Shutdown)
    assert not outcome.actions[2].failed
    assert searcher.progress() == 1.0
    assert searcher.handle(TrialClosed(first.request_id)).actions == []


def test_with_several_metrics_each_goal_must_be_reached() -> None:
    config = section("single") | {"metric": ["a", "b", "c"], "goal": [1.0, None, 5.0]}
    config["smaller_is_better"] = [True, True, False]
    searcher = new_searcher(config, RATE, 3)
    (trial,) = created(searcher.handle(SearchStarted()))

    half = searcher.handle(Validated(trial.request_id, 1, {"a": 0.5, "b": 9.0, "c": 4.0}))
    whole = searcher.handle(Validated(trial.request_id, 2, {"a": 0.5, "b": 9.0, "c": 6.0}))

    assert half.actions == []
    assert whole.notices == ["Goal reached: a <= 1 and c >= 5."]


def test_more_failures_than_allowed_end_the_search_as_failed() -> None:
    config = section("random", max_trials=9, max_concurrent_trials=3, max_failed_trials=1)
    searcher = new_searcher(config, RATE, 3)
    trials = created(searcher.handle(SearchStarted()))

    allowed = searcher.handle(TrialExitedEarly(trials[0].request_id, ExitReason.ERRORED))
    outcome = searcher.handle(TrialExitedEarly(trials[1].request_id, ExitReason.ERRORED))

    assert len(created(allowed)) == 1
    assert outcome.actions[-1] == Shutdown(failed=True, reason="2 trials failed; max_failed_trials allows 1.")
    assert sum(isinstance(action, StopTrial) for action in outcome.actions) == 2


@pytest.mark.parametrize("metrics", [{"loss": float("nan")}, {"loss": float("inf")}, {}])
def test_a_useless_metric_is_told_once(metrics: dict[str, float]) -> None:
    searcher = new_searcher(section("random", max_trials=2), RATE, 3)
    first, second = created(searcher.handle(SearchStarted()))

    told = searcher.handle(Validated(first.request_id, 7, metrics))
    again = searcher.handle(Validated(second.request_id, 7, metrics))

    assert len(told.notices) == 1
    assert first.request_id in told.notices[0]
    assert "count as the worst" in told.notices[0]
    assert again.notices == []


def test_events_before_the_start_and_about_strangers_are_ignored() -> None:
    searcher = new_searcher(section("random", max_trials=2), RATE, 3)

    assert searcher.handle(TrialClosed("nobody")).actions == []
    searcher.handle(SearchStarted())
    assert searcher.handle(Validated("nobody", 1, {"loss": 1.0})).actions == []
