"""kill -9 of the master, again and again: nothing acknowledged is lost, nothing runs twice, nobody restarts."""

import random
import time
from pathlib import Path

import pytest

KILLS = 50
CONFIG = """
name: steady
entrypoint: python3 steady.py
max_restarts: 0
hyperparameters: {{x: {{type: double, minval: 0.0, maxval: 1.0}}}}
searcher: {{name: random, metric: loss, max_trials: 6, max_concurrent_trials: 2}}
environment: {{environment_variables: [STEADY_STEPS={steps}, STEADY_RECORD={record}]}}
"""


@pytest.mark.timeout(900)
def test_killing_the_master_fifty_times_costs_nothing(make_master, tmp_path: Path) -> None:
    # Loading torch fifty times would only slow the test down: these trials do without.
    master = make_master(tmp_path / "home", warm=False)
    record = tmp_path / "record"
    record.mkdir()
    dice = random.Random(7)
    experiment = master.create(CONFIG.format(steps=400, record=record), "steady.py")

    for _ in range(KILLS):
        time.sleep(dice.uniform(0.0, 0.6))
        master.kill()
        master.start()
    state = master.wait(experiment, timeout_s=240)

    assert state == "STATE_COMPLETED"
    trials = master.trials(experiment)
    assert [trial["restarts"] for trial in trials] == [0] * 6
    starts = (record / "starts").read_text().split()
    assert sorted(starts) == sorted(f"{trial['id']}.1" for trial in trials)
    for trial in trials:
        assert _acknowledged(record, trial["id"]) <= _stored(master, trial["id"])


def _acknowledged(record: Path, trial_id: int) -> set[tuple[int, float]]:
    lines = (record / f"{trial_id}.1.acked").read_text().splitlines()
    return {(int(step), float(value)) for step, value in (line.split() for line in lines)}


def _stored(master, trial_id: int) -> set[tuple[int, float]]:
    points: set[tuple[int, float]] = set()
    for group in ("training", "validation"):
        answer = master.call(
            "GET",
            f"/api/v1/trials/{trial_id}/workloads",
            params={"limit": 100000, "metricType": f"METRIC_TYPE_{group.upper()}"},
        )
        for item in answer["workloads"]:
            found = item.get(group)
            if found:
                points.add((int(found["totalBatches"]), float(found["metrics"]["avgMetrics"]["loss"])))
    return points
