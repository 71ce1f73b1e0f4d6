"""The official command line and SDK keep their models in our registry."""

import json
import re
from typing import Any

import pytest

TEMPORARY = "models of the judge"


@pytest.fixture(scope="module")
def uuid(live_master: Any, done: int) -> str:
    """The last checkpoint of a finished experiment, the one that its policy keeps; a model may hold it twice."""
    found = live_master.call("GET", f"/api/v1/experiments/{done}/checkpoints")["checkpoints"]
    last = max(found, key=lambda each: each["metadata"]["steps_completed"])
    return str(last["uuid"])


def test_the_command_line_creates_registers_and_describes(det: Any, uuid: str) -> None:
    created = det("model", "create", "ship finder", "--description", "finds ships")
    registered = det("model", "register-version", "ship finder", uuid)
    second = json.loads(det("model", "register-version", "ship finder", uuid, "--json"))
    described = det("model", "describe", "ship finder")
    older = det("model", "describe", "ship finder", "--version", 1)
    versions = json.loads(det("model", "list-versions", "ship finder", "--json"))
    table = det("model", "list-versions", "ship finder")

    assert "finds ships" in created
    assert uuid in registered
    assert second["modelVersion"]["checkpoint"]["uuid"] == uuid
    assert re.search(rf"^ +2 \|.*{uuid}", described, re.MULTILINE)
    assert re.search(rf"^ +1 \|.*{uuid}", older, re.MULTILINE)
    assert [each["version"] for each in versions["modelVersions"]] == [1, 2]
    assert table.count(uuid) == 2


def test_the_command_line_moves_lists_and_deletes(det: Any, live_master: Any) -> None:
    live_master.call("POST", "/api/v1/workspaces", json={"name": TEMPORARY})
    live_master.call("POST", "/api/v1/models", json={"name": "mover"})

    det("model", "move", "mover", "--workspace-name", TEMPORARY)
    there = det("model", "list", "--workspace-names", TEMPORARY, "--sort-by", "name", "--order-by", "desc")
    elsewhere = json.loads(det("model", "list", "--workspace-names", "Uncategorized", "--json"))
    det("model", "delete", "mover")

    assert "mover" in there
    assert "mover" not in [each["name"] for each in elsewhere]
    assert live_master.call("GET", "/api/v1/models?name=mover")["models"] == []


def test_bad_input_is_told_in_sentences(det: Any, live_master: Any) -> None:
    live_master.call("POST", "/api/v1/models", json={"name": "taken"})

    again = det("model", "create", "taken", code=1)
    unknown = det("model", "register-version", "taken", "no-such-uuid", code=1)
    missing = det("model", "describe", "no such model", code=1)

    assert "'taken' exists already" in again
    assert "checkpoint not found: no-such-uuid" in unknown
    assert "model not found: no such model" in missing


def test_a_registered_checkpoint_is_kept_from_the_command_line(det: Any, live_master: Any, uuid: str) -> None:
    live_master.call("POST", "/api/v1/models", json={"name": "keeper"})
    live_master.call("POST", "/api/v1/models/keeper/versions", json={"checkpointUuid": uuid})

    refused = det("checkpoint", "delete", uuid, "--yes", code=1)

    assert "keeper/1" in refused


def test_the_sdk_does_everything_it_can(sdk: Any, uuid: str) -> None:
    out = sdk("registry.py", uuid).splitlines()

    assert out == [
        "created judged model d {'a': 1} [] determined 1",
        "changed other {'b': [1, 2]} ['sea', 'air']",
        "by id judged model",
        "no version None",
        "registered 1 2 True",
        "version best of the day True",
        "latest 2 first 1",
        "versions [2, 1]",
        "ascending [1, 2]",
        "metrics []",
        "steps 3 True",
        "archived True",
        "archived False",
        "listed ['judged model']",
        "labels ['air', 'sea']",
        "left [2]",
        "gone []",
    ]
