"""From a folder of labels to a registered model, by real processes; then kill -9, and all of it is still there."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

CONFIG = """
name: reads its data
entrypoint: python3 reader.py
max_restarts: 0
searcher: {name: single, metric: loss, max_length: {batches: 1}}
data: {dataset: tiles}
"""


def write_set(root: Path, name: str) -> Path:
    (root / "images").mkdir(parents=True)
    (root / "images" / f"{name}.jpg").write_bytes(name.encode())
    content = {
        "images": [{"id": 1, "file_name": f"{name}.jpg", "width": 8, "height": 8}],
        "annotations": [{"id": 1, "image_id": 1, "bbox": [1, 1, 2, 2], "category_id": 7}],
        "categories": [{"id": 7, "name": "Ship"}],
    }
    (root / "train.json").write_text(json.dumps(content))
    return root


def resolute(master: Any, tmp_path: Path, *arguments: str) -> Any:
    env = {**os.environ, "RESOLUTE_MASTER": master.url, "XDG_CONFIG_HOME": str(tmp_path / "config")}
    command = [sys.executable, "-m", "resolute.cli.main", *arguments, "--json"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
    return json.loads(done.stdout)


def test_data_models_and_what_joins_them_outlive_the_master(make_master: Any, tmp_path: Path) -> None:
    master = make_master(tmp_path / "home", warm=False)
    resolute(master, tmp_path, "dataset", "create", "tiles", str(write_set(tmp_path / "tiles", "a")))
    resolute(master, tmp_path, "dataset", "create", "extra", str(write_set(tmp_path / "extra", "b")))
    experiment = master.create(CONFIG, "reader.py")
    assert master.wait(experiment) == "STATE_COMPLETED", master.log(master.trials(experiment)[0]["id"])
    (checkpoint,) = master.call("GET", f"/api/v1/experiments/{experiment}/checkpoints")["checkpoints"]
    master.call("POST", "/api/v1/models", json={"name": "ships"})
    registered = resolute(master, tmp_path, "model", "register-version", "ships", checkpoint["uuid"])
    resolute(master, tmp_path, "model", "stage", "ships", "1", "production")

    master.kill()
    master.start()

    downloaded = resolute(master, tmp_path, "model", "download", "ships", "-o", str(tmp_path / "model"))
    found = master.call("GET", "/api/v1/lineage?kind=model_version&id=ships/1")
    assert registered["version"] == downloaded["version"] == 1
    assert json.loads((tmp_path / "model" / "classes.json").read_text()) == [{"id": 7, "name": "Ship"}]
    assert [node["state"] for node in found["nodes"] if node["kind"] == "model_version"] == ["PRODUCTION"]
    assert {node["key"] for node in found["nodes"]} >= {
        "dataset:tiles:1",
        "dataset:extra:1",
        f"experiment:{experiment}",
    }
    assert master.call("GET", "/api/v1/datasets/tiles/1")["experimentIds"] == [experiment]
