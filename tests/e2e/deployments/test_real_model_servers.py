"""Our own model server behind a deployment: both protocols, both addresses, and a model that cannot be loaded."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from resolute.client.client import Client

ECHO = ["python3", "-m", "resolute.serving.replica", "--source", ".", "--load", "resolute.serving.echo:load_echo"]


@pytest.fixture
def client(deployer: Any, tmp_path: Path) -> Any:
    client = Client(deployer.master.url, env={"XDG_CONFIG_HOME": str(tmp_path)})
    yield client
    client.close()


def test_a_deployment_answers_in_both_protocols_and_at_every_address(client: Client, tmp_path: Path) -> None:
    serving = {"command": [*ECHO, "--name", "parrot"]}
    made = client.deployments.create("parrot", model_uri=str(tmp_path), serving=serving).wait(timeout_s=60)
    router = made.url.removesuffix("/serving/parrot")
    inputs = [{"name": "x", "shape": [2], "datatype": "INT64", "data": [1, 2]}]

    through_master = made.predict([1, "two"])
    by_host = httpx.get(f"{router}/v2/health/ready", headers={"Host": str(made.data["host"])})
    v2 = httpx.post(f"{made.url}/v2/models/parrot/infer", json={"inputs": inputs})
    unknown = httpx.post(f"{made.url}/v1/models/nope:predict", json={"instances": []})

    assert through_master == [1, "two"]
    assert by_host.status_code == 200
    assert v2.json()["outputs"][0]["data"] == [1, 2]
    assert unknown.status_code == 404


def test_a_folder_that_holds_no_model_fails_with_a_sentence(client: Client, deployer: Any, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    client.deployments.create("empty", model_uri=str(empty))

    after = deployer.until("empty", lambda d: d["state"] == "STATE_FAILED", timeout_s=90)

    reason = after["revisions"][0]["reason"]
    assert "ended 3 times before it was ready" in reason
    assert "Traceback" not in reason
    assert after["revisions"][0]["replicas"] == []
