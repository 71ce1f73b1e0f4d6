"""A master of our own for the length of a benchmark."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx


@dataclass
class Master:
    url: str
    process: subprocess.Popen[bytes]
    http: httpx.Client

    def rss_mb(self) -> float:
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
        return 0.0

    def processor_s(self) -> float:
        """Of the master alone, since it started."""
        return processor_s(self.process.pid)

    def create(self, config: str, files: dict[str, str]) -> int:
        definition = [definition_file(path, text) for path, text in files.items()]
        answer = self.http.post(
            "/api/v1/experiments", json={"config": config, "modelDefinition": definition, "activate": True}
        )
        answer.raise_for_status()
        return int(answer.json()["experiment"]["id"])

    def get(self, path: str, **params: Any) -> Any:
        answer = self.http.get(path, params=params)
        answer.raise_for_status()
        return answer.json()

    def wait(self, experiment_id: int, *, every_s: float = 0.02) -> str:
        while True:
            state = str(self.get(f"/api/v1/experiments/{experiment_id}")["experiment"]["state"])
            if state in ("STATE_COMPLETED", "STATE_ERROR", "STATE_CANCELED"):
                return state
            time.sleep(every_s)


@contextmanager
def running_master(*, slots: int = 2, source: Path | None = None) -> Iterator[Master]:
    """Of the package under `source`, in this environment; of the installed one without."""
    with tempfile.TemporaryDirectory(prefix="resolute-bench-") as home:
        port = free_port()
        command = [sys.executable, "-m", "resolute.cli.main", "up", "--port", str(port), "--home", home]
        process = subprocess.Popen(
            [*command, "--slots", str(slots)], stdout=subprocess.DEVNULL, env=environment(source)
        )
        url = f"http://127.0.0.1:{port}"
        wait_for(f"{url}/info")
        with httpx.Client(base_url=url, timeout=60) as http:
            token = http.post("/api/v1/auth/login", json={"username": "determined", "password": ""}).json()["token"]
            http.headers["Authorization"] = f"Bearer {token}"
            try:
                yield Master(url, process, http)
            finally:
                process.send_signal(signal.SIGTERM)
                process.wait(timeout=30)


def environment(source: Path | None) -> dict[str, str]:
    """With compiled modules kept, as after an installation, whatever the surrounding shell prefers."""
    path = {"PYTHONPATH": str(source)} if source else {}
    return {**os.environ, "PYTHONDONTWRITEBYTECODE": "", **path}


def processor_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def definition_file(path: str, text: str) -> dict[str, Any]:
    import base64

    content = base64.b64encode(text.encode()).decode()
    return {"path": path, "type": 48, "content": content, "mtime": "0", "mode": 33188, "uid": 0, "gid": 0}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(url: str, *, timeout_s: float = 30) -> None:
    deadline = time.perf_counter() + timeout_s
    while time.perf_counter() < deadline:
        try:
            with urllib.request.urlopen(url, timeout=1) as answer:
                json.load(answer)
                return
        except OSError:
            time.sleep(0.005)
    raise TimeoutError(f"{url} did not answer within {timeout_s} s")
