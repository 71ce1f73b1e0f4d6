"""What `run` and `turns` measure on a master: the first report, short trials, metric points."""

import statistics
import threading
import time
from dataclasses import dataclass
from datetime import datetime

import httpx
import msgspec

from benchmarks.platform.master import Master

ONE = """
name: bench
entrypoint: python3 train.py
searcher: {name: single, metric: loss}
"""
MANY = """
name: bench
entrypoint: python3 train.py
hyperparameters: {x: {type: double, minval: 0.0, maxval: 1.0}}
searcher: {name: random, metric: loss, max_trials: %d, max_concurrent_trials: 2}
"""
REPORT = """
import resolute
with resolute.init() as run:
    run.report("validation", 1, {"loss": 1.0})
"""
BATCH = 1000
METRICS = {f"metric_{n}": 1.0 / (n + 1) for n in range(10)}
"""What a training loop reports at a step: ten values."""


@dataclass(frozen=True)
class ShortTrials:
    per_s: float
    master_ms: float
    """Processor time of the master, per trial."""


def first_report_s(master: Master, repeats: int = 15) -> float:
    """From the submission to the time that the first report carries; the median."""
    times = []
    for _ in range(repeats):
        began = time.time()
        experiment = master.create(ONE, {"train.py": REPORT})
        master.wait(experiment)
        trial = master.get(f"/api/v1/experiments/{experiment}/trials")["trials"][0]
        reported = master.get(f"/api/v1/trials/{trial['id']}/workloads")["workloads"]
        ended = next(w["validation"]["endTime"] for w in reported if w.get("validation"))
        times.append(datetime.fromisoformat(ended).timestamp() - began)
    return statistics.median(times)


def short_trials(master: Master, count: int) -> ShortTrials:
    """Looks seldom whether they are done, because a look costs the master as much as a part of a trial."""
    began, processor_s = time.time(), master.processor_s()
    experiment = master.create(MANY % count, {"train.py": REPORT})
    state = master.wait(experiment, every_s=1.0)
    if state != "STATE_COMPLETED":
        raise RuntimeError(f"Experiment {experiment} ended as {state}; its trials were to complete.")
    used_s = master.processor_s() - processor_s
    ended = master.get(f"/api/v1/experiments/{experiment}")["experiment"]["endTime"]
    return ShortTrials(count / (datetime.fromisoformat(ended).timestamp() - began), 1000 * used_s / count)


def points_per_s(master: Master, clients: int, *, batches: int = 40) -> float:
    """Unmanaged trials, one per client; each request is answered only when its batch is durable."""
    created = master.http.post("/api/v1/experiments", json={"config": ONE, "unmanaged": True, "activate": True}).json()
    trials = [_unmanaged_trial(master, created["experiment"]["id"]) for _ in range(clients)]
    bodies = [_body(batch) for batch in range(batches)]
    threads = [threading.Thread(target=_send, args=(master, trial, bodies)) for trial in trials]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return clients * batches * BATCH * len(METRICS) / (time.perf_counter() - began)


def _unmanaged_trial(master: Master, experiment_id: int) -> int:
    trial = master.http.post(
        "/api/v1/trials", json={"experimentId": experiment_id, "hparams": {}, "unmanaged": True}
    ).json()["trial"]
    master.http.post(f"/api/v1/trials/{trial['id']}/start", json={"trialId": trial["id"], "resume": False})
    return int(trial["id"])


def _body(batch: int) -> bytes:
    first = batch * BATCH + 1
    reports = [
        {"group": "training", "stepsCompleted": step, "trialRunId": 1, "metrics": {"avgMetrics": METRICS}}
        for step in range(first, first + BATCH)
    ]
    return msgspec.json.encode({"reports": reports})


def _send(master: Master, trial_id: int, bodies: list[bytes]) -> None:
    with httpx.Client(base_url=master.url, headers=master.http.headers, timeout=60) as http:
        for body in bodies:
            http.post(f"/api/v1/trials/{trial_id}/metrics/batch", content=body).raise_for_status()
