"""User code written for Determined's harness, unchanged, on a live master with the official package."""

from pathlib import Path
from typing import Any

import pytest

HARNESS = Path(__file__).parent / "harness"
JUDGE = Path(__file__).parents[3] / ".venv-judge" / "bin" / "python"
SEARCHER = "searcher: {name: single, metric: accuracy, smaller_is_better: false, max_length: {batches: 32}}"


def finish(live_master: Any, config: str, timeout_s: float = 120) -> dict[str, Any]:
    experiment = live_master.create(config, HARNESS)
    state = live_master.wait(experiment, timeout_s=timeout_s)
    (trial,) = live_master.call("GET", f"/api/v1/experiments/{experiment}/trials")["trials"]
    logs = live_master.http.get(f"{live_master.url}/api/v1/trials/{trial['id']}/logs").text
    assert state == "STATE_COMPLETED", logs
    return {**trial, "logs": logs}


@pytest.mark.skipif(not JUDGE.exists(), reason="the official client is not installed: make .venv-judge/.ready")
def test_core_api_code_reports_checkpoints_and_continues_after_a_kill(live_master: Any) -> None:
    trial = finish(
        live_master,
        f"""
name: core_api
entrypoint: python3 core_api.py
environment: {{python: {JUDGE}}}
hyperparameters: {{width: 3}}
{SEARCHER}
max_restarts: 2
""",
    )

    assert trial["restarts"] == 1
    assert trial["totalBatchesProcessed"] == 10
    assert trial["bestValidation"]["metrics"]["avgMetrics"]["accuracy"] == 1.0
    assert "hparam 3" in trial["logs"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("entrypoint", "slots"),
    [
        ("model_def:QuarterTrial", 1),
        ("python3 -m determined.launch.torch_distributed --trial model_def:QuarterTrial", 2),
    ],
)
def test_a_pytorch_trial_trains_under_the_official_harness(live_master: Any, entrypoint: str, slots: int) -> None:
    trial = finish(
        live_master,
        f"""
name: pytorch_trial
entrypoint: {entrypoint}
environment:
  requirements: ["determined==0.38.1", "tensorboard"]
hyperparameters: {{lr: 0.01, global_batch_size: 16}}
resources: {{slots_per_trial: {slots}}}
{SEARCHER}
scheduling_unit: 8
min_validation_period: {{batches: 16}}
max_restarts: 0
""",
        timeout_s=290,
    )

    assert trial["totalBatchesProcessed"] == 32
    assert trial["bestValidation"]["metrics"]["avgMetrics"]["accuracy"] > 0.9


@pytest.mark.slow
def test_the_keras_callback_checkpoints_and_continues_after_a_death(live_master: Any) -> None:
    trial = finish(
        live_master,
        """
name: keras_callback
entrypoint: python3 keras_fit.py
environment:
  requirements: ["determined==0.38.1", "tensorflow-cpu==2.14.1"]
searcher: {name: single, metric: accuracy, smaller_is_better: false, max_length: {epochs: 4}}
max_restarts: 2
""",
        timeout_s=290,
    )

    assert trial["restarts"] == 1
    assert trial["totalBatchesProcessed"] == 4 * 8
    assert trial["bestValidation"]["metrics"]["avgMetrics"]["accuracy"] > 0.9
