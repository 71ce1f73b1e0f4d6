"""Notebooks and TensorBoards over HTTP: what they are started with, who may enter, and the sign-in of their owner."""

import json
from typing import Any

import pytest
from tests.api.conftest import Api

from resolute.engine.interactive import extras

NOTEBOOK = {"config": {"resources": {"slots": 0}, "idle_timeout": "30m"}}


def test_a_notebook_is_started_with_its_folder_and_a_sign_in_of_its_owner(api: Api) -> None:
    started = api.post("/api/v1/notebooks", NOTEBOOK)["notebook"]
    api.tick()

    (gang,) = api.runner.started
    request = json.loads(gang.env["RESOLUTE_NOTEBOOK"])
    inside = Api(api.client, api.platform, api.runner, api.clock, api.logbook)
    inside.headers = {"Authorization": f"Bearer {gang.env['RESOLUTE_TOKEN']}"}
    who = inside.get("/api/v1/me")["user"]["username"]
    api.runner.finish(gang.allocation_id, 0)
    api.tick()

    assert started["serviceAddress"] == f"/proxy/{started['id']}/lab?token={request['token']}"
    assert request["folder"].endswith(f"notebooks/{started['id']}")
    assert request["idle_timeout_s"] == 1800
    assert who == "determined"
    inside.get("/api/v1/me", expect=401)


def test_a_preview_starts_nothing(api: Api) -> None:
    answer = api.post("/api/v1/notebooks", {**NOTEBOOK, "preview": True})

    assert answer["config"]["idle_timeout"] == "30m"
    assert api.get("/api/v1/notebooks")["notebooks"] == []


def test_the_key_to_a_notebook_is_shown_to_those_alone_who_may_enter(api: Api) -> None:
    notebook = api.post("/api/v1/notebooks", NOTEBOOK)["notebook"]["id"]
    api.login("admin").post("/api/v1/users", {"user": {"username": "other", "active": True}})

    other = api.login("other").get(f"/api/v1/notebooks/{notebook}")["notebook"]["serviceAddress"]

    assert other == f"/proxy/{notebook}/"
    assert "token" not in str(api.get("/api/v1/notebooks"))


def test_a_tensorboard_is_told_what_to_show_and_where_scripts_wrote(api: Api) -> None:
    experiment = api.create()
    body = {"experimentIds": [experiment, experiment], "trialIds": [], "config": {"tensorboard_args": ["--x"]}}

    made = api.post("/api/v1/tensorboards", body)["tensorboard"]
    api.tick()

    gang = next(gang for gang in api.runner.started if gang.task_id == made["id"])
    request = json.loads(gang.env["RESOLUTE_TENSORBOARD"])
    assert (made["experimentIds"], made["slots"]) == ([experiment], 0)
    assert request["experiment_ids"] == [experiment]
    assert request["storages"][str(experiment)]["type"] == "shared_fs"
    assert request["arguments"] == ["--x"]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({}, 400, "at least one experiment or trial"),
        ({"experimentIds": [99]}, 404, "experiment not found: 99"),
        ({"trialIds": [99]}, 404, "trial not found: 99"),
    ],
)
def test_a_tensorboard_of_what_is_not_there_is_refused(api: Api, body: Any, status: int, words: str) -> None:
    assert words in api.refusal("POST", "/api/v1/tensorboards", body, expect=status)
    assert api.get("/api/v1/tensorboards")["tensorboards"] == []


def test_what_is_not_installed_is_named_with_the_extra(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda module: None)

    assert "pip install 'resolute[notebook]'" in api.refusal("POST", "/api/v1/notebooks", {}, expect=501)
