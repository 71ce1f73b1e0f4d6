"""A model from a stranger reaches nothing outside its replica; what runs code as it is loaded is not loaded."""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
import torch

from resolute.serving.archive import ArchiveParts, write_archive
from resolute.serving.confinement.linux import landlock_version

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or not landlock_version(), reason="needs Linux with Landlock"
)
# Records who unpickles what, in the master's process and in all that it starts.
HOOK = """
import os, sys

def record(event, arguments):
    if event in ("pickle.find_class", "resolute.started"):
        try:
            with open(os.environ["UNPICKLED"], "a") as file:
                file.write(f"{os.getpid()} {event} {arguments}\\n")
        except OSError:
            pass

sys.addaudithook(record)
sys.audit("resolute.started")
"""
HOSTILE = """
import json, os, socket, urllib.request

def tried(what):
    try:
        return str(what())
    except BaseException as problem:
        return type(problem).__name__

def handle(data, context):
    if data is None:
        return None
    plan = data[0]
    return [{
        "secrets": sorted(name for name in os.environ if name.startswith("DET_") or "TOKEN" in name),
        "database": tried(lambda: open(plan["database"], "rb").read(6)),
        "neighbour": tried(lambda: open(plan["neighbour"]).read()),
        "server": tried(lambda: open(f"/proc/{os.getppid()}/environ", "rb").read(6)),
        "kill": tried(lambda: os.kill(os.getppid(), plan["signal"])),
        "master": tried(lambda: urllib.request.urlopen(plan["master"], timeout=5).status),
        "listen": tried(lambda: socket.socket().bind(("127.0.0.1", 0))),
        "mine": tried(lambda: os.path.isdir(context.system_properties["model_dir"])),
    } for _ in data]
"""


@pytest.fixture
def deployer(
    tmp_path: Path, live_master: Any, deployer: Any, end_processes_of: Callable[[Path], None]
) -> Iterator[Any]:
    """Over a master of the test's own, whose every unpickling is recorded."""
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook" / "sitecustomize.py").write_text(HOOK)
    paths = os.pathsep.join([str(tmp_path / "hook"), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    env = {"PYTHONPATH": paths, "UNPICKLED": str(tmp_path / "unpickled")}
    own = type(deployer)(type(live_master)(tmp_path / "home", "--slots", "1", env=env).start())
    yield own
    own.clear()
    own.master.stop()
    own.master.http.close()
    end_processes_of(tmp_path)


def deploy(deployer: Any, name: str, source: Path, **serving: Any) -> dict[str, Any]:
    body = {"name": name, "modelUri": str(source), "serving": serving, "replace": True}
    deployer.master.call("POST", "/api/v1/deployments", json=body)
    return dict(deployer.until(name, lambda d: d["state"] in ("STATE_READY", "STATE_FAILED"), timeout_s=90))


def test_a_hostile_handler_reaches_nothing_but_its_model(deployer: Any, tmp_path: Path) -> None:
    (tmp_path / "handler.py").write_text(HOSTILE)
    parts = ArchiveParts(name="hostile", version="1.0", handler=str(tmp_path / "handler.py"))
    archive = write_archive(parts, tmp_path, now=datetime.now(UTC))
    (tmp_path / "neighbour").write_text("weights of another deployment")
    plan = {
        "database": str(deployer.master.home / "resolute.sqlite3"),
        "neighbour": str(tmp_path / "neighbour"),
        "master": f"{deployer.master.url}/health",
        "signal": signal.SIGKILL,
    }

    ready = deploy(deployer, "hostile", archive)
    got = ask(ready, plan)
    deployer.post("hostile", "update", modelUri=str(archive), serving={"trusted": True})
    deployer.until("hostile", lambda d: d["stableRevision"] == 2, timeout_s=90)
    trusted = ask(ready, {**plan, "signal": 0})

    assert got == {
        "secrets": [],
        **dict.fromkeys(("database", "neighbour", "server", "kill", "listen"), "PermissionError"),
        "master": "URLError",
        "mine": "True",
    }
    assert (trusted["neighbour"], trusted["master"], trusted["secrets"]) == ("weights of another deployment", "200", [])
    assert "no network" in log_of(deployer, ready)


def ask(deployment: dict[str, Any], plan: dict[str, Any]) -> dict[str, Any]:
    answer = httpx.post(f"{deployment['url']}/v1/models/hostile:predict", json={"instances": [plan]}, timeout=60)
    assert answer.status_code == 200, answer.text
    return dict(answer.json()["predictions"][0])


def log_of(deployer: Any, deployment: dict[str, Any]) -> str:
    task = deployment["revisions"][-1]["replicas"][0]["taskId"]
    answer = deployer.master.http.get(f"{deployer.master.url}/api/v1/tasks/{task}/logs")
    return "".join(json.loads(line)["result"]["message"] for line in answer.text.splitlines() if line)


class Bomb:
    def __init__(self, marker: Path) -> None:
        self.marker = str(marker)

    def __reduce__(self) -> Any:
        return os.mkdir, (self.marker,)


@pytest.mark.slow
def test_a_pickle_is_refused_with_its_remedy_and_the_master_never_opens_it(deployer: Any, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "model.py").write_text(
        "from torch import nn\n\nclass Net(nn.Linear):\n    def __init__(self):\n        super().__init__(2, 1)\n"
    )
    torch.save({"model": Bomb(tmp_path / "exploded")}, tmp_path / "model" / "model.pt")

    failed = deploy(deployer, "bomb", tmp_path / "model")

    assert failed["state"] == "STATE_FAILED"
    assert "mkdir` to be run while it is loaded" in failed["revisions"][0]["reason"]
    assert "serving.allow_pickle: true" in failed["revisions"][0]["reason"]
    assert not (tmp_path / "exploded").exists()
    lines = (tmp_path / "unpickled").read_text().splitlines()
    of_master = [line for line in lines if line.startswith(f"{deployer.master.pid} ")]
    assert of_master == [f"{deployer.master.pid} resolute.started ()"]
