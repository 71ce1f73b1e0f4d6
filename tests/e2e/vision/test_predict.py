"""From a checkpoint on a real master to detections, by uuid and by the name of a registered model."""

import json
import os
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from resolute.cli.main import run

SCRIPT = """
import resolute, torch
from resolute.vision import build_model
from resolute.vision.checkpoint import DetectorRecord, write_detector
from resolute.vision.detections import ClassName

torch.manual_seed(0)
name = "ssdlite320_mobilenet_v3_large"
with resolute.init() as run:
    model = build_model(name, 3, score_threshold=0.0)
    record = DetectorRecord(
        architecture=name,
        classes=(ClassName(11, "plane"), ClassName(12, "ship")),
        options={"score_threshold": 0.0, "detections_per_image": 5},
    )
    run.report("validation", 1, {"mAP": 0.0})
    with run.checkpoint.store(steps=1) as (folder, uuid):
        write_detector(folder, record, model.state_dict())
"""
CONFIG = """
name: detector
entrypoint: python3 store.py
searcher: {name: single, metric: mAP, smaller_is_better: false, max_length: {batches: 1}}
resources: {slots_per_trial: 1}
max_restarts: 0
"""


@pytest.fixture(scope="module")
def checkpoint(live_master: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The uuid of an untrained detector that a trial stored."""
    folder = tmp_path_factory.mktemp("code")
    (folder / "store.py").write_text(SCRIPT)
    experiment = live_master.create(CONFIG, folder)
    assert live_master.wait(experiment) == "STATE_COMPLETED"
    found = live_master.call("GET", f"/api/v1/experiments/{experiment}/checkpoints")["checkpoints"]
    return str(found[0]["uuid"])


def test_a_checkpoint_predicts_by_uuid_and_by_model_name(
    live_master: Any,
    checkpoint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in list(os.environ):
        if name.startswith(("DET_", "RESOLUTE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("RESOLUTE_MASTER", live_master.url)
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.chdir(tmp_path)
    cv2.imwrite("a.png", np.random.default_rng(0).integers(0, 256, (200, 260, 3), dtype=np.uint8))
    live_master.call("POST", "/api/v1/models", json={"name": "finder"})
    live_master.call("POST", "/api/v1/models/finder/versions", json={"checkpointUuid": checkpoint})
    settings = ("--slice-size", "160", "--score", "0", "--device", "cpu", "--json")

    codes = [run(["predict", "a.png", "--checkpoint", checkpoint, *settings])]
    by_uuid = json.loads(capsys.readouterr().out)["images"][0]
    codes += [run(["predict", "a.png", "--model", "finder", "--no-draw", *settings])]
    by_name = json.loads(capsys.readouterr().out)["images"][0]
    codes += [run(["predict", "a.png", "--model", "finder/1", "--no-draw", *settings])]
    by_version = json.loads(capsys.readouterr().out)["images"][0]

    assert codes == [0, 0, 0]
    assert by_uuid["detections"]
    assert {row["class"] for row in by_uuid["detections"]} <= {"plane", "ship"}
    assert by_name["detections"] == by_version["detections"] == by_uuid["detections"]
    assert (tmp_path / by_uuid["picture"]).exists()
