"""Datasets over HTTP: registered by content, looked into, linked to experiments, and where they lead."""

import base64
import gzip
import hashlib
import io
import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from resolute.engine.platform import Platform
from resolute.store.blobs.dataset_files import open_dataset_files

DATASETS = "/api/v1/datasets"


@pytest.fixture
def platform(platform: Platform) -> Platform:
    return replace(platform, dataset_files=open_dataset_files)


def jpeg(width: int = 60, height: int = 40) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, height), "red").save(out, "JPEG")
    return out.getvalue()


def coco(names: list[str]) -> bytes:
    """One box of category 0 in every image, and one of category 7 in the first."""
    images = [{"id": n, "file_name": name, "width": 60, "height": 40} for n, name in enumerate(names, 1)]
    boxes = [
        {"id": n, "image_id": n, "bbox": [1, 2, 3.5, 4], "category_id": 0, "area": 14} for n in range(1, len(names) + 1)
    ]
    boxes.append({"id": 99, "image_id": 1, "bbox": [5, 5, 5, 5], "category_id": 7})
    categories = [{"id": 0, "name": "Plane"}, {"id": 7, "name": "Ship"}]
    return json.dumps({"images": images, "annotations": boxes, "categories": categories}).encode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "tiles"
    (root / "train_images").mkdir(parents=True)
    for n in range(1, 4):
        (root / "train_images" / f"{n}.jpg").write_bytes(jpeg(60 + n))
    (root / "train.json").write_bytes(coco(["1.jpg", "2.jpg", "3.jpg"]))
    (root / "page.html").write_text("<script>alert(1)</script>")
    return root


def manifest_of(root: Path) -> list[dict[str, Any]]:
    paths = sorted(path for path in root.rglob("*") if path.is_file())
    return [
        {
            "path": path.relative_to(root).as_posix(),
            "size": path.stat().st_size,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        for path in paths
    ]


def packed(files: list[dict[str, Any]]) -> str:
    return base64.b64encode(gzip.compress("\n".join(map(json.dumps, files)).encode())).decode()


def body_of(root: Path, name: str = "xview", **fields: Any) -> dict[str, Any]:
    body = {
        "name": name,
        "uri": str(root),
        "manifest": packed(manifest_of(root)),
        "annotations": ["train.json"],
        "images": ["train_images"],
        "classes": [{"id": 0, "name": "Plane"}, {"id": 7, "name": "Ship"}],
        "statistics": {"images": 3},
    }
    return {**body, **fields}


def register(api: Any, root: Path, **fields: Any) -> dict[str, Any]:
    return dict(api.post(DATASETS, body_of(root, **fields))["dataset"])


def grow(root: Path) -> None:
    (root / "train_images" / "more.jpg").write_bytes(jpeg(99))


# -------------------------------------------------------------------------------------------------------- register


def test_a_version_shows_what_was_registered(api: Any, folder: Path) -> None:
    answer = api.post(DATASETS, body_of(folder, description="d"))

    dataset = answer["dataset"]
    assert answer["isNew"] is True
    assert (dataset["name"], dataset["version"], dataset["reference"]) == ("xview", 1, "xview:1")
    assert (dataset["fileCount"], int(dataset["size"])) == ("5", sum(f["size"] for f in manifest_of(folder)))
    assert dataset["classes"] == [{"id": 0, "name": "Plane"}, {"id": 7, "name": "Ship"}]
    assert (dataset["annotations"], dataset["images"]) == (["train.json"], ["train_images"])
    assert (dataset["username"], dataset["description"], dataset["statistics"]) == ("determined", "d", {"images": 3})
    assert len(dataset["contentHash"]) == 64
    assert api.get(f"{DATASETS}/xview/1") == {"dataset": dataset, "experimentIds": [], "children": []}


def test_the_same_content_is_the_same_version_whatever_the_order(api: Any, folder: Path) -> None:
    first = register(api, folder)
    shuffled = packed(manifest_of(folder)[::-1])

    again = api.post(DATASETS, body_of(folder, manifest=shuffled, description="other"))
    grow(folder)
    second = api.post(DATASETS, body_of(folder))

    assert again == {"dataset": first, "isNew": False}
    assert (second["dataset"]["version"], second["isNew"]) == (2, True)


def test_versions_are_listed_newest_first_and_found_by_latest(api: Any, folder: Path) -> None:
    register(api, folder)
    grow(folder)
    register(api, folder)
    register(api, folder, name="xview-small")

    def names(**query: Any) -> list[str]:
        return [each["reference"] for each in api.get(DATASETS, **query)["datasets"]]

    assert names() == ["xview-small:1", "xview:2", "xview:1"]
    assert names(name="SMALL") == ["xview-small:1"]
    assert names(workspaceId=9) == []
    assert names(limit=1, offset=1) == ["xview:2"]
    versions = api.get(f"{DATASETS}/xview")
    assert [each["version"] for each in versions["versions"]] == [2, 1]
    assert api.get(f"{DATASETS}/xview/latest")["dataset"]["version"] == 2


BAD: list[tuple[dict[str, Any], str]] = [
    ({"name": ""}, "cannot be called ''"),
    ({"name": "a b"}, "cannot be called 'a b'"),
    ({"name": "a:1"}, "cannot be called"),
    ({"uri": "relative/folder"}, "no place that the master can read"),
    ({"uri": "ftp://x"}, "no place that the master can read"),
    ({"manifest": "%%"}, "it is not base64"),
    ({"manifest": "QUJD"}, "is not gzip"),
    ({"manifest": packed([{"path": "a", "size": 1, "sha256": "xyz"}])}, "64 lower-case hex digits"),
    ({"manifest": packed([{"path": "../a", "size": 1, "sha256": "0" * 64}])}, "no path inside the set"),
    ({"annotations": ["val.json"]}, "'val.json' is not in the manifest"),
    ({"images": ["a", "b"]}, "2 image folders for 1 label files"),
    ({"images": ["val_images"]}, "the manifest has no file in 'val_images'"),
    ({"classes": [{"id": 1, "name": "a"}, {"id": 1, "name": "b"}]}, "id 1 is given to 'a' and to 'b'"),
    ({"classes": [{"id": 1, "name": " "}]}, "class 1 has no name"),
]


def test_bad_input_is_refused_and_nothing_is_stored(api: Any, folder: Path, subtests: pytest.Subtests) -> None:
    for fields, part in BAD:
        with subtests.test(fields=fields):
            assert part in api.refusal("POST", DATASETS, body_of(folder, **fields), expect=400)

    assert api.get(DATASETS)["datasets"] == []


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ({"parents": ["raw:1"]}, "dataset not found: raw. There are: none yet"),
        ({"workspaceId": 9}, "workspace not found: 9"),
    ],
)
def test_what_it_belongs_to_must_be_there(api: Any, folder: Path, fields: dict[str, Any], part: str) -> None:
    assert part in api.refusal("POST", DATASETS, body_of(folder, **fields), expect=404)


def test_parents_and_children_know_each_other(api: Any, folder: Path) -> None:
    register(api, folder, name="raw")
    grow(folder)

    child = register(api, folder, name="tiles", parents=["raw:1", "raw"])

    assert child["parents"] == ["raw:1"]
    assert api.get(f"{DATASETS}/raw/1")["children"] == ["tiles:1"]


def test_a_version_that_is_not_there_is_told_with_those_that_are(api: Any, folder: Path) -> None:
    register(api, folder)

    assert "xview:2. There are: xview:1." in api.refusal("GET", f"{DATASETS}/xview/2", expect=404)
    assert "dataset not found: dota. There are: xview." in api.refusal("GET", f"{DATASETS}/dota", expect=404)
    assert "xview:newest names no dataset" in api.refusal("GET", f"{DATASETS}/xview/newest", expect=400)


def test_the_description_changes_and_nothing_else_does(api: Any, folder: Path) -> None:
    before = register(api, folder)

    after = api.call("PATCH", f"{DATASETS}/xview/1", {"description": "new", "uri": "/elsewhere"})["dataset"]

    assert after == {**before, "description": "new"}
    assert api.call("PATCH", f"{DATASETS}/xview/1", {})["dataset"] == after


# ------------------------------------------------------------------------------------------------------ look inside


def test_files_come_in_pages(api: Any, folder: Path) -> None:
    register(api, folder)

    answer = api.get(f"{DATASETS}/xview/1/files", offset=1, limit=2)

    assert [file["path"] for file in answer["files"]] == ["train.json", "train_images/1.jpg"]
    assert answer["pagination"] == {"offset": 1, "limit": 2, "startIndex": 1, "endIndex": 3, "total": 5}
    assert len(api.get(f"{DATASETS}/xview/1/files")["files"]) == 5


def test_images_come_with_their_boxes(api: Any, folder: Path) -> None:
    register(api, folder)

    answer = api.get(f"{DATASETS}/xview/1/images", limit=1)
    ships = api.get(f"{DATASETS}/xview/latest/images", category_id=7)

    (image,) = answer["images"]
    assert (image["fileName"], image["path"], image["width"]) == ("1.jpg", "train_images/1.jpg", 60)
    assert image["boxes"][0] == {"id": 1, "bbox": [1, 2, 3.5, 4], "categoryId": 0, "area": 14, "iscrowd": 0}
    assert answer["pagination"]["total"] == 3
    assert [each["fileName"] for each in ships["images"]] == ["1.jpg"]
    assert "It has: 0 (train.json)" in api.refusal("GET", f"{DATASETS}/xview/1/images?annotationIndex=1", expect=404)


def test_a_picture_is_shown_small_or_as_it_is(api: Any, folder: Path) -> None:
    register(api, folder)
    content = f"{DATASETS}/xview/1/images/content?path="

    small = api.call("GET", f"{content}train_images/1.jpg&maxSize=32")
    whole = api.call("GET", f"{content}train_images/1.jpg")
    page = api.call("GET", f"{content}page.html")

    assert Image.open(io.BytesIO(small.content)).size == (32, 21)
    assert (small.headers["content-type"], whole.headers["content-type"]) == ("image/jpeg", "image/jpeg")
    assert whole.content == (folder / "train_images" / "1.jpg").read_bytes()
    assert page.headers["content-type"] == "application/octet-stream"
    assert page.headers["content-disposition"] == "attachment"


def test_only_files_of_the_manifest_are_given_out(api: Any, folder: Path, subtests: pytest.Subtests) -> None:
    register(api, folder)

    for path in ("../home", "/etc/passwd", "train_images/../train.json", "nothing.jpg", ""):
        with subtests.test(path=path):
            refused = api.refusal("GET", f"{DATASETS}/xview/1/images/content?path={path}", expect=404)
            assert "has no file" in refused


def test_a_manifest_cannot_be_used_to_read_what_one_does_not_know(api: Any, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"12345678")
    guess = packed([{"path": "secret", "size": 8, "sha256": "0" * 64}])
    api.post(DATASETS, {"name": "spy", "uri": str(tmp_path), "manifest": guess})

    refused = api.refusal("GET", f"{DATASETS}/spy/1/images/content?path=secret", expect=404)

    assert "is not what was registered" in refused


def test_files_that_changed_or_went_are_told_apart(api: Any, folder: Path) -> None:
    register(api, folder)
    content = f"{DATASETS}/xview/1/images/content?path=train_images/"
    (folder / "train_images" / "1.jpg").write_bytes(b"longer" * 1000)
    (folder / "train_images" / "2.jpg").unlink()

    changed = api.refusal("GET", f"{content}1.jpg", expect=404)
    gone = api.refusal("GET", f"{content}2.jpg", expect=404)

    assert "has 6000 bytes" in changed
    assert "is not in" in gone


@pytest.mark.parametrize(
    ("query", "part"),
    [("path=train.json&maxSize=64", "cannot be shown"), ("path=train_images/1.jpg&maxSize=9999", "16 to 4096")],
)
def test_what_cannot_be_a_thumbnail_is_refused(api: Any, folder: Path, query: str, part: str) -> None:
    register(api, folder)

    assert part in api.refusal("GET", f"{DATASETS}/xview/1/images/content?{query}", expect=400)


def test_a_label_file_that_is_none_is_told(api: Any, folder: Path) -> None:
    (folder / "train.json").write_text('{"images": [{"id": "one"}]}')
    register(api, folder)

    assert "train.json is JSON, but not a COCO label file" in api.refusal(
        "GET", f"{DATASETS}/xview/1/images", expect=400
    )


def test_label_files_are_read_once(api: Any, folder: Path) -> None:
    register(api, folder)
    api.get(f"{DATASETS}/xview/1/images")
    (folder / "train.json").unlink()

    assert len(api.get(f"{DATASETS}/xview/1/images")["images"]) == 3


# ------------------------------------------------------------------------------------------------------ experiments

CONFIG = "entrypoint: x\nsearcher: {name: single, metric: loss}\n"


EXACT: list[tuple[str, Any, set[str]]] = [
    ("xview", "xview:2", {"xview:2"}),
    ('"xview:latest"', "xview:2", {"xview:2"}),
    ('"xview:1"', "xview:1", {"xview:1"}),
    ("[xview, 'xview:1']", ["xview:2", "xview:1"], {"xview:1", "xview:2"}),
    ("{own: thing}", {"own": "thing"}, set()),
    ("[1, 2]", [1, 2], set()),
]


def test_a_configuration_names_exact_versions_once_submitted(api: Any, folder: Path, subtests: pytest.Subtests) -> None:
    register(api, folder)
    grow(folder)
    register(api, folder)

    for wanted, exact, linked in EXACT:
        with subtests.test(wanted=wanted):
            experiment_id = api.create(f"{CONFIG}data: {{dataset: {wanted}, other: 1}}\n")

            config = api.get(f"/api/v1/experiments/{experiment_id}")["experiment"]["config"]
            found = api.get(f"/api/v1/experiments/{experiment_id}/datasets")["datasets"]
            assert config["data"] == {"dataset": exact, "other": 1}
            assert {each["reference"] for each in found} == linked


def test_an_experiment_on_a_dataset_that_is_not_there_is_refused(
    api: Any, folder: Path, subtests: pytest.Subtests
) -> None:
    register(api, folder)

    for reference in ("nothing", "xview:9", "xview:new"):
        with subtests.test(reference=reference):
            body = {"config": f"{CONFIG}data: {{dataset: '{reference}'}}\n", "modelDefinition": [], "activate": True}
            refused = api.refusal("POST", "/api/v1/experiments", body, expect=400)
            assert refused.startswith("config: data.dataset: ")
            assert "xview" in refused

    assert api.get("/api/v1/experiments")["experiments"] == []


def test_a_running_trial_links_what_it_reads(api: Any, folder: Path) -> None:
    register(api, folder)
    trial = api.running()
    path = f"/api/v1/experiments/{trial.experiment_id}/datasets"

    for _ in range(2):
        assert trial.api.post(path, {"dataset": "xview"})["dataset"]["reference"] == "xview:1"

    assert [each["reference"] for each in trial.api.get(path)["datasets"]] == ["xview:1"]
    assert trial.api.get(f"{DATASETS}/xview/1")["experimentIds"] == [trial.experiment_id]
    trial.api.post("/api/v1/experiments/99/datasets", {"dataset": "xview"}, expect=403)
    assert "There are: xview" in api.refusal("POST", path, {"dataset": "dota"}, expect=404)


def test_a_version_in_use_is_deleted_by_force_only_and_by_its_owner(api: Any, admin: Any, folder: Path) -> None:
    register(api, folder)
    experiment_id = api.create(f"{CONFIG}data: {{dataset: xview}}\n")
    grow(folder)
    admin.post(DATASETS, body_of(folder, parents=["xview:1"]))

    refused = api.refusal("DELETE", f"{DATASETS}/xview/1", expect=400)
    foreign = api.refusal("DELETE", f"{DATASETS}/xview/2", expect=403)
    api.call("DELETE", f"{DATASETS}/xview/1?force=true")

    assert f"was used by experiment {experiment_id}, dataset xview:2" in refused
    assert "belongs to somebody else" in foreign
    assert [each["reference"] for each in api.get(DATASETS)["datasets"]] == ["xview:2"]
    assert api.get(f"{DATASETS}/xview/2")["dataset"]["parents"] == ["deleted:1"]


# --------------------------------------------------------------------------------------------------------- lineage


@pytest.fixture
def chain(api: Any, folder: Path) -> dict[str, str]:
    """raw -> tiles -> experiment -> trial -> checkpoint -> model version."""
    register(api, folder, name="raw")
    grow(folder)
    register(api, folder, name="tiles", parents=["raw:1"])
    trial = api.running(f"{CONFIG}data: {{dataset: tiles}}\n")
    uuid = trial.checkpoint(1)
    other = trial.checkpoint(2)
    api.post("/api/v1/models", {"name": "ships"})
    api.post("/api/v1/models/ships/versions", {"checkpointUuid": uuid})
    return {
        "dataset": "tiles:1",
        "experiment": str(trial.experiment_id),
        "trial": str(trial.id),
        "checkpoint": uuid,
        "model_version": "ships/1",
        "other": other,
    }


@pytest.mark.parametrize("kind", ["checkpoint", "model_version"])
def test_lineage_is_seen_whole_from_the_far_end(api: Any, chain: dict[str, str], kind: str) -> None:
    found = api.get("/api/v1/lineage", kind=kind, id=chain[kind])

    way = ["dataset:raw:1", *(f"{name}:{chain[name]}" for name in list(chain)[:-1])]
    assert {node["key"] for node in found["nodes"]} == set(way)
    assert {(edge["from"], edge["to"]) for edge in found["edges"]} == set(pairwise(way))
    assert found["isTruncated"] is False


@pytest.mark.parametrize("kind", ["dataset", "experiment", "trial"])
def test_lineage_goes_both_ways_from_the_middle(api: Any, chain: dict[str, str], kind: str) -> None:
    found = api.get("/api/v1/lineage", kind=kind, id=chain[kind])

    nodes = {node["key"]: node for node in found["nodes"]}
    assert {"dataset:raw:1", "dataset:tiles:1", "model_version:ships/1", f"checkpoint:{chain['other']}"} <= set(nodes)
    assert nodes["dataset:tiles:1"]["details"]["fileCount"] == 6
    assert nodes["model_version:ships/1"]["state"] == "NONE"


def test_what_was_deleted_since_is_left_out(api: Any, chain: dict[str, str]) -> None:
    api.call("DELETE", f"{DATASETS}/raw/1?force=true")
    api.call("DELETE", "/api/v1/checkpoints", {"checkpointUuids": [chain["other"]]})

    keys = {node["key"] for node in api.get("/api/v1/lineage", kind="dataset", id="tiles:1")["nodes"]}

    assert "dataset:raw:1" not in keys
    assert f"checkpoint:{chain['other']}" not in keys
    assert f"checkpoint:{chain['checkpoint']}" in keys


NOTHING = [
    ("dataset", "nothing:1", 404),
    ("experiment", "99", 404),
    ("experiment", "x", 400),
    ("trial", "99", 404),
    ("checkpoint", "nope", 404),
    ("model_version", "nobody/1", 404),
    ("model_version", "7", 404),
    ("model_version", "x", 400),
    ("deployment", "nobody", 404),
    ("nonsense", "1", 400),
]


def test_lineage_of_nothing_is_refused(api: Any, subtests: pytest.Subtests) -> None:
    for kind, thing_id, status in NOTHING:
        with subtests.test(kind=kind, id=thing_id):
            assert api.refusal("GET", f"/api/v1/lineage?kind={kind}&id={thing_id}", expect=status)
