"""A master with deployments, and clients that never stop asking while a test changes things under them."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
MODEL_SERVER = Path(__file__).with_name("model_server.py")


class Deployer:
    """Calls about deployments, and waiting for what they lead to."""

    def __init__(self, master: Any) -> None:
        self.master = master

    def body(self, **environment: str) -> dict[str, Any]:
        command = [sys.executable, str(MODEL_SERVER)]
        return {"modelUri": str(MODEL_SERVER), "serving": {"command": command, "environment": environment}}

    def create(
        self,
        name: str,
        *,
        environment: dict[str, str] | None = None,
        serving: dict[str, Any] | None = None,
        **fields: Any,
    ) -> dict[str, Any]:
        body = {"name": name, **self.body(**(environment or {})), **fields}
        body["serving"] = {**body["serving"], **(serving or {})}
        return dict(self.master.call("POST", "/api/v1/deployments", json=body))

    def post(self, name: str, what: str, **body: Any) -> dict[str, Any]:
        return dict(self.master.call("POST", f"/api/v1/deployments/{name}/{what}", json=body)["deployment"])

    def get(self, name: str) -> dict[str, Any]:
        return dict(self.master.call("GET", f"/api/v1/deployments/{name}")["deployment"])

    def until(self, name: str, is_so: Callable[[dict[str, Any]], bool], *, timeout_s: float = 40) -> dict[str, Any]:
        ends_at = time.monotonic() + timeout_s
        while time.monotonic() < ends_at:
            found = self.get(name)
            if is_so(found):
                return found
            time.sleep(0.05)
        raise AssertionError(f"not so after {timeout_s} s: {json.dumps(found, indent=1)}\n{self.log()}")

    def until_ready(self, name: str) -> dict[str, Any]:
        return self.until(name, lambda d: d["state"] == "STATE_READY")

    def until_gone(self, name: str, *, timeout_s: float = 40) -> None:
        ends_at = time.monotonic() + timeout_s
        while name in [d["name"] for d in self.master.call("GET", "/api/v1/deployments")["deployments"]]:
            assert time.monotonic() < ends_at, f"{name} is still there"
            time.sleep(0.05)

    def revision(self, name: str, number: int) -> dict[str, Any]:
        return next(r for r in self.get(name)["revisions"] if r["number"] == number)

    def delete(self, name: str) -> None:
        self.master.call("DELETE", f"/api/v1/deployments/{name}")

    def clear(self) -> None:
        """Replicas outlive their master by design; a test must not leave them behind."""
        for each in self.master.call("GET", "/api/v1/deployments")["deployments"]:
            self.delete(each["name"])
            self.until_gone(each["name"])

    def log(self) -> str:
        path = self.master.home / "router" / "router.log"
        return (path.read_text() if path.exists() else "") + self.master.output.read_text()[-3000:]


class Clients:
    """Requests without pause, from another process, until `stop`."""

    def __init__(self, url: str, *, clients: int = 4, headers: tuple[str, ...] = ()) -> None:
        command = [sys.executable, "-m", "benchmarks.serving.router_load", url, "--clients", str(clients)]
        command += [word for line in headers for word in ("--header", line)]
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def stop(self) -> dict[str, Any]:
        output, problems = self._process.communicate(timeout=60)
        assert self._process.returncode == 0, problems.decode()
        return dict(json.loads(output))


@pytest.fixture
def deployer(live_master: Any) -> Iterator[Deployer]:
    deployer = Deployer(live_master)
    yield deployer
    deployer.clear()


@pytest.fixture
def clients() -> Iterator[Callable[..., Clients]]:
    started: list[Clients] = []

    def start(deployment: dict[str, Any], **options: Any) -> Clients:
        url = f"{deployment['url']}/v1/models/{deployment['name']}:predict"
        started.append(Clients(url, **options))
        return started[-1]

    yield start
    for each in started:
        each._process.kill()
        each._process.wait()
        for stream in (each._process.stdin, each._process.stdout, each._process.stderr):
            if stream is not None:
                stream.close()


@pytest.fixture
def pause() -> Callable[[float], None]:
    """Traffic needs time to flow; nothing is waited for by it."""
    return time.sleep
