"""A home of an earlier release, written while trials ran and a deployment answered: a master goes on with both."""

import hashlib
import io
import json
import sys
import tarfile
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.contract.store.released.home import Rows, read_home, write_home

MODEL_SERVER = Path(__file__).parents[1] / "deployments/model_server.py"
SCRIPT = b"print('hello from the new release', flush=True)\n"
RUNNING, PAUSED, WAITING, FIRST_IN_LINE = 2, 3, 4, 5


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str | None:
    """None: the file in the home."""
    return request.getfixturevalue("postgres") if request.param == "postgres" else None


def test_a_home_of_the_release_before_jobs_goes_on(make_master: Any, database: str | None, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    write_home(database or f"sqlite:///{home}/resolute.sqlite3", _usable(read_home(), home))

    master = make_master(home, warm=False, db=database)

    # What ran has no processes any more; it runs again, and those that waited follow.
    states = {each: master.wait(each) for each in (RUNNING, FIRST_IN_LINE, WAITING)}
    assert set(states.values()) == {"STATE_COMPLETED"}
    trial = master.trials(RUNNING)[0]
    assert "hello from the new release" in master.log(trial["id"])
    paused = master.experiment(PAUSED)
    assert (paused["state"], paused["config"]["resources"]["priority"]) == ("STATE_PAUSED", 7)
    master.call("POST", f"/api/v1/experiments/{PAUSED}/activate")
    assert master.wait(PAUSED) == "STATE_COMPLETED"
    # The deployment's replicas are gone too; new ones answer.
    deployment = _until_ready(master)
    answer = httpx.post(
        f"{deployment['url']}/v1/models/echo:predict", json={"instances": [1]}, headers=master.headers()
    )
    assert answer.status_code == 200, answer.text


def _usable(rows: Rows, home: Path) -> Rows:
    """With code and a model that are on this machine."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        member = tarfile.TarInfo("train.py")
        member.size = len(SCRIPT)
        archive.addfile(member, io.BytesIO(SCRIPT))
    content = packed.getvalue()
    context_id = hashlib.sha256(content).hexdigest()
    rows["contexts"] = [{"id": context_id, "content": content}]
    for experiment in rows["experiments"]:
        experiment["context_id"] = context_id
        config = json.loads(experiment["config"])
        config["checkpoint_storage"]["host_path"] = str(home / "checkpoints")
        config["resources"]["slots_per_trial"] = 1
        experiment["config"] = json.dumps(config)
    for revision in rows["revisions"]:
        revision["source"] = str(MODEL_SERVER)
        serving = json.loads(revision["serving"])
        revision["serving"] = json.dumps({**serving, "command": [sys.executable, str(MODEL_SERVER)]})
    return rows


def _until_ready(master: Any) -> dict[str, Any]:
    ends_at = time.monotonic() + 60
    while time.monotonic() < ends_at:
        found: dict[str, Any] = master.call("GET", "/api/v1/deployments/echo")["deployment"]
        if found["state"] == "STATE_READY":
            return found
        time.sleep(0.1)
    raise AssertionError(f"the deployment is {found['state']}: {json.dumps(found, indent=1)[:3000]}")
