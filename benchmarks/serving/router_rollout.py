"""Ten thousand requests and more while a deployment is canaried, promoted, rolled back, scaled, hurt and restarted.

    python -m benchmarks.serving.router_rollout

A master of its own, real model servers with the echo model, clients in a process of their own that never stop. Prints
one line per step and what the clients saw; then from zero replicas to the first answer, cold and warm.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx

from resolute.client.client import Client
from resolute.client.deployments import Deployment

REQUESTS = 10_000
COMMAND = ["python3", "-m", "resolute.serving.replica", "--source", ".", "--name", "echo", "--no-request-log"]
SERVING = {"command": [*COMMAND, "--load", "resolute.serving.echo:load_echo"]}


class Master:
    def __init__(self, home: Path) -> None:
        self._home = home
        self._process: subprocess.Popen[str] | None = None
        self.url = ""

    def start(self) -> "Master":
        command = [sys.executable, "-m", "resolute.cli.main", "up", "--port", "0", "--home", str(self._home)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        found = re.search(r"ready at (http://\S+)", self._process.stdout.readline())
        assert found is not None
        self.url = found[1]
        return self

    def end(self, kind: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(kind)
        self._process.wait(timeout=30)


@contextlib.contextmanager
def clients_of(url: str, count: int = 8) -> Iterator[Callable[[], dict[str, Any]]]:
    command = [sys.executable, "-m", "benchmarks.serving.router_load", url, "--clients", str(count)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def stop() -> dict[str, Any]:
        output, _ = process.communicate(timeout=60)
        return dict(json.loads(output))

    try:
        yield stop
    finally:
        process.kill()
        process.wait()


def until(is_so: Callable[[], bool], timeout_s: float = 120.0) -> float:
    started = time.monotonic()
    while not is_so():
        if time.monotonic() - started > timeout_s:
            raise TimeoutError("the step did not finish")
        time.sleep(0.05)
    return time.monotonic() - started


def asked(deployment: Deployment) -> int:
    return sum(point["requests"] for point in deployment.stats(3600)["points"])


def steps(master: Master, client: Client, deployment: Deployment, model: str) -> Iterator[tuple[str, float]]:
    def state() -> dict[str, Any]:
        return deployment.reload().data

    def share(number: int) -> float:
        return float(next(r for r in state()["revisions"] if r["number"] == number)["trafficPercent"])

    deployment.canary(30, model_uri=model, serving=SERVING)
    yield "canary ready at 30 %", until(lambda: share(2) == 30.0)
    yield "2,000 requests", until(lambda: asked(deployment) > 2000)
    deployment.promote()
    yield "promoted", until(lambda: state()["stableRevision"] == 2)
    deployment.rollback()
    yield "rolled back", until(lambda: state()["stableRevision"] == 1)
    deployment.scale(min_replicas=2, max_replicas=2)
    yield "scaled to 2", until(lambda: sum(r["replicasReady"] for r in state()["revisions"]) == 2)
    os.kill(pid_of_a_replica_of_stable(deployment), signal.SIGKILL)
    yield "a replica killed", until(lambda: state()["state"] == "STATE_DEGRADED")
    yield "and replaced", until(lambda: state()["state"] == "STATE_READY")
    deployment.scale(min_replicas=1, max_replicas=1)
    yield "scaled to 1", until(lambda: sum(len(r["replicas"]) for r in state()["revisions"]) == 1)
    yield f"{REQUESTS} requests", until(lambda: asked(deployment) > REQUESTS)


def pid_of_a_replica_of_stable(deployment: Deployment) -> int:
    data = deployment.reload().data
    stable = next(r for r in data["revisions"] if r["number"] == data["stableRevision"])
    return _listener(int(stable["replicas"][0]["address"].rpartition(":")[2]))


def _listener(port: int) -> int:
    wanted = f":{port:04X} 00000000:0000 0A"
    line = next(line for line in Path("/proc/net/tcp").read_text().splitlines() if wanted in line)
    inode = f"socket:[{line.split()[9]}]"
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if any(os.readlink(link) == inode for link in (entry / "fd").iterdir()):
                    return int(entry.name)
    raise LookupError(f"nobody listens at {port}")


def from_zero(client: Client, model: str) -> None:
    scaling = {"min_replicas": 0, "max_replicas": 1, "idle_s": 1}
    made = client.deployments.create("zero", model_uri=model, serving=SERVING, scaling=scaling)
    made.wait()
    for _ in range(3):
        until(lambda: made.reload().state == "SCALED_TO_ZERO" and not made.revisions[0]["replicas"])
        started = time.monotonic()
        httpx.post(f"{made.url}/v1/models/echo:predict", json={"instances": [1]}, timeout=60).raise_for_status()
        print(json.dumps({"from_zero_s": round(time.monotonic() - started, 2)}), flush=True)
    made.delete()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        master = Master(Path(folder) / "home").start()
        client = Client(master.url)
        made = client.deployments.create("echo", model_uri=folder, serving=SERVING)
        try:
            made.wait()
            with clients_of(f"{made.reload().url}/v1/models/echo:predict") as stop:
                for name, seconds in steps(master, client, made, folder):
                    print(f"{name:24} {seconds:6.2f} s", flush=True)
                print(json.dumps(stop()), flush=True)
            from_zero(client, folder)
        finally:
            for each in client.deployments.all():
                each.delete()
            until(lambda: not client.deployments.all())
            (router,) = [json.loads(p.read_text())["pid"] for p in Path(folder).glob("home/router/router.json")]
            master.end(signal.SIGTERM)
            os.kill(router, signal.SIGTERM)


if __name__ == "__main__":
    main()
