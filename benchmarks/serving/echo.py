"""An echo behind our model server and behind its peers: what a server adds to a request.

    RESOLUTE_KSERVE_PYTHON=.../bin/python [RESOLUTE_MLSERVER_PYTHON=...] [RESOLUTE_LITSERVE_PYTHON=...]
    [RESOLUTE_TORCHSERVE_PYTHON=...] python -m benchmarks.serving.echo [--seconds 3] [--rounds 2]

Prints a Markdown table. One load generator for all, on the same machine, one server at a time; rounds alternate between
the contestants and the best of each counts, so that a busy moment hurts nobody for good; processor time is that of the
server and its children. Everybody runs with defaults. V1 carries four floats in an
instance, V2 the same as an FP32 tensor in JSON. LitServe and TorchServe get the V1 body at the address they have.
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
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psutil

from benchmarks.serving.echo_load import Result, Target, measure
from benchmarks.serving.echo_peers import PEERS, Peer, free_port, running, wait_for

VALUES = [1.0, 2.0, 3.0, 4.0]
V1 = json.dumps({"instances": [VALUES]}).encode()
V2 = json.dumps({"id": "1", "inputs": [{"name": "x", "shape": [1, 4], "datatype": "FP32", "data": VALUES}]}).encode()
OURS = Peer("ours", "", "/v1/models/m:predict", "/v2/models/m/infer")
CLIENTS = (1, 32)


@dataclass(frozen=True, slots=True)
class Key:
    contestant: str
    protocol: str
    clients: int


@dataclass(frozen=True, slots=True)
class Figures:
    result: Result
    processor_us: float
    """What a request costs in processor time: a busy machine disturbs it less than the clock."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    print(
        f"{datetime.now(UTC):%Y-%m-%d}, {platform.processor() or platform.machine()}, {os.cpu_count()} cores, "
        f"load before {os.getloadavg()[0]:.1f}, best of {options.rounds} rounds of {options.seconds:g} s\n"
    )
    best: dict[Key, Figures] = {}
    notes: dict[str, str] = {}
    for _ in range(options.rounds):
        for contestant in (OURS, *PEERS):
            if contestant.name not in notes:
                _round(contestant, options.seconds, best, notes)
    _print(best, notes)


def _round(contestant: Peer, seconds: float, best: dict[Key, Figures], notes: dict[str, str]) -> None:
    if contestant is not OURS and not contestant.python:
        notes[contestant.name] = f"left out: {contestant.variable} is not set"
        return
    try:
        with tempfile.TemporaryDirectory() as folder, _started(contestant, Path(folder)) as (port, pid):
            for protocol, path, body in (("V1", contestant.v1_path, V1), ("V2", contestant.v2_path, V2)):
                target = Target(port=port, path=path, body=body)
                if path:
                    wait_for(port, target.request(), Path(folder) / "server.log")
                for clients in CLIENTS if path else ():
                    spent_s = _processor_s(pid)
                    result = measure(target, clients=clients, seconds=seconds, warm_s=0.2)
                    cost = (_processor_s(pid) - spent_s) / len(result.latencies) * seconds / (seconds + 0.2)
                    _keep(best, Key(contestant.name, protocol, clients), Figures(result, cost * 1e6))
    except RuntimeError as problem:
        notes[contestant.name] = f"did not start: {problem}"


def _keep(best: "dict[Key, Figures]", key: Key, figures: "Figures") -> None:
    known = best.setdefault(key, figures)
    result = figures.result if figures.result.rate > known.result.rate else known.result
    best[key] = Figures(result, min(figures.processor_us, known.processor_us))


def _processor_s(pid: int) -> float:
    """Of the server and of all processes it has started."""
    server = psutil.Process(pid)
    times = [process.cpu_times() for process in (server, *server.children(recursive=True))]
    return sum(spent.user + spent.system for spent in times)


@contextmanager
def _started(contestant: Peer, folder: Path) -> Iterator[tuple[int, int]]:
    if contestant is not OURS:
        with running(contestant, folder) as started:
            yield started
        return
    port = free_port()
    command = [sys.executable, "-m", "resolute.serving.replica", "--source", str(folder), "--name", "m"]
    command += ["--load", "resolute.serving.echo:load_echo", "--port", str(port)]
    log = (folder / "server.log").open("wb")
    process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        yield port, process.pid
    finally:
        process.terminate()
        process.wait()
        log.close()


def _print(best: dict[Key, Figures], notes: dict[str, str]) -> None:
    names = ("", "clients", "server", "requests/s", "p50 ms", "p99 ms", "failed", "CPU us/request", "ours is")
    print(f"| {' | '.join(names)} |")
    print("|---" * len(names) + "|")
    for protocol in ("V1", "V2"):
        for clients in CLIENTS:
            ours = best[Key(OURS.name, protocol, clients)]
            for contestant in (OURS, *PEERS):
                figures = best.get(Key(contestant.name, protocol, clients))
                if figures is None:
                    continue
                result = figures.result
                ratio = "" if contestant is OURS else f"{ours.result.rate / result.rate:.1f}x"
                if ratio:
                    ratio += f", {figures.processor_us / ours.processor_us:.1f}x less CPU"
                latency = f"{result.percentile_ms(50):.2f} | {result.percentile_ms(99):.2f}"
                print(
                    f"| {protocol} | {clients} | {contestant.name} | {result.rate:,.0f} | {latency} | "
                    f"{result.failures} | {figures.processor_us:,.0f} | {ratio} |"
                )
    for name, note in notes.items():
        print(f"\n{name}: {note}")


if __name__ == "__main__":
    main()
