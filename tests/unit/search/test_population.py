"""Population based training, round by round."""

from typing import Any

import pytest

from resolute.domain.errors import InvalidConfig
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

SPACE = {
    "rate": {"type": "log", "minval": -4, "maxval": 0, "base": 10},
    "size": {"type": "int", "minval": 10, "maxval": 20},
    "net": {"type": "categorical", "vals": ["a", "b"]},
    "fixed": 3,
}


def section(**more: Any) -> dict[str, Any]:
    base = {"name": "pbt", "metric": "loss", "population_size": 4, "num_rounds": 3, "length_per_round": {"batches": 10}}
    explore = {"resample_probability": 0.0, "perturb_factor": 0.2}
    return base | {"replace_function": {"truncate_fraction": 0.25}, "explore_function": explore} | more


def created(outcome: Outcome) -> list[CreateTrial]:
    return [action for action in outcome.actions if isinstance(action, CreateTrial)]


def round_of(searcher: Any, trials: list[str], time: float) -> Outcome:
    outcome = Outcome()
    for place, trial in enumerate(trials):
        outcome = searcher.handle(Validated(trial, time, {"loss": float(place)}))
    return outcome


def test_a_population_starts_with_one_round_as_its_target() -> None:
    searcher = new_searcher(section(), SPACE, 1)

    trials = created(searcher.handle(SearchStarted()))

    assert [(trial.train_to, trial.copy_of) for trial in trials] == [(10, None)] * 4


def test_nobody_moves_before_the_whole_population_is_in() -> None:
    searcher = new_searcher(section(), SPACE, 1)
    trials = created(searcher.handle(SearchStarted()))

    outcomes = [searcher.handle(Validated(trial.request_id, 10, {"loss": 1.0})) for trial in trials[:3]]

    assert [outcome.actions for outcome in outcomes] == [[], [], []]


def test_after_a_round_the_worst_is_replaced_by_a_changed_copy_of_the_best() -> None:
    searcher = new_searcher(section(), SPACE, 1)
    trials = created(searcher.handle(SearchStarted()))
    ids = [trial.request_id for trial in trials]

    outcome = round_of(searcher, ids, 10)

    assert [action for action in outcome.actions if isinstance(action, StopTrial)] == [StopTrial(ids[3])]
    assert [action for action in outcome.actions if isinstance(action, TrainTo)] == [
        TrainTo(one, 20) for one in ids[:3]
    ]
    (copy,) = created(outcome)
    assert copy.copy_of == ids[0]
    assert copy.train_to == 10
    assert copy.hparams["rate"] / trials[0].hparams["rate"] == pytest.approx(1.2) or copy.hparams["rate"] / trials[
        0
    ].hparams["rate"] == pytest.approx(0.8)
    assert copy.hparams["net"] == trials[0].hparams["net"]
    assert 10 <= copy.hparams["size"] <= 20
    assert copy.hparams["fixed"] == 3


def test_the_last_round_stops_everyone() -> None:
    searcher = new_searcher(section(num_rounds=1), SPACE, 1)
    ids = [trial.request_id for trial in created(searcher.handle(SearchStarted()))]

    outcome = round_of(searcher, ids, 10)

    assert outcome.actions == [StopTrial(one) for one in ids]
    ends = [searcher.handle(TrialClosed(one)).actions for one in ids]
    assert ends == [[], [], [], [Shutdown()]]


def test_a_failed_member_is_replaced_at_the_end_of_the_round() -> None:
    searcher = new_searcher(section(), SPACE, 1)
    ids = [trial.request_id for trial in created(searcher.handle(SearchStarted()))]
    searcher.handle(TrialExitedEarly(ids[0], ExitReason.ERRORED))

    outcome = round_of(searcher, ids[1:], 10)

    assert [trial.copy_of for trial in created(outcome)] == [ids[1]]
    assert not any(isinstance(action, StopTrial) for action in outcome.actions)


def test_an_invalid_member_is_replaced_at_once() -> None:
    searcher = new_searcher(section(), SPACE, 1)
    ids = [trial.request_id for trial in created(searcher.handle(SearchStarted()))]

    outcome = searcher.handle(TrialExitedEarly(ids[0], ExitReason.INVALID_HP))

    assert [trial.copy_of for trial in created(outcome)] == [None]


def test_a_population_that_failed_ends_as_failed() -> None:
    searcher = new_searcher(section(), SPACE, 1)
    ids = [trial.request_id for trial in created(searcher.handle(SearchStarted()))]

    outcomes = [searcher.handle(TrialExitedEarly(one, ExitReason.ERRORED)) for one in ids]

    assert outcomes[-1].actions == [Shutdown(failed=True, reason="Every trial failed.")]


def test_resampling_draws_afresh() -> None:
    config = section(explore_function={"resample_probability": 1.0, "perturb_factor": 0.2})
    searcher = new_searcher(config, SPACE, 1)
    trials = created(searcher.handle(SearchStarted()))

    (copy,) = created(round_of(searcher, [trial.request_id for trial in trials], 10))

    assert copy.hparams["rate"] / trials[0].hparams["rate"] not in (pytest.approx(1.2), pytest.approx(0.8))


def test_a_finished_population_goes_on_with_new_rounds() -> None:
    searcher = new_searcher(section(num_rounds=1), SPACE, 1)
    ids = [trial.request_id for trial in created(searcher.handle(SearchStarted()))]
    round_of(searcher, ids, 10)
    for one in ids:
        searcher.handle(TrialClosed(one))

    again = extend_searcher(section(num_rounds=1), SPACE, searcher.snapshot())

    assert len(created(again.handle(SearchStarted()))) == 4
    assert again.progress() < 1.0


def test_a_round_needs_a_length() -> None:
    with pytest.raises(InvalidConfig, match="length_per_round"):
        new_searcher(section(length_per_round=None), SPACE, 1)
