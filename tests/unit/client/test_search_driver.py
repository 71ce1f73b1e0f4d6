"""Driving a custom search: events are answered in order, once each."""

from typing import Any

from resolute.client.experiment import Experiment
from resolute.client.search_driver import drive
from resolute.search.events import CreateTrial, Event, Outcome, SearchStarted, Shutdown, TrialClosed


class OneTrial:
    """Asks for one trial and is content."""

    def handle(self, event: Event) -> Outcome:
        if isinstance(event, SearchStarted):
            return Outcome([CreateTrial("r1", {"lr": 0.5}, seed=1)])
        return Outcome([Shutdown()] if isinstance(event, TrialClosed) else [])


class ScriptedSession:
    """What a master would answer, in order; remembers what it was told."""

    def __init__(self, events: list[list[dict[str, Any]]], states: list[str]) -> None:
        self._events = events
        self._states = states
        self.told: list[dict[str, Any]] = []

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        if path.endswith("/events"):
            return {"events": self._events.pop(0)}
        return {"experiment": {"id": 7, "state": self._states.pop(0)}, "config": {}}

    def post(self, path: str, body: Any = None) -> dict[str, Any]:
        self.told.append(body)
        return {}


def test_events_are_answered_until_the_experiment_has_ended() -> None:
    events = [
        [{"id": 1, "kind": "search_started"}],
        [],
        [{"id": 2, "kind": "trial_closed", "request_id": "r1"}],
    ]
    states = ["STATE_ACTIVE"] * 3 + ["STATE_COMPLETED"]
    session = ScriptedSession(events, states)
    naps: list[float] = []

    state = drive(Experiment(session, {"id": 7}), OneTrial(), interval_s=0.1, sleep=naps.append)  # type: ignore[arg-type]

    assert state == "COMPLETED"
    assert [told["upTo"] for told in session.told] == [1, 2]
    assert session.told[0]["actions"][0]["hparams"] == {"lr": 0.5}
    assert session.told[1]["actions"][0]["kind"] == "shutdown"
    assert naps == [0.1]
