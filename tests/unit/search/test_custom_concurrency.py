"""A custom search with fewer places than trials asked for, and answers that are refused."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from resolute.domain.errors import InvalidInput
from resolute.search import new_searcher, restore_searcher
from resolute.search.custom import CustomSearcher
from resolute.search.events import CreateTrial, Outcome, SearchStarted, Shutdown, TrialClosed

CONFIG: dict[str, Any] = {"name": "custom", "metric": "loss", "max_trials": 5, "max_concurrent_trials": 2}
SPACE = {"rate": {"type": "double", "minval": 0, "maxval": 1}, "net": {"size": 4}}


def create(name: str, **more: Any) -> dict[str, Any]:
    return {"kind": "create_trial", "request_id": name, **more}


def begun(outcome: Outcome) -> list[str]:
    return [action.request_id for action in outcome.actions if isinstance(action, CreateTrial)]


@pytest.fixture
def searcher(begin_custom: Callable[..., CustomSearcher]) -> CustomSearcher:
    return begin_custom(CONFIG, SPACE)


def restored(searcher: CustomSearcher) -> CustomSearcher:
    again = restore_searcher(CONFIG, SPACE, json.loads(json.dumps(searcher.snapshot())))
    assert isinstance(again, CustomSearcher)
    return again


def test_trials_beyond_the_places_begin_when_others_have_ended(searcher: CustomSearcher) -> None:
    first = searcher.tell([create("a"), create("b"), create("c"), create("d")], up_to=1)

    second = restored(searcher).handle(TrialClosed("b"))

    assert begun(first) == ["a", "b"]
    assert begun(second) == ["c"]


def test_trials_that_have_not_begun_count_against_max_trials(searcher: CustomSearcher) -> None:
    searcher.tell([create(name) for name in "abcd"], up_to=1)
    searcher.handle(TrialClosed("a"))

    with pytest.raises(InvalidInput, match=r"make 6 trials; searcher\.max_trials allows 5"):
        searcher.tell([create("e"), create("f")], up_to=2)


def test_a_trial_that_has_not_begun_can_get_another_target_or_be_stopped(searcher: CustomSearcher) -> None:
    searcher.tell([create(name) for name in "abcd"], up_to=1)
    searcher.handle(TrialClosed("a"))

    # "c" has begun; "d" waits.
    told = searcher.tell([{"kind": "train_to", "request_id": "d", "length": 7}], up_to=2)
    outcome = searcher.handle(TrialClosed("b"))

    assert told.actions == []
    (begun_last,) = outcome.actions
    assert isinstance(begun_last, CreateTrial)
    assert (begun_last.request_id, begun_last.train_to) == ("d", 7)


def test_a_stopped_trial_that_never_began_is_reported_as_closed(searcher: CustomSearcher) -> None:
    searcher.tell([create(name) for name in "abc"], up_to=1)
    searcher.handle(TrialClosed("a"))
    searcher.tell([create("d"), {"kind": "stop_trial", "request_id": "d"}], up_to=2)

    asked = searcher.ask()
    after = searcher.handle(TrialClosed("b"))

    assert [(event["kind"], event["request_id"]) for event in asked] == [("trial_closed", "d")]
    assert begun(after) == []


def test_the_end_of_the_search_forgets_what_waits(searcher: CustomSearcher) -> None:
    searcher.tell([create(name) for name in "abc"], up_to=1)
    searcher.handle(TrialClosed("a"))

    searcher.tell([create("d"), {"kind": "shutdown"}], up_to=2)
    after = restored(searcher).handle(TrialClosed("b"))

    assert begun(after) == []


def test_no_limit_begins_all_at_once() -> None:
    made = new_searcher({**CONFIG, "max_concurrent_trials": 0}, SPACE, 5)
    assert isinstance(made, CustomSearcher)
    made.handle(SearchStarted())

    outcome = made.tell([create(name) for name in "abcde"], up_to=1)

    assert begun(outcome) == list("abcde")


def test_shutdown_in_the_same_answer_comes_after_what_has_a_place(searcher: CustomSearcher) -> None:
    outcome = searcher.tell([create("a"), create("b"), create("c"), {"kind": "shutdown"}], up_to=1)

    assert begun(outcome) == ["a", "b"]
    assert isinstance(outcome.actions[-1], Shutdown)


def test_hyperparameters_that_the_space_does_not_know_reach_the_trial(searcher: CustomSearcher) -> None:
    given = {"rate": 0.5, "net": {"depth": 9}, "trick": "warmup"}

    outcome = searcher.tell([create("a", hparams=given)], up_to=1)

    (trial,) = outcome.actions
    assert isinstance(trial, CreateTrial)
    assert trial.hparams == {"rate": 0.5, "net": {"size": 4, "depth": 9}, "trick": "warmup"}


@pytest.mark.parametrize(
    ("actions", "up_to", "said"),
    [
        ([], 2, "There is no event 2 to answer; the newest is 1"),
        ([create("a"), create("a")], 1, "Two of these trials have the same id"),
    ],
    ids=["unknown event", "same id"],
)
def test_an_answer_that_cannot_be_meant_is_refused(
    searcher: CustomSearcher, actions: list[dict[str, Any]], up_to: int, said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        searcher.tell(actions, up_to=up_to)


def test_an_id_that_waits_is_taken(searcher: CustomSearcher) -> None:
    searcher.tell([create(name) for name in "abc"], up_to=1)
    searcher.handle(TrialClosed("a"))
    searcher.handle(TrialClosed("b"))
    searcher.tell([create("x"), create("y")], up_to=2)

    with pytest.raises(InvalidInput, match="There is a trial y already"):
        searcher.tell([create("y")], up_to=3)
