"""A live master of the test's own: `resolute up` on a free port with its own home, ended with all it started."""

import base64
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

FINAL = ("STATE_COMPLETED", "STATE_ERROR", "STATE_CANCELED")
_READY = re.compile(r"ready at (https?://\S+)")


class LiveMaster:
    """A running master, and a small client for arranging and asserting."""

    def __init__(self, home: Path, *options: str, env: dict[str, str] | None = None) -> None:
        self.home = home
        self.output = home.parent / f"{home.name}.out"
        self._options = options
        self._env = {**os.environ, "OMP_NUM_THREADS": "1", **(env or {})}
        self._process: subprocess.Popen[bytes] | None = None
        self.url = ""
        self.http = httpx.Client(timeout=60)

    def start(self, *, timeout_s: float = 60) -> "LiveMaster":
        with self.output.open("wb") as output:
            self._process = subprocess.Popen(self.command(), stdout=output, stderr=output, env=self._env)
        ends_at = time.monotonic() + timeout_s
        while time.monotonic() < ends_at and self._process.poll() is None:
            ready = _READY.search(self.output.read_text())
            if ready:
                self.url = ready[1]
                return self
            time.sleep(0.02)
        raise AssertionError(f"the master did not come up:\n{self.output.read_text()}")

    def command(self) -> list[str]:
        up = [sys.executable, "-m", "resolute.cli.main", "up", "--port", "0", "--home", str(self.home)]
        return [*up, *self._options]

    def stop(self) -> int:
        """Its exit code."""
        assert self._process is not None
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Also one that never started."""
        if self._process is not None:
            self.stop()
        self.http.close()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def login(self, username: str = "determined", password: str = "") -> None:
        answer = self.http.post(f"{self.url}/api/v1/auth/login", json={"username": username, "password": password})
        answer.raise_for_status()
        self.http.headers["Authorization"] = f"Bearer {answer.json()['token']}"

    def call(self, method: str, path: str, **options: Any) -> Any:
        if "Authorization" not in self.http.headers:
            self.login()
        answer = self.http.request(method, self.url + path, **options)
        assert answer.status_code == 200, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json()

    def create(self, config: str, folder: Path, **fields: Any) -> int:
        files = [_file(path, folder) for path in sorted(folder.rglob("*")) if path.is_file()]
        body = {"config": config, "modelDefinition": files, "activate": True, **fields}
        return int(self.call("POST", "/api/v1/experiments", json=body)["experiment"]["id"])

    def experiment(self, experiment_id: int) -> dict[str, Any]:
        return dict(self.call("GET", f"/api/v1/experiments/{experiment_id}")["experiment"])

    def wait(self, experiment_id: int, *states: str, timeout_s: float = 90) -> str:
        """Until the experiment is in one of `states` (none: any final one)."""
        ends_at = time.monotonic() + timeout_s
        state = ""
        while time.monotonic() < ends_at:
            state = str(self.experiment(experiment_id)["state"])
            if state in (states or FINAL):
                return state
            time.sleep(0.05)
        raise AssertionError(f"experiment {experiment_id} is {state} after {timeout_s} s:\n{self.output.read_text()}")


def _file(path: Path, folder: Path) -> dict[str, Any]:
    content = base64.b64encode(path.read_bytes()).decode()
    name = path.relative_to(folder).as_posix()
    return {"path": name, "type": 48, "content": content, "mtime": "0", "mode": 33188, "uid": 0, "gid": 0}


@pytest.fixture(scope="session")
def live_master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveMaster]:
    """One for all tests of a worker: two slots, empty passwords, loopback."""
    folder = tmp_path_factory.mktemp("live")
    master = LiveMaster(folder / "home", "--slots", "2").start()
    yield master
    master.stop()
    master.http.close()
    end_what_is_left(folder)


@pytest.fixture
def masters(tmp_path: Path) -> Iterator[Callable[[Path], LiveMaster]]:
    """Masters of the test's own, by home; none is started yet. Ended with all they started."""
    made: list[LiveMaster] = []

    def make(home: Path) -> LiveMaster:
        made.append(LiveMaster(home, "--slots", "2"))
        return made[-1]

    yield make
    for each in made:
        each.close()
    end_what_is_left(tmp_path)


@pytest.fixture(scope="session")
def start_master() -> Callable[..., LiveMaster]:
    """For suites that start masters of their own: one on a port that stays when it is started again."""

    def start(home: Path) -> LiveMaster:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        return LiveMaster(home, "--slots", "2", "--port", str(port)).start()

    return start


@pytest.fixture(scope="session")
def end_processes_of() -> Callable[[Path], None]:
    """For suites that start masters of their own."""
    return end_what_is_left


def end_what_is_left(folder: Path) -> None:
    """Trials outlive their master by design; a test must not leave them behind."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            facts = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
            if str(folder).encode() in facts:
                os.kill(int(entry.name), signal.SIGKILL)
        except OSError:
            continue
