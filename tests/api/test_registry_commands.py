"""`resolute model`, `resolute dataset` and the SDK behind them, typed against the real app in memory."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from resolute.cli.main import run
from resolute.client.client import Client
from resolute.domain.errors import IllegalTransition, NotFound
from resolute.engine.platform import Platform
from resolute.store.blobs.dataset_files import open_dataset_files


@dataclass
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def platform(platform: Platform) -> Platform:
    return replace(platform, dataset_files=open_dataset_files)


@pytest.fixture(autouse=True)
def settings(api: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("RESOLUTE_MASTER", "http://127.0.0.1:8080")
    monkeypatch.setenv("RESOLUTE_TOKEN", api.headers["Authorization"].removeprefix("Bearer "))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def transport(api: Any) -> httpx.MockTransport:
    """To the app in memory, as if over the network."""

    def forward(request: httpx.Request) -> httpx.Response:
        headers = dict(request.headers)
        answer = api.client.request(request.method, str(request.url), content=request.read(), headers=headers)
        return httpx.Response(answer.status_code, headers=list(answer.headers.items()), content=answer.content)

    return httpx.MockTransport(forward)


@pytest.fixture
def resolute(transport: httpx.MockTransport, capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    def invoke(*arguments: Any) -> Outcome:
        code = run([str(each) for each in arguments], transport=transport)
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return invoke


@pytest.fixture
def client(transport: httpx.MockTransport) -> Client:
    return Client(transport=transport)


@pytest.fixture
def uuid(api: Any) -> str:
    trial = api.running()
    name = str(trial.checkpoint(3, {"model.bin": b"weights"}))
    trial.report("validation", 3, loss=0.25)
    return name


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "tiles"
    (root / "train_images").mkdir(parents=True)
    (root / "train_images" / "1.jpg").write_bytes(b"pixels")
    images = [{"id": 1, "file_name": "1.jpg", "width": 60, "height": 40}]
    boxes = [{"id": 1, "image_id": 1, "bbox": [1, 2, 3, 4], "category_id": 7}]
    content = {"images": images, "annotations": boxes, "categories": [{"id": 7, "name": "Ship"}]}
    (root / "train.json").write_text(json.dumps(content))
    return root


# ---------------------------------------------------------------------------------------------------------- models


def test_a_model_goes_its_way_on_the_command_line(resolute: Any, uuid: str) -> None:
    created = resolute("model", "create", "ship finder", "--description", "finds ships", "--label", "sea")
    empty = resolute("m", "describe", "ship finder")
    registered = resolute("model", "register-version", "ship finder", uuid, "--name", "best")
    resolute("model", "register-version", "ship finder", uuid)
    listed = resolute("model", "list", "--sort-by", "name", "--order-by", "desc")
    described = resolute("model", "describe", "ship finder", "--version", 1)
    versions = resolute("model", "list-versions", "ship finder", "--json")

    assert created.out == "Created model ship finder (id 1)\n"
    assert "finds ships" in empty.out
    assert registered.out == f"Registered checkpoint {uuid} as ship finder, version 1\n"
    assert "sea" in listed.out
    assert f"best  {uuid}" in described.out
    assert '{"loss": 0.25}' in described.out
    assert [each["version"] for each in versions.json] == [2, 1]


def test_stages_archives_and_deletes_on_the_command_line(resolute: Any, uuid: str, tmp_path: Path) -> None:
    resolute("model", "create", "ships")
    resolute("model", "register-version", "ships", uuid)
    resolute("model", "register-version", "ships", uuid)
    resolute("workspace", "create", "lab")

    promoted = resolute("model", "stage", "ships", 1, "production")
    again = resolute("model", "stage", "1", 2, "PRODUCTION", "--json")
    wrong = resolute("model", "stage", "ships", 1, "live")
    stages = [each["stage"] for each in resolute("model", "list-versions", "ships", "--json").json]
    downloaded = resolute("model", "download", "ships", "-o", tmp_path / "files")
    moved = resolute("model", "move", "ships", "-w", "lab", "--json")
    resolute("model", "archive", "ships")
    refused = resolute("model", "register-version", "ships", uuid)
    resolute("model", "unarchive", "ships")
    gone = resolute("model", "delete-version", "ships", 1, "--yes")
    deleted = resolute("model", "delete", "ships", "--yes")

    assert promoted.out == "Version 1 of ships is PRODUCTION\n"
    assert again.json["stage"] == "PRODUCTION"
    assert wrong.code == 2
    assert stages == ["PRODUCTION", "RETIRED"]
    assert downloaded.code == 0
    assert (tmp_path / "files" / "model.bin").read_bytes() == b"weights"
    assert moved.json["workspaceId"] == 2
    assert (refused.code, "is archived and cannot be changed" in refused.err) == (1, True)
    assert (gone.out, deleted.out) == ("Deleted version 1 of model ships\n", "Deleted model ships\n")
    assert resolute("model", "list", "--json").json == []
    assert resolute("model", "describe", "ships").err == (
        "Error: model not found: ships. `resolute model list` lists them.\n"
    )


def test_the_sdk_keeps_models(client: Client, uuid: str, tmp_path: Path) -> None:
    model = client.models.create("ships", labels=["sea"], metadata={"a": 1}, description="d")
    with pytest.raises(NotFound, match="has no version yet"):
        model.version()
    first = model.register_version(client.get_checkpoint(uuid), comment="c", labels=["x"], metadata={"k": 1})
    second = client.models.register_version("ships", uuid, name="second")
    first.set_stage("production")

    assert [each.version for each in model.versions()] == [2, 1]
    assert (first.stage, first.labels, first.metadata) == ("PRODUCTION", ["x"], {"k": 1})
    production = model.in_production()
    assert production is not None
    assert production.version == 1
    assert second.set_stage("PRODUCTION").reload().name == "second"
    assert first.reload().stage == "RETIRED"
    assert (second.download(tmp_path / "got") / "model.bin").read_bytes() == b"weights"
    assert model.update(description="e", labels=[]).reload().description == "e"
    assert (model.labels, model.metadata, client.models.get(model.id).name) == ([], {"a": 1}, "ships")
    model.archive()
    assert model.reload().is_archived
    model.unarchive()
    second.delete()
    model.delete()
    assert list(client.models.list(name="ships")) == []


# -------------------------------------------------------------------------------------------------------- datasets


def test_a_dataset_is_registered_listed_and_forgotten_on_the_command_line(resolute: Any, folder: Path) -> None:
    created = resolute("dataset", "create", "xview", folder, "--description", "tiles")
    again = resolute("dataset", "create", "xview", folder)
    chosen = resolute(
        "dataset", "create", "copy", folder, "--annotations", "train.json", "--images", "train_images",
        "--parent", "xview:1", "--workspace-name", "Uncategorized", "--json",
    )  # fmt: skip
    listed = resolute("dataset", "list", "--name", "xview")
    described = resolute("dataset", "describe", "xview")
    files = resolute("dataset", "files", "xview:1", "--json")
    refused = resolute("dataset", "delete", "xview:1", "--yes")
    deleted = resolute("dataset", "delete", "xview:1", "--yes", "--force")

    assert created.out.startswith("Registered xview:1: 2 files, ")
    assert again.out.startswith("Nothing has changed since xview:1")
    assert (chosen.json["parents"], chosen.json["isNew"]) == (["xview:1"], True)
    assert "xview:1" in listed.out
    assert "copy" not in listed.out
    assert "Ship" in described.out
    assert str(folder) in described.out
    assert [each["path"] for each in files.json] == ["train.json", "train_images/1.jpg"]
    assert (refused.code, "was used by dataset copy:1" in refused.err) == (1, True)
    assert deleted.out == "Deleted dataset xview:1\n"
    assert "There are: copy" in resolute("dataset", "describe", "xview").err


def test_the_sdk_keeps_datasets_and_lineage(client: Client, api: Any, folder: Path) -> None:
    dataset = client.datasets.create("xview", folder)
    config = "entrypoint: x\nsearcher: {name: single, metric: loss}\n"
    experiment = client.get_experiment(api.running(config).experiment_id)

    experiment.use_dataset("xview")

    assert [each.reference for each in experiment.datasets()] == ["xview:1"]
    found = client.datasets.get("xview:latest")
    assert (found.classes, found.annotations, found.images) == ({7: "Ship"}, ["train.json"], ["train_images"])
    assert (found.uri, found.experiments(), found.parents) == (str(folder), [experiment.id], [])
    assert found.created_at is not None
    assert [each["fileName"] for each in found.labelled_images(category_id=7)] == ["1.jpg"]
    assert list(found.labelled_images(category_id=1)) == []
    keys = {node["key"] for node in client.lineage("experiment", experiment.id)["nodes"]}
    assert {"dataset:xview:1", f"experiment:{experiment.id}"} <= keys
    dataset.describe("new")
    assert client.datasets.get("xview").data["description"] == "new"
    with pytest.raises(IllegalTransition, match="was used by experiment"):
        dataset.delete()
    dataset.delete(force=True)
    assert list(client.datasets.list()) == []
