"""Subscriptions, and the webhook of docs/dev/changes.md as it stands there."""

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from resolute.domain.change import Action, Actor, Change, Via
from resolute.domain.subscription import Subscription
from resolute.engine.changes.delivery import Delivery
from resolute.engine.experiments.changes import kill_experiment, pause_experiment
from resolute.engine.unit_of_work import flow

DOC = Path(__file__).parents[3] / "docs/dev/changes.md"


def change(**fields: Any) -> Change:
    given = {"action": Action.MOVED, "kind": "experiment", "thing_id": "7", "to_state": "ERROR", "workspace_id": 1}
    return Change(at=fields.pop("at"), **{**given, **fields})


@pytest.mark.parametrize(
    ("wanted", "is_wanted"),
    [
        ({}, True),
        ({"kinds": ("experiment", "trial")}, True),
        ({"kinds": ("trial",)}, False),
        ({"actions": (Action.MOVED,)}, True),
        ({"actions": (Action.CREATED,)}, False),
        ({"states": ("ERROR", "COMPLETED")}, True),
        ({"states": ("COMPLETED",)}, False),
        ({"workspace_id": 1}, True),
        ({"workspace_id": 2}, False),
        ({"kinds": ("experiment",), "states": ("COMPLETED",)}, False),
    ],
)
def test_a_subscription_wants_what_matches_all_its_parts(world: Any, wanted: dict[str, Any], is_wanted: bool) -> None:
    assert Subscription(name="s", **wanted).wants(change(at=world.clock())) is is_wanted


class Receiver:
    """The other side of a webhook."""

    def __init__(self) -> None:
        self.status = 200
        self.received: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if self.status == 200:
            self.received.append((request.headers["Resolute-Change"], json.loads(request.content)))
        return httpx.Response(self.status)


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


def documented() -> dict[str, Any]:
    """What the first example of the page defines."""
    names: dict[str, Any] = {}
    source = re.findall(r"```python\n(.*?)```", DOC.read_text(), re.DOTALL)[0]
    exec(compile(source, str(DOC), "exec"), names)
    return names


def delivery(world: Any, receiver: Receiver, **wanted: Any) -> Delivery:
    http = httpx.Client(transport=httpx.MockTransport(receiver))
    subscription = Subscription(name="webhook/7", **wanted)
    made = Delivery(world.platform, documented()["webhook"](subscription, "https://chat.example/hook", http))
    made.begin()
    return made


def test_the_documented_webhook_posts_what_it_wants(world: Any, receiver: Receiver) -> None:
    hook = delivery(world, receiver, kinds=("experiment",), states=("PAUSED",))
    experiment = world.create()
    pause_experiment(world.platform, experiment.id)

    hook.pass_once()

    ((number, message),) = receiver.received
    assert (message["kind"], message["thingId"], message["toState"]) == ("experiment", str(experiment.id), "PAUSED")
    assert number == str(message["id"])


def test_the_documented_webhook_posts_again_what_was_not_accepted_and_in_order(world: Any, receiver: Receiver) -> None:
    hook = delivery(world, receiver, kinds=("experiment",))
    receiver.status = 503
    experiment = world.create()
    hook.pass_once()
    kill_experiment(world.platform, experiment.id)
    hook.pass_once()

    receiver.status = 200
    world.clock.forward(2)
    hook.pass_once()

    assert [message["action"] for _, message in receiver.received][:2] == ["CREATED", "MOVED"]
    with world.platform.store.read() as tx:
        assert tx.changes.progress()["webhook/7"].held == ()


def test_a_webhook_that_is_set_up_later_hears_nothing_of_what_was_before(world: Any, receiver: Receiver) -> None:
    ada = Actor(user_id=2, name="ada", via=Via.SESSION)
    with flow(world.platform) as current:
        current.actor = ada
        current.record(Action.CHANGED, "setting", "early")
    hook = delivery(world, receiver)
    with flow(world.platform) as current:
        current.record(Action.CHANGED, "setting", "late")

    hook.pass_once()

    assert [message["thingId"] for _, message in receiver.received] == ["late"]
