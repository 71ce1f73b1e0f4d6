"""Looking after what models leave on the master."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from resolute.client import Client
from resolute.client.lifecycle import housekeeping
from resolute.client.lifecycle.model import Model
from resolute.domain.errors import InvalidInput, NotFound


@pytest.fixture
def used(model: Model, master: Any) -> Model:
    model.train({"--epochs": 1}, verbose=False)
    model.tune({"--lr": 1}, ["accuracy"], workers=1, trials=1)
    model.deploy()
    master.add_experiment(9, name="of another kind", labels=["train"], state="COMPLETED")
    return model


def test_each_kind_is_listed_by_name(used: Model, client: Client) -> None:
    listed = housekeeping.list_all_resources(client)

    assert [name.rpartition("-")[0] for name in listed["job"]] == ["mnist-pytorchjob"]
    assert [name.rpartition("-")[0] for name in listed["experiment"]] == ["mnist-tune"]
    assert listed["inference_service"] == ["dev-mnist"]


@pytest.mark.parametrize(
    ("clean", "count"),
    [
        (housekeeping.clean, 2),
        (housekeeping.clean_all, 3),
        (housekeeping.delete_jobs, 1),
        (housekeeping.delete_experiments, 1),
        (housekeeping.delete_inference_services, 1),
    ],
)
def test_without_force_it_is_a_rehearsal(
    used: Model, client: Client, master: Any, clean: Callable[..., list[str]], count: int
) -> None:
    named = clean(client=client)

    assert len(named) == count
    assert master.paths("DELETE") == []
    assert clean(force=True, client=client) == named
    assert len(master.paths("DELETE")) == count


def test_what_runs_is_left_alone(used: Model, client: Client, master: Any) -> None:
    master.experiments[1]["state"] = "STATE_RUNNING"

    assert housekeeping.delete_jobs(force=True, client=client) == []


def test_one_whose_model_is_registered_is_archived(used: Model, client: Client, master: Any) -> None:
    name = master.experiments[1]["name"]
    jobs = housekeeping.list_jobs(client)
    client.users.me()
    listing = httpx.Response(200, json={"experiments": [master.experiments[1]], "pagination": {"total": 1}})
    refusal = httpx.Response(409, json={"error": {"code": 9, "reason": "FailedPrecondition", "error": "registered"}})
    master.failures += [listing, refusal]

    housekeeping.delete_job(name, client=client)

    assert jobs == [name]
    assert master.experiments[1]["archived"] is True
    assert housekeeping.list_jobs(client) == []


def test_things_are_deleted_by_kind_and_name(used: Model, client: Client, master: Any) -> None:
    housekeeping.delete_resource("inference_service", "dev-mnist", client)
    housekeeping.delete_resource("experiment", master.experiments[2]["name"], client)
    housekeeping.delete_resource("job", master.experiments[1]["name"], client)

    assert housekeeping.list_all_resources(client) == {"job": [], "experiment": [], "inference_service": []}


def test_a_wrong_name_is_answered_with_the_right_ones(used: Model, client: Client, master: Any) -> None:
    with pytest.raises(NotFound, match=f"There is no job 'mnist'. There are: {master.experiments[1]['name']}"):
        housekeeping.delete_job("mnist", client=client)
    with pytest.raises(InvalidInput, match="kind: 'pod' is unknown"):
        housekeeping.delete_resource("pod", "mnist", client)


def test_a_question_begins_with_what_there_is(used: Model, client: Client) -> None:
    found = housekeeping.diagnose(client)

    assert (found["master"], found["version"], found["slots"]) == ("http://fake:8080", "0.38.1", 2)
    assert found["inference_service"] == ["dev-mnist"]
