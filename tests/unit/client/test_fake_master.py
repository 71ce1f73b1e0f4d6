"""The fake keeps the promises that tests build on."""

import httpx
import pytest

from resolute.client import Client
from resolute.client.fake import FakeMaster
from resolute.client.session import Session
from resolute.domain.errors import NotFound, Unauthenticated, Unavailable


def test_nothing_is_answered_without_a_token(master: FakeMaster) -> None:
    session = Session("http://fake", transport=master.transport())

    with pytest.raises(Unauthenticated):
        session.get("/api/v1/experiments")


def test_what_it_was_sent_can_be_read_back(client: Client, master: FakeMaster) -> None:
    client.session.post("/api/v1/anything", {"a": [1]})

    assert master.paths("POST") == ["/api/v1/anything"]
    assert master.last("POST", "/api/v1/anything").body == {"a": [1]}
    assert master.calls[-1].token == "token-determined"


def test_failures_are_answered_in_turn_and_then_it_is_well_again(client: Client, master: FakeMaster) -> None:
    client.users.me()
    master.failures += [httpx.Response(500, json={"error": {"error": "one"}}), httpx.ConnectError("two")]

    with pytest.raises(Exception, match="one"):
        client.session.post("/api/v1/x")
    master.failures.clear()

    assert client.users.me()["username"] == "determined"


def test_what_it_does_not_know_is_not_found(client: Client) -> None:
    with pytest.raises(NotFound, match="This fake has no GET /nowhere"):
        client.session.get("/nowhere")


def test_a_stored_experiment_is_answered_in_the_apis_shape(client: Client, master: FakeMaster) -> None:
    master.add_experiment(7, name="seven", labels=["a"])

    experiment = client.get_experiment(7)

    assert (experiment.name, experiment.labels, experiment.state) == ("seven", ["a"], "ACTIVE")
    assert experiment.start_time is not None
    assert experiment.end_time is None


def test_a_checkpoint_brings_its_trial_and_experiment_along(client: Client, master: FakeMaster) -> None:
    master.add_checkpoint("c", trial_id=3, metric=0.5)

    assert client.get_trial(3).experiment_id == 1
    assert client.get_checkpoint("c").validation_metrics == {"loss": 0.5}


def test_a_master_that_goes_away_mid_way_is_unavailable(client: Client, master: FakeMaster) -> None:
    master.failures.append(httpx.ConnectError("refused"))

    with pytest.raises(Unavailable):
        client.users.me()
