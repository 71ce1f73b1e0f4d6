"""Asynchronous halving, decision by decision, and its invariants under random play."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resolute.search import extend_searcher, new_searcher
from resolute.search.events import (
    CreateTrial,
    ExitReason,
    Outcome,
    SearchStarted,
    Shutdown,
    StopTrial,
    TrainTo,
    TrialClosed,
    TrialExitedEarly,
    Validated,
)

SPACE = {"rate": {"type": "double", "minval": 0, "maxval": 1}}
QUICK = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))


class Search:
    """A searcher with trials addressed by the order of their creation."""

    def __init__(self, **config: Any) -> None:
        section = {"name": "async_halving", "metric": "loss", "max_length": {"epochs": 9}, "divisor": 3, "num_rungs": 3}
        self.searcher = new_searcher(section | config, SPACE, 1)
        self.ids: list[str] = []
        self.first = self._noted(self.searcher.handle(SearchStarted()))

    def report(self, trial: int, time: float, loss: float) -> list[tuple[str, Any]]:
        return self._said(self.searcher.handle(Validated(self.ids[trial], time, {"loss": loss})))

    def close(self, trial: int) -> list[tuple[str, Any]]:
        return self._said(self.searcher.handle(TrialClosed(self.ids[trial])))

    def exit(self, trial: int, reason: ExitReason = ExitReason.ERRORED) -> list[tuple[str, Any]]:
        return self._said(self.searcher.handle(TrialExitedEarly(self.ids[trial], reason)))

    def _noted(self, outcome: Outcome) -> Outcome:
        self.ids += [action.request_id for action in outcome.actions if isinstance(action, CreateTrial)]
        return outcome

    def _said(self, outcome: Outcome) -> list[tuple[str, Any]]:
        self._noted(outcome)
        said: list[tuple[str, Any]] = []
        for action in outcome.actions:
            if isinstance(action, CreateTrial):
                said.append(("create", self.ids.index(action.request_id)))
            elif isinstance(action, StopTrial):
                said.append(("stop", self.ids.index(action.request_id)))
            elif isinstance(action, TrainTo):
                said.append((f"train to {action.length}", self.ids.index(action.request_id)))
            else:
                said.append(("shutdown", action.failed))
        return said


def test_stopping_trials_train_to_the_end_unless_told() -> None:
    search = Search(max_trials=4, max_concurrent_trials=2)

    assert [action.train_to for action in search.first.actions if isinstance(action, CreateTrial)] == [None, None]


def test_the_first_at_a_rung_goes_on_and_a_worse_one_is_stopped_and_replaced() -> None:
    search = Search(max_trials=4, max_concurrent_trials=2)

    assert search.report(0, 1, 0.5) == []
    assert search.report(1, 1, 0.6) == [("stop", 1), ("create", 2)]


def test_of_equals_the_newest_goes_on() -> None:
    search = Search(max_trials=4, max_concurrent_trials=2)
    search.report(0, 1, 0.5)

    assert search.report(1, 1, 0.5) == []


def test_below_the_first_rung_nothing_is_decided() -> None:
    search = Search(max_trials=4, max_concurrent_trials=2, max_length={"epochs": 90})
    search.report(0, 10, 0.1)

    assert search.report(1, 9.9, 5.0) == []


def test_one_report_may_decide_several_rungs() -> None:
    search = Search(max_trials=3, max_concurrent_trials=2)
    search.report(0, 3, 0.5)

    assert search.report(1, 9, 0.6) == [("stop", 1), ("create", 2)]
    assert search.report(2, 9, 0.4) == [("stop", 2)]


def test_the_top_rung_stops_the_trial() -> None:
    search = Search(max_trials=1)

    assert search.report(0, 9, 0.5) == [("stop", 0)]
    assert search.close(0) == [("shutdown", False)]


def test_larger_is_better_turns_the_order() -> None:
    search = Search(max_trials=4, max_concurrent_trials=2, smaller_is_better=False)
    search.report(0, 1, 0.5)

    assert search.report(1, 1, 0.6) == []


def test_a_failed_trial_counts_as_the_worst_and_makes_room() -> None:
    search = Search(max_trials=4, max_concurrent_trials=2)

    assert search.exit(0) == [("create", 2)]
    assert search.report(1, 1, 99.0) == []


def test_an_invalid_trial_is_forgotten_and_replaced_beyond_the_budget() -> None:
    search = Search(max_trials=2, max_concurrent_trials=2)
    search.report(0, 1, 0.1)

    assert search.exit(0, ExitReason.INVALID_HP) == [("create", 2)]
    assert search.report(1, 1, 0.9) == []


def test_a_trial_that_ends_by_itself_makes_room() -> None:
    search = Search(max_trials=4, max_concurrent_trials=2)
    search.report(0, 1, 0.5)

    assert search.close(0) == [("create", 2)]


def test_a_report_after_the_stop_changes_nothing() -> None:
    search = Search(max_trials=4, max_concurrent_trials=2)
    search.report(0, 1, 0.5)
    search.report(1, 1, 0.6)

    assert search.report(1, 3, 0.0) == []
    assert search.exit(1) == []


def test_patience_in_rungs_spares_the_first_ones() -> None:
    search = Search(max_trials=4, max_concurrent_trials=2, patience=1)
    search.report(0, 1, 0.5)

    assert search.report(1, 1, 0.6) == []
    search.report(0, 3, 0.5)
    assert search.report(1, 3, 0.6) == [("stop", 1), ("create", 2)]


def test_patience_in_units_spares_the_rungs_below() -> None:
    search = Search(max_trials=4, max_concurrent_trials=2, patience={"epochs": 3})
    search.report(0, 3, 0.5)

    assert search.report(1, 1, 0.6) == []
    assert search.report(1, 3, 0.6) == [("stop", 1), ("create", 2)]


def test_promotion_trials_begin_with_the_first_rung_as_their_target() -> None:
    search = Search(max_trials=4, max_concurrent_trials=3, stop_once=False)

    assert [action.train_to for action in search.first.actions if isinstance(action, CreateTrial)] == [1, 1, 1]


def test_promotion_waits_for_a_whole_slice_and_then_raises_the_best() -> None:
    search = Search(max_trials=9, max_concurrent_trials=3, stop_once=False)

    assert search.report(0, 1, 0.3) == [("create", 3)]
    assert search.report(1, 1, 0.1) == [("create", 4)]
    assert search.report(2, 1, 0.2) == [("train to 3", 1)]


def test_promotion_of_one_that_dropped_into_the_slice_later() -> None:
    search = Search(max_trials=9, max_concurrent_trials=6, stop_once=False)
    for trial, loss in enumerate([0.1, 0.2, 0.3]):
        search.report(trial, 1, loss)
    search.report(3, 1, 0.4)
    search.report(4, 1, 0.5)

    assert search.report(5, 1, 0.6) == [("train to 3", 1)]


def test_promotion_ends_when_nobody_can_go_up_any_more() -> None:
    search = Search(max_trials=3, max_concurrent_trials=3, stop_once=False)
    search.report(0, 1, 0.3)
    search.report(1, 1, 0.1)

    assert search.report(2, 1, 0.2) == [("train to 3", 1), ("stop", 2), ("stop", 0)]
    assert search.report(1, 3, 0.1) == [("stop", 1)]
    assert [search.close(trial) for trial in (0, 2, 1)] == [[], [], [("shutdown", False)]]


def test_promotion_of_a_trial_that_failed_meanwhile_counts_as_the_worst_one_rung_up() -> None:
    search = Search(max_trials=3, max_concurrent_trials=3, stop_once=False)
    search.report(0, 1, 0.1)
    search.exit(0)
    search.report(1, 1, 0.2)

    said = search.report(2, 1, 0.3)

    assert said == [("stop", 1), ("stop", 2)]


def test_promotion_gives_at_least_one_more_unit_where_rungs_have_the_same_length() -> None:
    search = Search(max_trials=9, max_concurrent_trials=3, stop_once=False, max_length={"epochs": 3})
    search.report(0, 1, 0.3)
    search.report(1, 1, 0.1)

    assert search.report(2, 1, 0.2) == [("train to 2", 1)]


def test_progress_keeps_a_fifth_back_for_the_trials_that_train_on() -> None:
    search = Search(max_trials=10, max_concurrent_trials=10)
    for trial in range(5):
        search.report(trial, 1, float(trial))

    assert search.searcher.progress() == pytest.approx(5 / 12)


def test_more_brackets_than_places_begin_one_after_the_other(play: Callable[..., Any]) -> None:
    config = {
        "name": "adaptive_asha",
        "metric": "loss",
        "max_trials": 20,
        "max_time": 64,
        "mode": "conservative",
        "max_concurrent_trials": 1,
    }

    record = play(config, seed=4)

    assert len(record.created) == 20
    assert record.most_in_training == 1


@QUICK
@given(seed=st.integers(0, 10**9), divisor=st.sampled_from([2, 2.5, 3, 4]), trials=st.integers(1, 40))
def test_nobody_is_kept_outside_the_top_fraction(
    player: Callable[..., Any], seed: int, divisor: float, trials: int
) -> None:
    config = {
        "name": "async_halving",
        "metric": "loss",
        "max_trials": trials,
        "max_length": {"batches": 64},
        "num_rungs": 3,
        "divisor": divisor,
    }
    game = player(config, seed=seed)
    game.send(SearchStarted())

    while game.trials:
        before = {view.lengths: view.reached for view in game.searcher.bracket_views()}
        game.step()
        (view,) = game.searcher.bracket_views()
        rungs = game.searcher._brackets[0].rungs
        for at, (old, new) in enumerate(zip(before[view.lengths], view.reached, strict=True)):
            if new > old and at < 2 and rungs[at + 1].units > 0:
                newest = len(game.record.steps) - 1
                event, outcome = game.record.steps[newest]
                is_stopped = any(isinstance(action, StopTrial) for action in outcome.actions)
                place = rungs[at].order.index(game.searcher._trials.index[event.request_id])
                allowed = max(int(len(rungs[at].order) / divisor), 1)
                assert is_stopped or place < allowed


@QUICK
@given(seed=st.integers(0, 10**9), divisor=st.sampled_from([2, 2.5, 3, 4]), trouble=st.sampled_from([0.0, 0.1]))
def test_nobody_is_promoted_outside_the_top_fraction(
    player: Callable[..., Any], seed: int, divisor: float, trouble: float
) -> None:
    config = {
        "name": "async_halving",
        "metric": "loss",
        "max_trials": 30,
        "max_length": {"batches": 64},
        "num_rungs": 3,
        "divisor": divisor,
        "stop_once": False,
    }
    game = player(config, seed=seed, trouble=0.0 if trouble == 0 else trouble)
    game.send(SearchStarted())

    while game.trials:
        game.step()
        rungs = game.searcher._brackets[0].rungs
        _, outcome = game.record.steps[-1]
        for action in outcome.actions:
            if not isinstance(action, TrainTo):
                continue
            trial = game.searcher._trials.index[action.request_id]
            below = rungs[game.searcher._rung_of[trial] - 1]
            assert below.order.index(trial) < int(len(below.order) / divisor)


def test_a_space_of_invalid_points_is_given_up() -> None:
    search = Search(max_trials=2, max_concurrent_trials=1)

    said: list[tuple[str, Any]] = []
    for trial in range(200):
        said = search.exit(trial, ExitReason.INVALID_HP)
        if ("shutdown", True) in said:
            break

    assert said == [("shutdown", True)]
    assert trial == 99


@pytest.mark.parametrize("stop_once", [True, False])
def test_a_failed_trial_that_is_woken_no_longer_counts_as_the_worst(stop_once: bool) -> None:
    config = {"name": "async_halving", "metric": "loss", "max_length": {"epochs": 9}, "divisor": 3, "num_rungs": 3}
    config |= {"max_trials": 1, "stop_once": stop_once}
    search = Search(**config)
    search.exit(0)

    again = extend_searcher(config, SPACE, search.searcher.snapshot())

    assert again.handle(SearchStarted()).actions == []
    assert again.bracket_views()[0].reached == (0, 0, 0)
    again.handle(Validated(search.ids[0], 1, {"loss": 0.5}))
    assert again.bracket_views()[0].reached == (1, 0, 0)


def test_all_failed_is_a_failed_search() -> None:
    search = Search(max_trials=1)

    (shutdown,) = search.searcher.handle(TrialExitedEarly(search.ids[0], ExitReason.ERRORED)).actions

    assert shutdown == Shutdown(failed=True, reason="Every trial failed.")
