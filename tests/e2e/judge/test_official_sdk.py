"""The official Python SDK does its work against our master."""

import re
from pathlib import Path
from typing import Any


def test_create_wait_and_download_the_best_checkpoint(sdk: Any, write_config: Any, model: Path, tmp_path: Path) -> None:
    out = sdk("train_and_download.py", write_config(name="by-sdk"), model, tmp_path / "best")

    assert "state COMPLETED" in out
    assert "steps 3" in out
    assert (tmp_path / "best" / "steps.txt").read_text() == "3"


def test_an_experiment_is_read_every_way_there_is(sdk: Any, done: int) -> None:
    out = sdk("look_around.py", done)

    assert "training [(1, 1.0), (2, 0.5), (3, 0.333)]" in out
    assert "validation [(1, 2.0), (2, 1.0), (3, 0.667)]" in out
    assert "best 3" in out
    assert "summary 3" in out
    assert "logs 3" in out
    assert re.search(r"hparams 3", out)


def test_the_official_bindings_parse_every_answer(sdk: Any, done: int, live_master: Any) -> None:
    trial = live_master.call("GET", f"/api/v1/experiments/{done}/trials")["trials"][0]
    checkpoint = live_master.call("GET", f"/api/v1/experiments/{done}/checkpoints")["checkpoints"][0]["uuid"]
    task = live_master.call("GET", f"/api/v1/tasks/{trial['taskId']}")["task"]
    allocation = task["allocations"][0]["allocationId"]

    out = sdk("parse_everything.py", done, trial["id"], checkpoint, task["taskId"], allocation)

    assert re.search(r"parsed (\d+) of \1", out)


def test_a_script_outside_the_platform_reports_its_training(sdk: Any, live_master: Any) -> None:
    sdk("unmanaged.py", "mine", "first")

    trial = live_master.call("GET", "/api/v1/trials/by-external-id/mine/first")["trial"]
    assert trial["state"] == "STATE_COMPLETED"
    assert trial["totalBatchesProcessed"] == 3
    assert trial["summaryMetrics"]["validation_metrics"]["loss"]["count"] == 3
