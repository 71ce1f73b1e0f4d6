"""Every example, on a live master: what a new user runs first must work as it stands."""

from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[3] / "examples"


def run(live_master: Any, name: str, *, replace: tuple[str, str] = ("", ""), timeout_s: float = 180) -> dict[str, Any]:
    """Run examples/<name> to its end; its single trial, or the best of many."""
    config = (EXAMPLES / name).read_text()
    assert replace[0] in config
    experiment = live_master.create(config.replace(*replace), (EXAMPLES / name).parent)
    state = live_master.wait(experiment, timeout_s=timeout_s)
    path = f"/api/v1/experiments/{experiment}/trials?sortBy=SORT_BY_BEST_VALIDATION_METRIC"
    trials = live_master.call("GET", path)["trials"]
    assert state == "STATE_COMPLETED", live_master.http.get(
        f"{live_master.url}/api/v1/trials/{trials[0]['id']}/logs"
    ).text
    return {"trials": trials, "best": trials[0], "experiment": experiment}


def metric_of(trial: dict[str, Any], name: str) -> float:
    return float(trial["bestValidation"]["metrics"]["avgMetrics"][name])


def test_the_quickstart_script_learns_and_leaves_a_checkpoint(live_master: Any) -> None:
    done = run(live_master, "quickstart/const.yaml")

    assert metric_of(done["best"], "accuracy") > 0.9
    assert done["best"]["totalBatchesProcessed"] == 200
    assert done["best"]["bestCheckpoint"]["uuid"]


def test_a_killed_quickstart_continues_from_its_checkpoint(live_master: Any) -> None:
    done = run(live_master, "quickstart/crash.yaml")

    assert done["best"]["restarts"] == 1
    assert metric_of(done["best"], "accuracy") > 0.9


def test_the_quickstart_search_tries_twelve_and_finds_a_good_one(live_master: Any) -> None:
    done = run(live_master, "quickstart/search.yaml")

    lengths = {trial["totalBatchesProcessed"] for trial in done["trials"]}
    assert len(done["trials"]) == 12
    assert metric_of(done["best"], "accuracy") > 0.9
    assert len(lengths) > 1, "poor trials should have been stopped early"


@pytest.mark.parametrize("name", ["const.yaml", "distributed.yaml", "script.yaml"])
def test_digits_train_as_a_class_on_two_slots_and_as_a_script(live_master: Any, name: str) -> None:
    done = run(live_master, f"mnist_pytorch/{name}")

    assert metric_of(done["best"], "accuracy") > 0.6
    assert done["best"]["totalBatchesProcessed"] == 96


def test_an_unmodified_torchrun_script_runs_on_two_slots_of_the_master(live_master: Any) -> None:
    done = run(live_master, "ddp_script/distributed.yaml")

    logs = live_master.http.get(f"{live_master.url}/api/v1/trials/{done['best']['id']}/logs").text
    assert "rank 1 of 2" in logs


def test_iris_runs_on_two_slots(live_master: Any) -> None:
    done = run(live_master, "iris/distributed.yaml", replace=("batches: 5000", "batches: 40"))

    assert done["best"]["totalBatchesProcessed"] == 40


def test_an_adaptive_search_stops_trials_as_its_yaml_stands(live_master: Any) -> None:
    done = run(live_master, "iris/adaptive.yaml", replace=("batches: 5000", "batches: 64"))

    lengths = sorted(trial["totalBatchesProcessed"] for trial in done["trials"])
    assert set(lengths) == {16, 64}
    assert lengths.count(16) >= 3


@pytest.mark.slow
def test_iris_reaches_95_percent(live_master: Any) -> None:
    done = run(live_master, "iris/const.yaml", timeout_s=290)

    assert metric_of(done["best"], "val_categorical_accuracy") >= 0.95


@pytest.mark.slow
def test_the_iris_search_finds_95_percent(live_master: Any) -> None:
    done = run(live_master, "iris/adaptive.yaml", replace=("batches: 5000", "batches: 800"), timeout_s=290)

    assert len(done["trials"]) == 6
    assert metric_of(done["best"], "val_categorical_accuracy") >= 0.95
