"""MLflow: metric points per second over HTTP with `log_batch` of 1,000. Run in the peers' environment."""

import json
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import mlflow
from mlflow.entities import Metric
from mlflow.tracking import MlflowClient

BATCH = 1000


def main() -> None:
    batches = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        store = f"sqlite:///{folder}/mlflow.db"
        server = subprocess.Popen(
            [Path(sys.executable).parent / "mlflow", "server", "--port", str(port), "--backend-store-uri", store],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
        )
        try:
            _wait(f"http://127.0.0.1:{port}/health")
            client = MlflowClient(f"http://127.0.0.1:{port}")
            run = client.create_run(client.create_experiment("bench")).info.run_id
            began = time.time()
            for batch in range(batches):
                now = int(time.time() * 1000)
                client.log_batch(run, [Metric("loss", 1.0, now, batch * BATCH + i) for i in range(BATCH)])
            rate = batches * BATCH / (time.time() - began)
        finally:
            server.terminate()
            server.wait()
    print(json.dumps({"mlflow": mlflow.__version__, "points_per_s": rate}))


def _wait(url: str) -> None:
    for _ in range(600):
        try:
            urllib.request.urlopen(url, timeout=1)
            return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError(url)


main()
