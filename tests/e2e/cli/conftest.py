"""A real master for the command line, started by the command line."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from resolute.cli.main import run


@dataclass
class Outcome:
    code: int
    out: str
    err: str


Resolute = Callable[..., Outcome]


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Its URL. Started once for the module by the same command a user types."""
    home = tmp_path_factory.mktemp("home")
    url = f"http://127.0.0.1:{_free_port()}"
    command = [sys.executable, "-m", "resolute.cli.main", "up", "--port", url.rpartition(":")[2], "--slots", "2"]
    with (home / "output.log").open("wb") as output:
        process = subprocess.Popen([*command, "--home", str(home), "--stop-trials"], stdout=output, stderr=output)
    try:
        _until_it_answers(url, process, home / "output.log")
        yield url
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0


@pytest.fixture
def resolute(
    master: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Resolute:
    """A command as typed, in this process: the network and the master are real, Python's start is saved."""
    for name in list(os.environ):
        if name.startswith(("DET_", "RESOLUTE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("RESOLUTE_MASTER", master)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str) -> Outcome:
        code = run(arguments)
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return invoke


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _until_it_answers(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            httpx.get(f"{url}/info", timeout=2).raise_for_status()
            return
        except httpx.HTTPError:
            if process.poll() is not None:
                break
            time.sleep(0.05)
    raise AssertionError(f"the master did not come up:\n{log.read_text()[-4000:]}")
