"""What the SDK's models and datasets send, and how they read the answers. The real app is asked in `tests/api`."""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from resolute import client as door
from resolute.client.client import Client
from resolute.client.datasets import DatasetVersion
from resolute.client.models import Model, ModelVersion
from resolute.domain.errors import NotFound
from resolute.spec import manifest

MODEL = {"id": 3, "name": "old ships", "labels": None, "metadata": None, "archived": False, "numVersions": 1}
VERSION = {"id": 9, "version": 2, "model": MODEL, "checkpoint": {"uuid": "u"}, "stage": "STAGING", "name": "best"}
DATASET = {
    "id": 1,
    "name": "xview",
    "version": 4,
    "contentHash": "aa",
    "uri": "/data",
    "size": "1099511627776",
    "fileCount": "2",
    "classes": [{"id": 7, "name": "Ship"}],
    "createdAt": "2026-01-01T12:00:00.000000Z",
}


class Recorder:
    """Answers what it is told to, and remembers what it was asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str, Any]] = []
        self.answer: dict[str, Any] = {}

    def __call__(self, request: httpx.Request) -> httpx.Response:
        content = request.read()
        self.calls.append((request.method, request.url.raw_path.decode(), json.loads(content) if content else None))
        return httpx.Response(200, json=self.answer)


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def client(recorder: Recorder, tmp_path: Path) -> Client:
    env = {"RESOLUTE_TOKEN": "t", "XDG_CONFIG_HOME": str(tmp_path)}
    return Client("http://fake:8080", env=env, transport=httpx.MockTransport(recorder))


Deed = Callable[[Client], Any]
# Deed, answer, and the call that is expected.
DEEDS: list[tuple[str, Deed, dict[str, Any], tuple[str, str, Any]]] = [
    ("get by name", lambda c: c.models.get("old ships"), {"model": MODEL}, ("GET", "/api/v1/models/old%20ships", None)),
    ("get by id", lambda c: c.models.get(3), {"model": MODEL}, ("GET", "/api/v1/models/3", None)),
    (
        "create",
        lambda c: c.models.create("a", description="d", labels=("l",), workspace="lab"),
        {"model": MODEL},
        (
            "POST",
            "/api/v1/models",
            {
                "name": "a",
                "description": "d",
                "notes": "",
                "labels": ["l"],
                "metadata": {},
                "workspaceName": "lab",
            },
        ),
    ),
    (
        "register",
        lambda c: Model(c.session, MODEL).register_version("u", comment="c"),
        {"modelVersion": VERSION},
        ("POST", "/api/v1/models/3/versions", {"modelName": "old ships", "checkpointUuid": "u", "comment": "c"}),
    ),
    (
        "update",
        lambda c: Model(c.session, MODEL).update(notes="n"),
        {"model": MODEL},
        ("PATCH", "/api/v1/models/3", {"notes": "n"}),
    ),
    ("archive", lambda c: Model(c.session, MODEL).archive(), {}, ("POST", "/api/v1/models/3/archive", None)),
    ("unarchive", lambda c: Model(c.session, MODEL).unarchive(), {}, ("POST", "/api/v1/models/3/unarchive", None)),
    ("delete", lambda c: Model(c.session, MODEL).delete(), {}, ("DELETE", "/api/v1/models/3", None)),
    (
        "one version",
        lambda c: Model(c.session, MODEL).version(2),
        {"modelVersion": VERSION},
        ("GET", "/api/v1/models/3/versions/2", None),
    ),
    (
        "newest version",
        lambda c: Model(c.session, MODEL).version(),
        {"modelVersions": [VERSION]},
        ("GET", "/api/v1/models/3/versions?orderBy=ORDER_BY_DESC&limit=1", None),
    ),
    (
        "stage",
        lambda c: ModelVersion(c.session, VERSION).set_stage("production"),
        {"modelVersion": VERSION},
        ("PATCH", "/api/v1/models/3/versions/2", {"stage": "PRODUCTION"}),
    ),
    (
        "delete version",
        lambda c: ModelVersion(c.session, VERSION).delete(),
        {},
        ("DELETE", "/api/v1/models/3/versions/2", None),
    ),
    ("dataset", lambda c: c.datasets.get("xview:4"), {"dataset": DATASET}, ("GET", "/api/v1/datasets/xview/4", None)),
    ("latest", lambda c: c.datasets.get("xview"), {"dataset": DATASET}, ("GET", "/api/v1/datasets/xview/latest", None)),
    (
        "describe",
        lambda c: DatasetVersion(c.session, DATASET).describe("d"),
        {"dataset": DATASET},
        ("PATCH", "/api/v1/datasets/xview/4", {"description": "d"}),
    ),
    (
        "delete dataset",
        lambda c: DatasetVersion(c.session, DATASET).delete(force=True),
        {},
        ("DELETE", "/api/v1/datasets/xview/4?force=true", None),
    ),
    (
        "lineage",
        lambda c: c.lineage("trial", 3),
        {"nodes": []},
        ("GET", "/api/v1/lineage?kind=trial&id=3", None),
    ),
]


@pytest.mark.parametrize(("deed", "answer", "call"), [each[1:] for each in DEEDS], ids=[each[0] for each in DEEDS])
def test_a_deed_is_one_call(
    client: Client, recorder: Recorder, deed: Deed, answer: dict[str, Any], call: tuple[str, str, Any]
) -> None:
    recorder.answer = answer

    deed(client)

    assert recorder.calls == [call]


def test_a_model_reads_as_plain_values(client: Client) -> None:
    model = Model(client.session, MODEL)

    assert (model.id, model.name, model.description, model.labels, model.metadata) == (3, "old ships", "", [], {})
    assert model.is_archived is False


def test_a_version_reads_as_plain_values(client: Client) -> None:
    version = ModelVersion(client.session, VERSION)

    assert (version.version, version.model_name, version.stage, version.name) == (2, "old ships", "STAGING", "best")
    assert (version.checkpoint.uuid, version.labels, version.metadata) == ("u", [], {})


def test_a_dataset_reads_as_plain_values(client: Client) -> None:
    dataset = DatasetVersion(client.session, DATASET)

    assert (dataset.reference, dataset.size, dataset.file_count) == ("xview:4", 2**40, 2)
    assert (dataset.classes, dataset.annotations, dataset.parents) == ({7: "Ship"}, [], [])
    assert dataset.created_at is not None
    assert dataset.created_at.year == 2026


def test_a_model_without_versions_says_how_to_register_one(client: Client, recorder: Recorder) -> None:
    recorder.answer = {"modelVersions": []}

    with pytest.raises(NotFound, match="resolute model register-version"):
        Model(client.session, MODEL).version()


def test_nothing_may_be_in_production(client: Client, recorder: Recorder) -> None:
    recorder.answer = {"modelVersions": [VERSION], "pagination": {"total": 1, "endIndex": 1}}

    assert Model(client.session, MODEL).in_production() is None


def test_a_folder_is_described_here_and_only_digests_travel(client: Client, recorder: Recorder, tmp_path: Path) -> None:
    folder = tmp_path / "tiles"
    (folder / "images").mkdir(parents=True)
    (folder / "images" / "1.jpg").write_bytes(b"secret pixels")
    images = [{"id": 1, "file_name": "1.jpg", "width": 9, "height": 9}]
    (folder / "train.json").write_text(
        json.dumps({"images": images, "annotations": [], "categories": [{"id": 7, "name": "Ship"}]})
    )
    recorder.answer = {"dataset": DATASET, "isNew": True}

    dataset = client.datasets.create("xview", folder, parents=["raw:1"], uri="s3://bucket/tiles")

    ((method, path, body),) = recorder.calls
    files = manifest.unpack(base64.b64decode(body["manifest"]))
    assert (method, path, dataset.data["isNew"]) == ("POST", "/api/v1/datasets", True)
    assert [file.path for file in files] == ["images/1.jpg", "train.json"]
    assert (body["uri"], body["parents"], body["annotations"]) == ("s3://bucket/tiles", ["raw:1"], ["train.json"])
    assert (body["images"], body["classes"]) == (["images"], [{"id": 7, "name": "Ship"}])
    assert b"secret pixels" not in json.dumps(body).encode()


def test_files_are_fetched_page_by_page(client: Client, recorder: Recorder) -> None:
    recorder.answer = {
        "files": [{"path": "a", "size": "5", "sha256": "x"}],
        "pagination": {"total": 1, "endIndex": 1},
    }

    assert list(DatasetVersion(client.session, DATASET).files()) == [{"path": "a", "size": 5, "sha256": "x"}]


@pytest.mark.parametrize("name", ["create_model", "get_model", "create_dataset", "get_dataset"])
def test_the_package_has_them_at_its_door(name: str) -> None:
    assert callable(getattr(door, name))
