"""SIGTERM and pause: every rank checkpoints at the same step, leaves with code 0, and a later run takes up there."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from resolute.client.task.fake import FakeTaskMaster

ENDLESS = {"steps": 1_000_000, "checkpoint": 1_000_000, "samples": ""}


def test_sigterm_to_the_launcher_saves_once_and_ends_well(points: str, master: FakeTaskMaster, tmp_path: Path) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("DET_", "RANK", "WORLD"))}
    env = {**clean, **master.env(tmp_path / "storage", DET_SLOT_IDS="[0, 1]"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "resolute.launch.torch_distributed", points]
    process = subprocess.Popen(
        command, env={**env, "PLAN": json.dumps(ENDLESS)}, cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    while not master.reports("training"):
        assert process.poll() is None, process.communicate()[1]

    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=60)

    assert process.returncode == 0, errors
    (saved,) = master.checkpoints.values()
    assert sorted(saved["resources"]) == ["metadata.json", "state-rank0.pt", "state-rank1.pt"]
    assert saved["metadata"]["steps_completed"] >= 1


def test_a_paused_experiment_goes_on_where_it_stopped(live_master: Any, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        """
import resolute

with resolute.init() as run:
    restored = run.checkpoint.restore()
    first = restored.load()["step"] if restored else 0
    print("started at", first)
    step = first
    while step < first + 1_000_000_000 and not (restored and step >= first + 5):
        step += 1
        if step % 1000 == 0 or restored:
            run.report("validation", step, {"accuracy": 0.5})
        if run.should_stop():
            run.checkpoint.save({"step": step}, steps=step)
            break
"""
    )
    config = """
name: paused
entrypoint: python3 train.py
searcher: {name: single, metric: accuracy, max_length: {batches: 1}}
max_restarts: 0
"""
    experiment = live_master.create(config, tmp_path)
    trial = _until_it_reports(live_master, experiment)

    live_master.call("POST", f"/api/v1/experiments/{experiment}/pause")
    live_master.wait(experiment, "STATE_PAUSED")
    _until_no_slot_is_held(live_master, trial)
    live_master.call("POST", f"/api/v1/experiments/{experiment}/activate")

    assert live_master.wait(experiment) == "STATE_COMPLETED"
    logs = live_master.http.get(f"{live_master.url}/api/v1/trials/{trial}/logs").text
    starts = [int(line.split("started at ")[1].split("\\")[0]) for line in logs.splitlines() if "started at" in line]
    assert starts[0] == 0
    assert starts[1] > 0


def _until_it_reports(live_master: Any, experiment: int) -> int:
    for _ in range(100_000):
        trials = live_master.call("GET", f"/api/v1/experiments/{experiment}/trials")["trials"]
        if trials and trials[0]["totalBatchesProcessed"]:
            return int(trials[0]["id"])
    raise AssertionError("the trial never reported")


def _until_no_slot_is_held(live_master: Any, trial: int) -> None:
    for _ in range(100_000):
        if live_master.call("GET", f"/api/v1/trials/{trial}/checkpoints")["checkpoints"]:
            return
    raise AssertionError("the paused trial left no checkpoint")
