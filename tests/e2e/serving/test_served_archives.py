"""An archive made on the command line, served by a real model server from a TorchServe folder, asked as clients do."""

import base64
import io
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import numpy as np
import pytest
import torch
from PIL import Image

from resolute.serving.archive import ArchiveParts, write_archive

_LIMIT_S = 120
MODEL = """
import torch
from torch import nn

class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.level = nn.Parameter(torch.zeros(()))

    def forward(self, images):
        return [
            {"boxes": torch.tensor([[0.0, 0.0, image.shape[2], image.shape[1]]]), "labels": torch.tensor([1]),
             "scores": self.level.reshape(1)}
            for image in images
        ]
"""
HANDLER = """
from ts.torch_handler.object_detector import ObjectDetector

class LowThreshold(ObjectDetector):
    threshold = 0.05
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("torchserve")
    process = _start(_store(folder), folder)
    try:
        port = json.loads(_soon(folder / "ready.json", process))["port"]
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=_LIMIT_S) as client:
            _until_ready(client, process)
            yield client
    finally:
        process.terminate()
        assert process.wait(_LIMIT_S) == 0


def _store(folder: Path) -> Path:
    parts = {"model-xview.py": MODEL, "fasterrcnn_handler.py": HANDLER, "index_to_name.json": '{"1": "Tower"}'}
    for name, text in parts.items():
        (folder / name).write_text(text)
    torch.save({"level": torch.tensor(0.25)}, folder / "trained_model_stripped.pth")
    store = folder / "store"
    (store / "config").mkdir(parents=True)
    (store / "model-store").mkdir()
    archive = ArchiveParts(
        name="xview-fasterrcnn",
        version="1.0",
        handler=str(folder / "fasterrcnn_handler.py"),
        model_file=folder / "model-xview.py",
        serialized_file=folder / "trained_model_stripped.pth",
        extra_files=str(folder / "index_to_name.json"),
    )
    write_archive(archive, store / "model-store", now=datetime.now(UTC))
    version = {"defaultVersion": True, "marName": "xview-fasterrcnn.mar", "minWorkers": 1, "batchSize": 1}
    snapshot = {"name": "startup.cfg", "modelCount": 1, "models": {"xview-fasterrcnn": {"1.0": version}}}
    (store / "config/config.properties").write_text(f"model_snapshot={json.dumps(snapshot)}\n")
    return store


def _start(store: Path, folder: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "resolute.serving.replica", "--source", str(store), "--name", "xview-fasterrcnn"]
    with (folder / "replica.log").open("wb") as log:
        return subprocess.Popen([*command, "--ready-file", str(folder / "ready.json")], stdout=log, stderr=log)


def _soon(file: Path, process: "subprocess.Popen[bytes]") -> str:
    ends_at = time.monotonic() + _LIMIT_S
    while not file.exists():
        assert process.poll() is None, (file.parent / "replica.log").read_text()
        assert time.monotonic() < ends_at, (file.parent / "replica.log").read_text()
        time.sleep(0.02)
    return file.read_text()


def _until_ready(client: httpx.Client, process: "subprocess.Popen[bytes]") -> None:
    ends_at = time.monotonic() + _LIMIT_S
    while client.get("/v2/health/ready").status_code != 200:
        assert process.poll() is None
        assert time.monotonic() < ends_at, client.get("/v1/models/xview-fasterrcnn").text
        time.sleep(0.05)


def _picture(width: int, height: int) -> bytes:
    target = io.BytesIO()
    Image.fromarray(np.zeros((height, width, 3), np.uint8)).save(target, "JPEG")
    return target.getvalue()


def test_v1_answers_in_the_form_that_detection_clients_read(served: httpx.Client) -> None:
    instances = [{"data": base64.b64encode(_picture(*size)).decode()} for size in ((300, 300), (64, 48))]

    answer = served.post("/v1/models/xview-fasterrcnn:predict", json={"instances": instances})

    assert answer.status_code == 200
    assert answer.json() == {
        "predictions": [
            [{"Tower": [0.0, 0.0, 300.0, 300.0], "score": 0.25}],
            [{"Tower": [0.0, 0.0, 64.0, 48.0], "score": 0.25}],
        ]
    }
    assert list(answer.json()["predictions"][0][0]) == ["Tower", "score"]


def test_v2_answers_typed_tensors(served: httpx.Client) -> None:
    text = base64.b64encode(_picture(64, 48)).decode()
    inputs = [{"name": "image", "shape": [1], "datatype": "BYTES", "data": [text]}]

    answer = served.post("/v2/models/xview-fasterrcnn/infer", json={"id": "7", "inputs": inputs}).json()

    outputs = {row["name"]: row for row in answer["outputs"]}
    assert answer["id"] == "7"
    assert (outputs["boxes"]["datatype"], outputs["boxes"]["shape"]) == ("FP32", [1, 4])
    assert outputs["class_names"]["data"] == ["Tower"]


def test_what_is_no_picture_is_answered_400_and_the_next_request_is_served(served: httpx.Client) -> None:
    path = "/v1/models/xview-fasterrcnn:predict"

    refused = served.post(path, json={"instances": [{"data": "aGFsbG8="}]})

    assert refused.status_code == 400
    assert "instance 0 is not a picture that can be read" in refused.json()["error"]
    good = {"instances": [{"data": base64.b64encode(_picture(8, 8)).decode()}]}
    assert served.post(path, json=good).status_code == 200
