"""Part 5 of the object detection tutorial, typed as it stands: strip, archive, lay out, apply, ask by host and path.

The detector is tiny; its names, files, manifests and requests are the tutorial's.
"""

import argparse
import base64
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import torch
from PIL import Image

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

class FasterRCNNObjectDetector(ObjectDetector):
    threshold = 0.05
"""
CONFIG = """inference_address=http://0.0.0.0:8085
management_address=http://0.0.0.0:8085
install_py_dep_per_model=true
model_store=/mnt/models/model-store
model_snapshot={"name": "startup.cfg","modelCount": 1,"models": {"xview-fasterrcnn": {"1.0": {"defaultVersion": true,\
"marName": "xview-fasterrcnn.mar","serialized-file":"trained_model_stripped.pth","extra-files":"index_to_name.json",\
"handler":"fasterrcnn_handler.py","minWorkers": 1,"maxWorkers": 5,"batchSize": 1,"maxBatchDelay": 100,\
"responseTimeout": 120}}}}
"""
SERVICE = """apiVersion: "serving.kserve.io/v1beta1"
kind: "InferenceService"
metadata:
  name: "torchserve"
spec:
  predictor:
    pytorch:
      storageUri: pvc://task-pv-claim/
"""
LITERAL = {"Host": "torchserve.default.example.com"}
PATH = "/v1/models/xview-fasterrcnn:predict"


class Typed:
    """Commands in one folder, against one master."""

    def __init__(self, folder: Path, master: Any) -> None:
        self.folder = folder
        self.env = {**os.environ, "RESOLUTE_MASTER": master.url, "RESOLUTE_HOME": str(folder / "client")}

    def __call__(self, *words: str) -> str:
        command = [sys.executable, "-m", "resolute.cli.main", *words]
        done = subprocess.run(command, cwd=self.folder, env=self.env, capture_output=True, text=True, timeout=240)
        assert done.returncode == 0, f"{words}: {done.stdout}\n{done.stderr}"
        return done.stdout


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory, live_master: Any) -> Iterator[Typed]:
    folder = tmp_path_factory.mktemp("tutorial")
    files = {
        "model-xview.py": MODEL,
        "fasterrcnn_handler.py": HANDLER,
        "index_to_name.json": json.dumps({"0": "__background__", "1": "Small Car"}),
        "torch-kserve-pvc.yaml": SERVICE,
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    typed = Typed(folder, live_master)
    yield typed
    live_master.call("DELETE", "/api/v1/deployments/torchserve")
    # Replicas outlive their master by design; a test must not leave them behind.
    ends_at = time.monotonic() + 60
    while "torchserve" in [d["name"] for d in live_master.call("GET", "/api/v1/deployments")["deployments"]]:
        assert time.monotonic() < ends_at
        time.sleep(0.1)


def lay_out(typed: Typed, volume: str, level: float) -> Path:
    """Steps 78 to 82: the reference trainer's checkpoint, stripped, archived, and put where the volume is."""
    state = {"model": {"level": torch.tensor(level)}, "optimizer": {"state": {}}, "lr_scheduler": {"last_epoch": 8}}
    args = argparse.Namespace(dataset="coco", lr=0.02, lr_steps=[16, 22], output_dir=Path("."))
    torch.save({**state, "args": args, "epoch": 8}, typed.folder / "trained_model.pth")
    typed(
        "model", "strip", "--ckpt-path", "trained_model.pth", "--new-ckpt-name", "trained_model_stripped.pth", "--force"
    )
    archive = ["--model-name", "xview-fasterrcnn", "--version", "1.0", "--model-file", "model-xview.py", "--force"]
    archive += ["--serialized-file", "trained_model_stripped.pth", "--handler", "fasterrcnn_handler.py"]
    typed("model", "package", *archive, "--extra-files", "index_to_name.json")
    folder = typed.folder / volume
    (folder / "config").mkdir(parents=True)
    (folder / "model-store").mkdir()
    (folder / "config/config.properties").write_text(CONFIG)
    (folder / "model-store/properties.json").write_text("[]")
    (typed.folder / "xview-fasterrcnn.mar").replace(folder / "model-store/xview-fasterrcnn.mar")
    return folder


def ask(url: str) -> tuple[list[dict[str, Any]], str]:
    picture = io.BytesIO()
    Image.new("RGB", (300, 300)).save(picture, "JPEG")
    data = json.dumps({"instances": [{"data": base64.b64encode(picture.getvalue()).decode()}]}, indent=4)
    answer = httpx.post(f"{url}{PATH}", headers=LITERAL, content=data, timeout=60)
    assert answer.status_code == 200, answer.text
    return answer.json()["predictions"][0], answer.headers["x-resolute-revision"]


def router_of(typed: Typed, live_master: Any) -> str:
    url = str(live_master.call("GET", "/api/v1/deployments/torchserve")["deployment"]["url"])
    return url.partition("/serving/")[0]


def test_the_tutorials_service_answers_at_its_own_host_and_path(typed: Typed, live_master: Any) -> None:
    volume = lay_out(typed, "data", 0.25)

    said = typed("deploy", "create", "-f", "torch-kserve-pvc.yaml", "--volume", f"task-pv-claim={volume}", "--wait")

    url = router_of(typed, live_master)
    predictions, _ = ask(url)
    assert "torchserve" in said
    for each in predictions:
        assert len(list(each.keys())) == 2
        assert next(iter(each)) == "Small Car"
    assert predictions[0]["score"] == pytest.approx(0.25)
    assert httpx.get(f"{url}/v1/models/xview-fasterrcnn", headers=LITERAL).json()["ready"] is True

    newer = lay_out(typed, "newer", 0.75)
    canary = SERVICE.replace("  predictor:\n", "  predictor:\n    canaryTrafficPercent: 30\n")
    (typed.folder / "canary.yaml").write_text(canary.replace("pvc://task-pv-claim/", str(newer)))
    typed("deploy", "create", "-f", "canary.yaml", "--wait")
    scores = [ask(url)[0][0]["score"] for _ in range(20)]
    assert sum(score > 0.5 for score in scores) in (5, 6, 7)

    (typed.folder / "promoted.yaml").write_text(SERVICE.replace("pvc://task-pv-claim/", str(newer)))
    said = typed("deploy", "create", "-f", "promoted.yaml")
    assert "The canary of torchserve takes over" in said
    ends_at = time.monotonic() + 60
    while any(ask(url)[0][0]["score"] < 0.5 for _ in range(5)):
        assert time.monotonic() < ends_at, typed("deploy", "describe", "torchserve")
        time.sleep(0.1)


def test_a_served_folder_answers_under_its_models_own_name(typed: Typed) -> None:
    volume = lay_out(typed, "pv", 0.5)
    command = [sys.executable, "-m", "resolute.cli.main", "serve", str(volume), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            line = next(line for line in process.stdout if line.startswith("Try: "))
        finally:
            process.terminate()

    assert "/v1/models/xview-fasterrcnn:predict" in line
