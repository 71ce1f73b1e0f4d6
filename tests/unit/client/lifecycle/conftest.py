"""A master in memory that also keeps models and deployments, and plays trials to their end at once."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from resolute.client import Client
from resolute.client.configuration import as_dict
from resolute.client.fake import Call, FakeMaster
from resolute.client.lifecycle.model import Model
from resolute.lifecycle import Config

Json = dict[str, Any]
WEIGHTS = b"weights"


@dataclass
class PlayingMaster(FakeMaster):
    """Every experiment that is created has already ended as `outcome`, with one trial for each of `results`."""

    outcome: str = "COMPLETED"
    results: list[float] = field(default_factory=lambda: [0.9])
    exports: bool = True
    models: dict[str, list[Json]] = field(default_factory=dict)
    deployments: dict[str, Json] = field(default_factory=dict)
    fails_to_start: str = ""
    """The reason why a new revision fails; empty: it is ready at once."""
    starts_as: str = "STATE_READY"
    takes_over: bool = True
    leaving: int = 0
    """How often a deleted deployment is still listed."""

    def config(self, number: int = 1) -> Json:
        """Of an experiment, as it was sent."""
        return as_dict(self.created()[number - 1].body["config"])

    def created(self) -> list[Any]:
        return [call for call in self.calls if (call.method, call.path) == ("POST", "/api/v1/experiments")]

    def answer(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if "/api/v1/models" in path or "/api/v1/deployments" in path:
            body = json.loads(request.read() or b"null")
            for pattern, handler in _MORE:
                if match := re.fullmatch(pattern, f"{request.method} {path}"):
                    self.calls.append(Call(request.method, path, {}, body, None))
                    return handler(self, body, *match.groups())
        answer = super().answer(request)
        if (request.method, path) == ("POST", "/api/v1/experiments") and answer.status_code == 200:
            self._play(answer.json()["experiment"]["id"], json.loads(request.read()))
        return answer

    def _play(self, number: int, sent: Json) -> None:
        config = as_dict(sent["config"])
        experiment = self.experiments[number]
        experiment |= {"state": f"STATE_{self.outcome}", "name": config["name"], "config": config}
        experiment["labels"] = config["labels"]
        order = config["data"]["lifecycle"]
        for result in self.results:
            trial_id = len(self.trials) + 1
            hparams = {name: f"{name}@{trial_id}" for name in order["flags"]}
            state = "COMPLETED" if self.outcome == "COMPLETED" else "ERROR"
            self.add_trial(trial_id, experiment_id=number, state=state, searcherMetricValue=result, hparams=hparams)
            self.logs[trial_id] = ["Epoch 1", "Epoch 2"]
            if self.exports and self.outcome == "COMPLETED":
                self._add_export(trial_id, result, order)

    def _add_export(self, trial_id: int, result: float, order: Json) -> None:
        files = {"model.pt": WEIGHTS, "model.py": b"code", "serving.json": b"{}"}
        # The fake sorts by smaller values; these searches look for larger ones.
        checkpoint = self.add_checkpoint(f"uuid-{trial_id}", trial_id=trial_id, metric=-result, files=files)
        facts = {"exported": ["model.pt"], "serving_digest": order["serving_digest"]}
        checkpoint["metadata"] = {"steps_completed": 2, "lifecycle": facts}
        checkpoint["training"]["validationMetrics"] = {"avgMetrics": {"accuracy": result, "recording": 2}}


def _get_model(fake: PlayingMaster, body: Any, name: str) -> httpx.Response:
    if name not in fake.models:
        return httpx.Response(404, json={"error": {"code": 5, "error": f"model not found: {name}"}})
    return httpx.Response(200, json={"model": {"id": 1, "name": name}})


def _add_model(fake: PlayingMaster, body: Any) -> httpx.Response:
    fake.models[body["name"]] = []
    return httpx.Response(200, json={"model": {"id": 1, "name": body["name"]}})


def _add_version(fake: PlayingMaster, body: Any) -> httpx.Response:
    name = body["modelName"]
    fake.models[name].append(body)
    return httpx.Response(200, json={"modelVersion": _version(fake, name, len(fake.models[name]))})


def _get_versions(fake: PlayingMaster, body: Any) -> httpx.Response:
    name = next(iter(fake.models))
    versions = [_version(fake, name, number) for number in range(len(fake.models[name]), 0, -1)]
    return httpx.Response(200, json={"modelVersions": versions})


def _get_version(fake: PlayingMaster, body: Any, number: str) -> httpx.Response:
    return httpx.Response(200, json={"modelVersion": _version(fake, next(iter(fake.models)), int(number))})


def _version(fake: PlayingMaster, name: str, number: int) -> Json:
    sent = fake.models[name][number - 1]
    checkpoint = fake.checkpoints.get(sent["checkpointUuid"], {})
    model = {"id": 1, "name": name}
    return {"version": number, "model": model, "metadata": sent.get("metadata"), "checkpoint": checkpoint}


def _all_deployments(fake: PlayingMaster, body: Any) -> httpx.Response:
    listed = list(fake.deployments.values())
    if fake.leaving:
        fake.leaving -= 1
        listed.append({"name": "dev-mnist", "state": "STATE_DELETING"})
    return httpx.Response(200, json={"deployments": listed})


def _get_deployment(fake: PlayingMaster, body: Any, name: str) -> httpx.Response:
    if name not in fake.deployments:
        return httpx.Response(404, json={"error": {"code": 5, "error": f"deployment not found: {name}"}})
    return httpx.Response(200, json={"deployment": fake.deployments[name]})


def _deploy(fake: PlayingMaster, body: Any) -> httpx.Response:
    url = f"http://router/serving/{body['name']}"
    empty = {"name": body["name"], "state": "STATE_READY", "url": url, "revisions": []}
    deployment = fake.deployments.setdefault(body["name"], empty)
    deployment |= {"stableRevision": _add_revision(fake, deployment, body), "sent": body}
    deployment |= {"canaryRevision": None, "canaryPercent": 0}
    return httpx.Response(200, json={"deployment": deployment, "apiKey": "k"})


def _add_revision(fake: PlayingMaster, deployment: Json, body: Json) -> int:
    number = len(deployment["revisions"]) + 1
    source = f"model:{body['model']}" if "model" in body else body["modelUri"]
    state = "STATE_FAILED" if fake.fails_to_start else fake.starts_as
    deployment["revisions"].insert(
        0, {"number": number, "source": source, "state": state, "reason": fake.fails_to_start}
    )
    return number


def _act(fake: PlayingMaster, body: Any, name: str, verb: str) -> httpx.Response:
    deployment = fake.deployments[name]
    if verb == "canary":
        if "model" in body or "modelUri" in body:
            deployment["canaryRevision"] = _add_revision(fake, deployment, body)
        deployment["canaryPercent"] = body["percent"]
    if verb == "promote" and fake.takes_over:
        deployment["stableRevision"] = deployment["canaryRevision"]
    if verb in ("promote", "rollback"):
        deployment |= {"canaryRevision": None, "canaryPercent": 0}
    return httpx.Response(200, json={"deployment": deployment})


def _delete(fake: PlayingMaster, body: Any, name: str) -> httpx.Response:
    del fake.deployments[name]
    return httpx.Response(200, json={})


_MORE: list[tuple[str, Callable[..., httpx.Response]]] = [
    (r"GET /api/v1/models/([\w-]+)", _get_model),
    (r"POST /api/v1/models", _add_model),
    (r"POST /api/v1/models/1/versions", _add_version),
    (r"GET /api/v1/models/1/versions", _get_versions),
    (r"GET /api/v1/models/1/versions/(\d+)", _get_version),
    (r"GET /api/v1/deployments", _all_deployments),
    (r"POST /api/v1/deployments", _deploy),
    (r"GET /api/v1/deployments/([\w-]+)", _get_deployment),
    (r"POST /api/v1/deployments/([\w-]+)/(\w+)", _act),
    (r"DELETE /api/v1/deployments/([\w-]+)", _delete),
]


@pytest.fixture
def master() -> PlayingMaster:
    slot = {"enabled": True, "device": {"type": "TYPE_CPU"}}
    return PlayingMaster(lists={"agents": [{"id": "a", "enabled": True, "slots": {"0": slot, "1": slot}}]})


@pytest.fixture
def client(master: PlayingMaster, tmp_path: Path) -> Client:
    env = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "RESOLUTE_MASTER": "http://fake:8080"}
    return Client(env=env, transport=master.transport())


@pytest.fixture
def base_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    (folder / "datasets" / "MNIST").mkdir(parents=True)
    (folder / "datasets" / "MNIST" / "train").write_bytes(b"pictures")
    (folder / "trainer.py").write_text("print('trains')\n")
    (folder / "model.py").write_text("class Net: ...\n")
    (folder / "requirements.txt").write_text("# nothing more\n")
    return folder


@pytest.fixture
def config(client: Client, base_dir: Path, tmp_path: Path) -> Config:
    return Config(base_dir=base_dir, base_model_storage_uri=tmp_path / "models", client=client, interval_s=0.0)


@pytest.fixture
def make(config: Config) -> Callable[..., Model]:
    def make(**changes: Any) -> Model:
        given: Json = {
            "id": "dev/mnist",
            "name": "MNIST",
            "description": "digits",
            "version": "0.0.1",
            "framework": "pytorch",
            "framework_version": "2.0",
            "main_file": "trainer.py",
            "extra_files": ["datasets/MNIST", "model.py"],
            "requirements": "requirements.txt",
            "serving_config": {"model_file": "model.py", "handler": "image_classifier"},
            "config": config,
        }
        return Model(**{**given, **changes})

    return make


@pytest.fixture
def model(make: Callable[..., Model]) -> Model:
    return make()
