"""From raw imagery to a detector on a live master: two slots, a kill -9, and the same losses after it."""

import base64
import gzip
import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from resolute.vision import load_detector
from resolute.vision.checkpoint import read_record

EXAMPLE = Path(__file__).parents[3] / "examples" / "xview"
BATCHES = 8
CONFIG: dict[str, Any] = {
    "name": "detection",
    "reproducibility": {"experiment_seed": 7},
    "hyperparameters": {
        "model": "ssdlite320_mobilenet_v3_large",
        "min_size": 64,
        "global_batch_size": 4,
        "lr": 0.005,
        "warmup": "linear",
        "warmup_iters": 4,
        "ema": 0.9,
        "data_augmentation": ["hflip", "photometric"],
    },
    "scheduling_unit": 1,
    "min_checkpoint_period": {"batches": 3},
    "searcher": {"name": "single", "metric": "mAP", "smaller_is_better": False, "max_length": {"batches": BATCHES}},
    "resources": {"slots_per_trial": 2},
    "max_restarts": 2,
}
# Rank 1 is killed at its sixth batch, once: the file it leaves says that it happened.
CRASHING = """
import os
import signal
from pathlib import Path

from resolute.vision import DetectionTrial


class Crashing(DetectionTrial):
    def train_batch(self, batch, epoch_idx, batch_idx):
        mark = Path(os.environ["CRASH_MARK"])
        if batch_idx == 5 and self.context.distributed.rank == 1 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().train_batch(batch, epoch_idx, batch_idx)
"""


@pytest.fixture(scope="module")
def tiles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's own preparation, small."""
    out = tmp_path_factory.mktemp("xview")
    command = [sys.executable, str(EXAMPLE / "prepare.py"), "--out", str(out), "--images", "6", "--side", "192"]
    command += ["--objects", "14", "--tile", "64"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return out / "tiles"


def create(live_master: Any, folder: Path, tiles: Path, entrypoint: str, **more: Any) -> int:
    config = {**CONFIG, "entrypoint": entrypoint, **more}
    config["hyperparameters"] = {**CONFIG["hyperparameters"], "data_dir": str(tiles)}
    return int(live_master.create(json.dumps(config), folder))


def finished_trial(live_master: Any, experiment: int) -> dict[str, Any]:
    state = live_master.wait(experiment, timeout_s=240)
    (trial,) = live_master.call("GET", f"/api/v1/experiments/{experiment}/trials")["trials"]
    log = live_master.http.get(f"{live_master.url}/api/v1/trials/{trial['id']}/logs").text
    assert state == "STATE_COMPLETED", log
    return dict(trial)


def losses(live_master: Any, trial: dict[str, Any]) -> dict[int, float]:
    path = f"/api/v1/trials/{trial['id']}/workloads"
    workloads = live_master.call("GET", path, params={"limit": 1000})["workloads"]
    rows = [item["training"] for item in workloads if item.get("training")]
    return {row["totalBatches"]: row["metrics"]["avgMetrics"]["loss"] for row in rows}


def test_a_killed_training_on_two_slots_resumes_to_the_same_losses(
    live_master: Any, tiles: Path, tmp_path: Path
) -> None:
    plain, crashing = tmp_path / "plain", tmp_path / "crashing"
    plain.mkdir()
    crashing.mkdir()
    (plain / "readme.txt").write_text("The entrypoint needs no code.\n")
    (crashing / "model_def.py").write_text(CRASHING)
    mark = tmp_path / "killed"

    whole = create(live_master, plain, tiles, "python3 -m resolute.vision.train")
    undisturbed = finished_trial(live_master, whole)
    killed = create(
        live_master,
        crashing,
        tiles,
        "python3 -m resolute.launch.torch_distributed --trial model_def:Crashing",
        environment={"environment_variables": [f"CRASH_MARK={mark}"]},
    )
    disturbed = finished_trial(live_master, killed)

    assert mark.exists()
    assert sorted(losses(live_master, undisturbed)) == list(range(1, BATCHES + 1))
    assert losses(live_master, disturbed) == losses(live_master, undisturbed)


def test_the_checkpoint_of_an_experiment_is_a_detector(live_master: Any, tiles: Path, tmp_path: Path) -> None:
    (tmp_path / "readme.txt").write_text("The entrypoint needs no code.\n")
    experiment = create(live_master, tmp_path, tiles, "python3 -m resolute.vision.train")
    trial = finished_trial(live_master, experiment)

    uuid = trial["bestCheckpoint"]["uuid"]
    (folder,) = [path for path in live_master.home.rglob(uuid) if path.is_dir()]
    detector = load_detector(folder)
    (found,) = detector.detect([np.zeros((64, 64, 3), np.uint8)])

    assert [row.name for row in detector.classes] == ["Fixed-wing Aircraft", "Small Aircraft", "Cargo Plane"]
    assert "mAP_50" in trial["bestValidation"]["metrics"]["avgMetrics"]
    assert len(found.boxes) == len(found.scores)


def registered(live_master: Any, tiles: Path, name: str) -> str:
    files = sorted(path for path in tiles.rglob("*") if path.is_file() and not path.name.startswith("."))
    rows = [
        {
            "path": path.relative_to(tiles).as_posix(),
            "size": path.stat().st_size,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        for path in files
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows).encode()
    labels = [path.name for path in files if path.name.startswith(("train_", "val_")) and path.suffix == ".json"]
    body = {
        "name": name,
        "uri": str(tiles),
        "manifest": base64.b64encode(gzip.compress(text)).decode(),
        "annotations": labels,
        "images": [label.removesuffix(".json").replace("_", "_images_", 1) for label in labels],
        "classes": json.loads((tiles / labels[0]).read_text())["categories"],
    }
    return str(live_master.call("POST", "/api/v1/datasets", json=body)["dataset"]["reference"])


def test_a_registered_dataset_is_trained_on_and_linked(live_master: Any, tiles: Path, tmp_path: Path) -> None:
    reference = registered(live_master, tiles, "xview-tiles")
    (tmp_path / "readme.txt").write_text("The entrypoint needs no code.\n")
    hparams = {**CONFIG["hyperparameters"], "dataset": reference}
    searcher = {**CONFIG["searcher"], "max_length": {"batches": 1}}
    config = {**CONFIG, "entrypoint": "python3 -m resolute.vision.train", "hyperparameters": hparams}

    experiment = live_master.create(json.dumps({**config, "searcher": searcher}), tmp_path)
    trial = finished_trial(live_master, experiment)

    linked = live_master.call("GET", f"/api/v1/experiments/{experiment}/datasets")["datasets"]
    (folder,) = [path for path in live_master.home.rglob(trial["bestCheckpoint"]["uuid"]) if path.is_dir()]
    assert [each["reference"] for each in linked] == [reference]
    assert read_record(folder).dataset == reference


def test_a_training_without_data_fails_once_with_a_sentence(live_master: Any, tmp_path: Path) -> None:
    (tmp_path / "readme.txt").write_text("The entrypoint needs no code.\n")
    config = {**CONFIG, "entrypoint": "python3 -m resolute.vision.train", "max_restarts": 5}

    experiment = live_master.create(json.dumps(config), tmp_path)
    state = live_master.wait(experiment, timeout_s=120)

    (trial,) = live_master.call("GET", f"/api/v1/experiments/{experiment}/trials")["trials"]
    log = live_master.http.get(f"{live_master.url}/api/v1/trials/{trial['id']}/logs").text
    assert state == "STATE_ERROR"
    assert trial.get("restarts", 0) == 0
    assert "ERROR: Invalid hyperparameters: There is no data_dir" in log
    assert "Traceback" not in log
