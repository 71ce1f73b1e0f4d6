"""A searcher that somebody else drives: the queue, the answers, and what is refused."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from resolute.domain.errors import InvalidInput
from resolute.search import restore_searcher
from resolute.search.codec import action_from_json, action_to_json, event_from_json, event_to_json
from resolute.search.custom import CustomSearcher, answer
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
    TrialProgressed,
    Validated,
)

CONFIG: dict[str, Any] = {"name": "custom", "metric": "loss", "max_trials": 3}
SPACE = {"rate": {"type": "double", "minval": 0, "maxval": 1}, "net": {"size": 4}}


@pytest.fixture
def searcher(begin_custom: Callable[..., CustomSearcher]) -> CustomSearcher:
    return begin_custom(CONFIG, SPACE)


def test_events_wait_until_they_are_answered(searcher: CustomSearcher) -> None:
    (started,) = searcher.ask()

    outcome = searcher.tell([{"kind": "create_trial", "hparams": {"rate": 0.5}}], up_to=started["id"])

    assert started["kind"] == "search_started"
    assert searcher.ask() == []
    (trial,) = outcome.actions
    assert isinstance(trial, CreateTrial)
    assert trial.hparams == {"rate": 0.5, "net": {"size": 4}}


def test_an_answer_given_twice_acts_once(searcher: CustomSearcher) -> None:
    create = [{"kind": "create_trial"}]
    searcher.tell(create, up_to=1)

    again = searcher.tell(create, up_to=1)

    assert again.actions == []


def test_a_trial_is_followed_from_creation_to_the_end(searcher: CustomSearcher) -> None:
    searcher.tell([{"kind": "create_trial", "request_id": "t1", "train_to": 5}], up_to=1)
    searcher.handle(TrialProgressed("t1", 0.5))
    searcher.handle(Validated("t1", 5.0, {"loss": float("nan")}))

    (validated,) = searcher.ask()
    stop = searcher.tell([{"kind": "stop_trial", "request_id": "t1"}], up_to=validated["id"])
    searcher.handle(TrialClosed("t1"))
    closed = searcher.ask()[-1]
    end = searcher.tell([{"kind": "shutdown"}], up_to=closed["id"], progress=0.9)

    assert validated["metrics"] == {"loss": None}
    assert stop.actions == [StopTrial("t1")]
    assert end.actions == [Shutdown()]
    assert searcher.progress() == 1.0


def test_the_queue_survives_a_restart(searcher: CustomSearcher) -> None:
    searcher.tell([{"kind": "create_trial", "request_id": "t1"}], up_to=1)
    searcher.handle(Validated("t1", 1.0, {"loss": 0.5}))

    text = json.dumps(searcher.snapshot(), allow_nan=False)
    restored = restore_searcher(CONFIG, SPACE, json.loads(text))

    assert isinstance(restored, CustomSearcher)
    assert restored.ask() == searcher.ask()
    assert restored.snapshot() == searcher.snapshot()


def test_events_about_strangers_do_not_queue(searcher: CustomSearcher) -> None:
    searcher.handle(Validated("nobody", 1.0, {"loss": 0.5}))

    assert [event["kind"] for event in searcher.ask()] == ["search_started"]


@pytest.mark.parametrize(
    ("actions", "said"),
    [
        ([{"kind": "dance"}], "Unknown search action 'dance'"),
        ([{"kind": "stop_trial", "request_id": "gone"}], "names trial gone, which is not open"),
        ([{"kind": "train_to", "request_id": "gone", "length": 3}], "names trial gone, which is not open"),
        ([{"kind": "stop_trial"}], "StopTrial is incomplete"),
        ([{"kind": "shutdown", "colour": "red"}], "Shutdown has no colour"),
        ([{"kind": "create_trial"}] * 4, "make 4 trials; searcher.max_trials allows 3"),
    ],
)
def test_an_answer_that_cannot_be_is_refused_and_changes_nothing(
    searcher: CustomSearcher, actions: list[dict[str, Any]], said: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        searcher.tell(actions, up_to=1)

    assert said in str(refused.value)
    assert len(searcher.ask()) == 1


def test_an_id_cannot_be_used_twice(searcher: CustomSearcher) -> None:
    searcher.tell([{"kind": "create_trial", "request_id": "t1"}], up_to=1)
    searcher.handle(Validated("t1", 1.0, {"loss": 0.5}))

    with pytest.raises(InvalidInput, match="There is a trial t1 already"):
        searcher.tell([{"kind": "create_trial", "request_id": "t1"}], up_to=2)


def test_a_users_class_is_driven_by_the_queue(searcher: CustomSearcher) -> None:
    class TwoTrials:
        def handle(self, event: Any) -> Outcome:
            if isinstance(event, SearchStarted):
                return Outcome([CreateTrial("one", {"rate": 0.1}, 7), CreateTrial("two", {"rate": 0.2}, 8)])
            return Outcome([Shutdown()])

    actions, last = answer(TwoTrials(), searcher.ask())
    outcome = searcher.tell(actions, up_to=last)

    assert [(trial.request_id, trial.seed) for trial in outcome.actions if isinstance(trial, CreateTrial)] == [
        ("one", 7),
        ("two", 8),
    ]
    assert answer(TwoTrials(), []) == ([], 0)


EVENTS = [
    SearchStarted(),
    Validated("t", 3.0, {"loss": 0.5}),
    TrialClosed("t"),
    TrialExitedEarly("t", ExitReason.INVALID_HP),
    TrialProgressed("t", 0.25),
]
ACTIONS = [
    CreateTrial("t", {"a": {"b": 1}}, 4, 10, "s"),
    TrainTo("t", None),
    StopTrial("t"),
    Shutdown(failed=True, reason="x"),
]


@pytest.mark.parametrize("event", EVENTS)
def test_events_come_back_from_json(event: Any) -> None:
    assert event_from_json(json.loads(json.dumps(event_to_json(event), allow_nan=False))) == event


@pytest.mark.parametrize("action", ACTIONS)
def test_actions_come_back_from_json(action: Any) -> None:
    assert action_from_json(json.loads(json.dumps(action_to_json(action)))) == action


def test_an_unknown_event_is_refused() -> None:
    with pytest.raises(InvalidInput, match="Unknown search event 'rain'"):
        event_from_json({"kind": "rain"})
