"""A registered dataset version says where its files are, and its class table goes into the model."""

from typing import Any

import httpx
import pytest

from resolute.client import Client
from resolute.domain.errors import InvalidInput
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

    found = find_dataset(reference, master(asked))

    assert asked == [f"/api/v1/datasets/{path}"]
    assert (found.reference, found.backend, found.data_dir) == ("xview:3", "s3", "s3://bucket/xview")
    assert (found.train.labels, found.train.images) == ("train_300_02.json", "train_images_300_02")
    assert found.val.labels == "val_300_02.json"
    assert found.classes == (ClassName(0, "Truck"), ClassName(4, "Bus"))


def test_a_folder_is_read_locally() -> None:
    found = find_dataset("xview:3", master([], uri="file:///data/xview"))

    assert (found.backend, found.data_dir) == ("local", "/data/xview")


def test_a_version_without_labels_to_measure_on_is_refused() -> None:
    client = master([], annotations=["train.json"], images=["train_images"])

    with pytest.raises(InvalidInput, match=r"xview:3 has no label file for val; it has train\.json"):
        find_dataset("xview:3", client)
