"""A registered dataset version says where its files are, and its class table goes into the model."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from resolute.client import Client
from resolute.client.task.fake import FakeTaskMaster
from resolute.domain.errors import InvalidInput, NotFound
from resolute.vision.data.registered import find_dataset
from resolute.vision.detections import ClassName

VERSION: dict[str, Any] = {
    "name": "xview",
    "version": 3,
    "reference": "xview:3",
    "uri": "s3://bucket/xview",
    "annotations": ["train_300_02.json", "val_300_02.json"],
    "images": ["train_images_300_02", "val_images_300_02"],
    "classes": [{"id": 0, "name": "Truck"}, {"id": 4, "name": "Bus"}],
}


def master(asked: list[str], **changes: Any) -> Client:
    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        return httpx.Response(200, json={"dataset": {**VERSION, **changes}})

    return Client("http://127.0.0.1:1", token="t", transport=httpx.MockTransport(answer))


@pytest.mark.parametrize(("reference", "path"), [("xview:3", "xview/3"), ("xview", "xview/latest")])
def test_a_version_is_found_by_its_reference(reference: str, path: str) -> None:
    asked: list[str] = []

    found = find_dataset(reference, master(asked).session)

    assert asked == [f"/api/v1/datasets/{path}"]
    assert (found.reference, found.backend, found.data_dir) == ("xview:3", "s3", "s3://bucket/xview")
    assert (found.train.labels, found.train.images) == ("train_300_02.json", "train_images_300_02")
    assert found.val.labels == "val_300_02.json"
    assert found.classes == (ClassName(0, "Truck"), ClassName(4, "Bus"))


def test_a_folder_is_read_locally() -> None:
    found = find_dataset("xview:3", master([], uri="file:///data/xview").session)

    assert (found.backend, found.data_dir) == ("local", "/data/xview")


def test_a_version_without_labels_to_measure_on_is_refused() -> None:
    client = master([], annotations=["train.json"], images=["train_images"])

    with pytest.raises(InvalidInput, match=r"xview:3 has no label file for val; it has train\.json"):
        find_dataset("xview:3", client.session)


@pytest.fixture
def trial() -> Iterator[FakeTaskMaster]:
    with FakeTaskMaster(answers={"/api/v1/datasets/xview/3": {"dataset": VERSION}}) as running:
        yield running


def test_a_trial_asks_with_its_own_token_and_links_its_experiment(trial: FakeTaskMaster, tmp_path: Path) -> None:
    find_dataset("xview:3", env=trial.env(tmp_path))

    assert trial.calls == [
        ("GET", "/api/v1/datasets/xview/3", None),
        ("POST", "/api/v1/experiments/3/datasets", {"dataset": "xview:3"}),
    ]


def test_looking_without_using_links_nothing(trial: FakeTaskMaster, tmp_path: Path) -> None:
    find_dataset("xview:3", is_used=False, env=trial.env(tmp_path))

    assert trial.paths() == ["/api/v1/datasets/xview/3"]


def test_a_master_that_is_away_is_waited_for(trial: FakeTaskMaster, tmp_path: Path) -> None:
    trial.status = 503
    back = threading.Timer(0.1, lambda: setattr(trial, "status", 200))
    back.start()

    found = find_dataset("xview:3", is_used=False, env=trial.env(tmp_path))

    back.join()
    assert found.reference == "xview:3"


def test_what_the_master_says_reaches_the_user(trial: FakeTaskMaster, tmp_path: Path) -> None:
    trial.answers.clear()
    trial.refusals["/api/v1/datasets/xview/9"] = (404, "There is no xview:9.")

    with pytest.raises(NotFound, match="There is no xview:9"):
        find_dataset("xview:9", env=trial.env(tmp_path))
