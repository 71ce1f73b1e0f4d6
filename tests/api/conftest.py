"""The whole app over a real store in memory and a runner without processes; tests turn the engine by hand."""

import base64
import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from resolute.engine.access.accounts import Whereabouts, ensure_default_users
from resolute.engine.access.workspaces import ensure_default_workspace
from resolute.engine.jobs.fencing import allocation_token, secret_of
from resolute.engine.loop import prepare, tick
from resolute.engine.platform import MasterConfig, Platform
from resolute.runners.fake import FakeRunner
from resolute.server.app import create_app
from resolute.server.logbook import Logbook
from resolute.store.blobs import open_blobs
from resolute.store.db import open_store
from resolute.store.logs import FileLogs

CONFIG = """
name: digits  # kept as it was written
entrypoint: python3 train.py
searcher: {name: single, metric: loss, max_length: {batches: 10}}
hyperparameters: {lr: 0.1}
max_restarts: 0
"""


@dataclass
class Clock:
    now: datetime = datetime(2026, 1, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@dataclass
class Api:
    """Calls as one user, and hands on the engine and the runner behind the app."""

    client: TestClient
    platform: Platform
    runner: FakeRunner
    clock: Clock
    logbook: Logbook
    headers: dict[str, str] = field(default_factory=dict)

    def call(self, method: str, path: str, body: Any = None, *, expect: int = 200, **options: Any) -> Any:
        content = None if body is None else json.dumps(body)
        headers = {**self.headers, **options.pop("headers", {})}
        answer = self.client.request(method, path, content=content, headers=headers, **options)
        assert answer.status_code == expect, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.headers.get("content-type") == "application/json" else answer

    def get(self, path: str, *, expect: int = 200, **query: Any) -> Any:
        return self.call("GET", path, params=query, expect=expect)

    def post(self, path: str, body: Any = None, *, expect: int = 200) -> Any:
        return self.call("POST", path, body, expect=expect)

    def lines(self, path: str, **query: Any) -> list[dict[str, Any]]:
        answer = self.client.get(path, params=query, headers=self.headers)
        assert answer.status_code == 200, answer.text
        return [json.loads(line)["result"] for line in answer.text.splitlines()]

    def refusal(self, method: str, path: str, body: Any = None, *, expect: int) -> str:
        return str(self.call(method, path, body, expect=expect)["error"]["error"])

    def login(self, username: str, password: str = "") -> "Api":
        answer = self.call("POST", "/api/v1/auth/login", {"username": username, "password": password})
        self.client.cookies.clear()
        headers = {"Authorization": f"Bearer {answer['token']}"}
        return Api(self.client, self.platform, self.runner, self.clock, self.logbook, headers)

    def create(self, config: str = CONFIG, **fields: Any) -> int:
        body = {"config": config, "modelDefinition": [file("train.py", b"print(1)")], "activate": True, **fields}
        return int(self.post("/api/v1/experiments", body)["experiment"]["id"])

    def tick(self, times: int = 2) -> None:
        for _ in range(times):
            self.clock.forward(0.1)
            tick(self.platform, since=self.clock.now - timedelta(hours=1))

    def trial(self, experiment_id: int) -> dict[str, Any]:
        return dict(self.get(f"/api/v1/experiments/{experiment_id}/trials")["trials"][0])

    def running(self, config: str = CONFIG, **fields: Any) -> "Trial":
        """A trial that the fake runner has started, seen from inside."""
        experiment_id = self.create(config, **fields)
        self.tick()
        message = self.trial(experiment_id)
        with self.platform.store.read() as tx:
            allocation = tx.allocations.of_task(message["taskId"])[-1]
            token = allocation_token(secret_of(tx), allocation.id)
        headers = {"Grpc-Metadata-x-allocation-token": f"Bearer {token}"}
        inside = Api(self.client, self.platform, self.runner, self.clock, self.logbook, headers)
        return Trial(inside, experiment_id, message["id"], message["taskId"], allocation.id, allocation.run_id)


@dataclass
class Trial:
    """What a trial's process would send."""

    api: Api
    experiment_id: int
    id: int
    task_id: str
    allocation_id: str
    run_id: int

    def report(self, group: str, steps: int, *, expect: int = 200, run_id: int | None = None, **metrics: Any) -> Any:
        run = self.run_id if run_id is None else run_id
        inner = {"avgMetrics": metrics, "batchMetrics": None}
        report = {"trialId": self.id, "trialRunId": run, "stepsCompleted": steps, "reportTime": None, "metrics": inner}
        body = {"group": group, "metrics": report}
        return self.api.post(f"/api/v1/trials/{self.id}/metrics", body, expect=expect)

    def checkpoint(self, steps: int, files: dict[str, bytes] | None = None) -> str:
        files = files or {"model.bin": b"weights"}
        name = str(uuid.uuid4())
        with self.api.platform.store.read() as tx:
            storage = tx.experiments.get(self.experiment_id).config["checkpoint_storage"]
        for path, content in files.items():
            open_blobs(storage).write(name, path, content)
        body = {
            "uuid": name,
            "state": "STATE_COMPLETED",
            "resources": {path: str(len(content)) for path, content in files.items()},
            "metadata": {"steps_completed": steps},
            "training": {},
            "taskId": self.task_id,
            "allocationId": self.allocation_id,
            "reportTime": None,
        }
        self.api.post("/api/v1/checkpoints", body)
        return name

    def exit(self, code: int = 0) -> None:
        self.api.runner.finish(self.allocation_id, code)
        self.api.tick()


def file(path: str, data: bytes, **fields: Any) -> dict[str, Any]:
    encoded = base64.b64encode(data).decode()
    entry = {"path": path, "type": 48, "content": encoded, "mtime": "0", "mode": 33188, "uid": 0, "gid": 0}
    return {**entry, **fields}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def runner() -> FakeRunner:
    return FakeRunner(2)


@pytest.fixture
def platform(tmp_path: Path, clock: Clock, runner: FakeRunner) -> Iterator[Platform]:
    store = open_store("sqlite://")
    platform = Platform(
        store=store,
        runner=runner,
        logs=FileLogs(tmp_path / "logs"),
        blobs=open_blobs,
        clock=clock,
        config=MasterConfig(
            home=tmp_path,
            cluster_id="c1",
            checkpoint_storage={"type": "shared_fs", "host_path": str(tmp_path / "checkpoints")},
        ),
    )
    ensure_default_users(platform)
    ensure_default_workspace(platform)
    prepare(platform)
    yield platform
    store.close()


@pytest.fixture
def app_options() -> dict[str, Any]:
    """Tests that need another app override this."""
    return {}


@pytest.fixture
def nobody(platform: Platform, runner: FakeRunner, clock: Clock, app_options: dict[str, Any]) -> Iterator[Api]:
    """A caller without a token."""
    logbook = Logbook()
    app = create_app(platform, logbook=logbook, **{"whereabouts": lambda _: Whereabouts.OWN_ACCOUNT, **app_options})
    with TestClient(app, base_url="http://127.0.0.1:8080", client=("127.0.0.1", 50000)) as client:
        yield Api(client, platform, runner, clock, logbook)


@pytest.fixture
def api(nobody: Api) -> Api:
    return nobody.login("determined")


@pytest.fixture
def admin(nobody: Api) -> Api:
    return nobody.login("admin")


@pytest.fixture
def make_file() -> Any:
    return file
