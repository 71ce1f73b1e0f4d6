"""`make bench`: the platform core beside Ray Tune and MLflow, in one run, as ratios. Prints a Markdown table."""

import argparse
import json
import statistics
import subprocess
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import msgspec

from benchmarks.platform.master import Master, running_master
from benchmarks.platform.start import Start, in_empty_homes, in_one_home

PEERS = Path(__file__).parent / "peers"
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


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers-python", default=".venv-peers/bin/python")
    parser.add_argument("--trials", type=int, default=200)
    arguments = parser.parse_args()
    rows: list[tuple[str, str, str, str]] = []
    ray = _peer(arguments.peers_python, "ray_tune.py")
    mlflow = _peer(arguments.peers_python, "mlflow_ingest.py")
    ready_s = {name: _ready(starts) for name, starts in (("empty home", in_empty_homes), ("known home", in_one_home))}
    with running_master() as master:
        rows += [(f"platform ready after start, {home}", f"{ready:.2f} s", "-", "-") for home, ready in ready_s.items()]
        time.sleep(8)
        rows.append(("resident memory of the idle master", f"{master.rss_mb():.0f} MB", "-", "-"))
        first = _first_report(master)
        rows.append(
            _row("submit to first report, warm, p50", first, "s", ray, "first_report_s", "Ray Tune", smaller=True)
        )
        rate = _trials_per_s(master, arguments.trials)
        rows.append(
            _row(f"{arguments.trials} no-op trials on 2 slots", rate, "trials/s", ray, "trials_per_s", "Ray Tune")
        )
        for clients in (1, 4):
            points = _ingest(master, clients)
            name = f"durable metric points over HTTP, {clients} client{'s' * (clients > 1)}"
            rows.append(_row(name, points, "points/s", mlflow, "points_per_s", "MLflow log_batch"))
    _print(rows)


def _ready(starts: Callable[[int], list[Start]]) -> float:
    return statistics.median(start.wall_s for start in starts(5))


def _first_report(master: Master, repeats: int = 15) -> float:
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


def _trials_per_s(master: Master, count: int) -> float:
    began = time.perf_counter()
    experiment = master.create(MANY % count, {"train.py": REPORT})
    state = master.wait(experiment, every_s=0.1)
    assert state == "STATE_COMPLETED", state
    return count / (time.perf_counter() - began)


def _ingest(master: Master, clients: int, *, batches: int = 40) -> float:
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


def _peer(python: str, script: str) -> dict[str, Any]:
    if not Path(python).exists():
        return {}
    done = subprocess.run([python, str(PEERS / script)], capture_output=True, text=True, timeout=600, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return dict(json.loads(lines[-1])) if lines else {}


def _row(
    what: str, ours: float, unit: str, peer: dict[str, Any], key: str, name: str, *, smaller: bool = False
) -> tuple[str, str, str, str]:
    text = f"{ours:.3f} {unit}" if ours < 10 else f"{ours:,.0f} {unit}"
    if key not in peer:
        return what, text, "not measured", "-"
    theirs = float(peer[key])
    ratio = theirs / ours if smaller else ours / theirs
    shown = f"{theirs:.3f} {unit}" if theirs < 10 else f"{theirs:,.0f} {unit}"
    version = peer.get("ray") or peer.get("mlflow")
    return what, text, f"{name} {version}: {shown}", f"{ratio:.1f}x"


def _print(rows: list[tuple[str, str, str, str]]) -> None:
    print(f"\n{datetime.now(UTC):%Y-%m-%d}\n\n| what | Resolute | peer | ratio |\n|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
