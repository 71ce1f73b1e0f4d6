"""Calls per second of `run.report` beside its peers: python -m benchmarks.training.report_rate [PEER_PYTHON]

Ours reports to a master in another process over HTTP; peers write to their own local stores (W&B offline, Trackio,
MLflow to SQLite), in PEER_PYTHON's environment where they are installed.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CALLS = 200_000
_MASTER = """
import sys, pathlib, json
from resolute.client.task.fake import FakeTaskMaster
with FakeTaskMaster() as master:
    print(json.dumps(master.env(pathlib.Path(sys.argv[1]))), flush=True)
    sys.stdin.read()
"""
_PEER = """
import os, sys, time, tempfile
os.environ.update(WANDB_MODE="offline", WANDB_SILENT="true", TRACKIO_DIR=tempfile.mkdtemp())
os.chdir(tempfile.mkdtemp())
name, calls = sys.argv[1], int(sys.argv[2])
if name == "wandb":
    import wandb
    log = wandb.init(project="bench", dir=os.getcwd()).log
elif name == "trackio":
    import trackio
    trackio.init(project="bench")
    log = trackio.log
else:
    import mlflow
    mlflow.set_tracking_uri("sqlite:///mlflow.db")
    mlflow.start_run()
    log = mlflow.log_metrics
start = time.perf_counter()
for i in range(calls):
    log({"loss": 1.0}, step=i)
print(calls / (time.perf_counter() - start), flush=True)
os._exit(0)
"""


def ours() -> None:
    from resolute.training.core import init

    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", _MASTER, folder]
        master = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
        assert master.stdout is not None
        os.environ.update(json.loads(master.stdout.readline()))
        with init() as run:
            metrics = {"loss": 1.0}
            start = time.perf_counter()
            for step in range(CALLS):
                run.report("training", step, metrics)
            rate = CALLS / (time.perf_counter() - start)
            run.flush()
            durable = CALLS / (time.perf_counter() - start)
            times = []
            for step in range(50_000):
                begin = time.perf_counter_ns()
                run.report("training", CALLS + step, metrics)
                times.append(time.perf_counter_ns() - begin)
        master.communicate("")
    times.sort()
    p99 = times[int(len(times) * 0.99)] / 1e3
    rates = f"{rate:,.0f} calls/s (acknowledged {durable:,.0f}/s)"
    print(f"resolute: {rates}, p50 {times[25_000] / 1e3:.2f} us, p99 {p99:.2f} us")


def peer(python: str, name: str, calls: int) -> None:
    done = subprocess.run([python, "-c", _PEER, name, str(calls)], capture_output=True, text=True)
    if done.returncode:
        print(f"{name}: not measured ({done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'failed'})")
        return
    print(f"{name}: {float(done.stdout.strip().splitlines()[-1]):,.0f} calls/s")


def main() -> None:
    ours()
    python = sys.argv[1] if len(sys.argv) > 1 else str(Path(".venv-peers/bin/python"))
    for name, calls in (("wandb", 20_000), ("trackio", 20_000), ("mlflow", 100)):
        peer(python, name, calls)


if __name__ == "__main__":
    main()
