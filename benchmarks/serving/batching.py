"""What batching gains for a model on the processor: the same server and clients, one by one and together.

    OMP_NUM_THREADS=1 python -m benchmarks.serving.batching [--seconds 3] [--clients 32]

Prints a Markdown table. Requests are V2 with one binary FP32 row each. A single client is measured with batching on, to
show that it waits for nobody.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from benchmarks.serving.batching_model import INPUTS
from benchmarks.serving.echo_load import Result, Target, measure
from benchmarks.serving.echo_peers import free_port, wait_for

SIZES = (1, 8, 32)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--clients", type=int, default=32)
    options = parser.parse_args()
    print(
        f"{datetime.now(UTC):%Y-%m-%d}, {platform.processor() or platform.machine()}, {os.cpu_count()} cores, "
        f"load before {os.getloadavg()[0]:.1f}\n"
    )
    print("| clients | max_batch_size | requests/s | p50 ms | p99 ms | gain |\n|---|---|---|---|---|---|")
    alone = 0.0
    for size in SIZES:
        with _serving(size) as target:
            if size == SIZES[-1]:
                _print(1, size, measure(target, clients=1, seconds=options.seconds), "")
            result = measure(target, clients=options.clients, seconds=options.seconds)
        alone = alone or result.rate
        _print(options.clients, size, result, f"{result.rate / alone:.1f}x")


def _print(clients: int, size: int, result: Result, gain: str) -> None:
    latency = f"{result.percentile_ms(50):.2f} | {result.percentile_ms(99):.2f}"
    print(f"| {clients} | {size} | {result.rate:,.0f} | {latency} | {gain} |")


@contextmanager
def _serving(size: int) -> Iterator[Target]:
    port = free_port()
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("wb") as log:
        command = [sys.executable, "-m", "resolute.serving.replica", "--source", folder, "--name", "m"]
        command += ["--load", "benchmarks.serving.batching_model:load", "--port", str(port)]
        process = subprocess.Popen([*command, "--max-batch-size", str(size)], stdout=log, stderr=log)
        try:
            target = _target(port)
            wait_for(port, target.request(), Path(folder) / "log")
            yield target
        finally:
            process.terminate()
            process.wait()


def _target(port: int) -> Target:
    """Numbers as memory: reading 784 of them from JSON would take as long as the model does for one row."""
    row = np.random.default_rng(1).standard_normal((1, INPUTS), dtype=np.float32).tobytes()
    tensor = {"name": "x", "shape": [1, INPUTS], "datatype": "FP32", "parameters": {"binary_data_size": len(row)}}
    head = json.dumps({"inputs": [tensor]}).encode()
    return Target(
        port=port,
        path="/v2/models/m/infer",
        body=head + row,
        content_type=f"application/octet-stream\r\ninference-header-content-length: {len(head)}",
    )


if __name__ == "__main__":
    main()
