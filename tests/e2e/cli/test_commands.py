"""`resolute run` and `resolute cmd` against a live master: output, exit codes, and a master that is killed."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Shell = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def shell(live_master: Any, tmp_path: Path) -> Shell:
    """`shell("run", "--", "true")`: as typed in a folder of its own."""
    env = {**os.environ, "RESOLUTE_MASTER": live_master.url, "XDG_CONFIG_HOME": str(tmp_path / "config")}

    def run(*arguments: str, folder: Path = tmp_path) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "resolute.cli.main", *arguments]
        return subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, timeout=60, check=False)

    return run


def test_the_folder_goes_along_and_output_and_exit_code_come_back(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import sys\nprint('epochs', sys.argv[1:])\nsys.exit(3)\n")

    done = shell("run", "--slots", "1", "--", "python3", "train.py", "--epochs", "3")

    assert done.stdout == "epochs ['--epochs', '3']\n"
    assert "Started command" in done.stderr
    assert done.returncode == 3


def test_a_command_that_is_not_there_says_so(shell: Shell) -> None:
    done = shell("run", "--slots", "0", "--", "no-such-program", "x")

    assert "no-such-program" in done.stderr
    assert done.returncode == 127


def test_a_command_runs_detached_until_it_is_killed(shell: Shell) -> None:
    started = shell("cmd", "run", "--detach", "--slots", "0", "--", "sleep", "60")
    command = started.stdout.strip()

    listed = shell("cmd", "list").stdout
    priority = shell("cmd", "set", "priority", command[:8], "7").stdout
    killed = shell("cmd", "kill", command[:8]).stdout
    described = shell("cmd", "describe", command).stdout

    assert command[:8] in listed
    assert "to 7" in priority
    assert killed == f"Killed command {command}\n"
    assert "exitStatus" in described or "STATE_RUNNING" in described


def test_a_command_outlives_a_master_that_is_killed(masters: Any, tmp_path: Path) -> None:
    home, mark = tmp_path / "home", tmp_path / "go on"
    first = masters(home).start()
    config = {"entrypoint": f"until [ -e {str(mark)!r} ]; do sleep 0.05; done; echo went on; exit 5"}
    started = first.call("POST", "/api/v1/commands", json={"config": config})["command"]["id"]
    while first.call("GET", f"/api/v1/commands/{started}")["command"]["state"] != "STATE_RUNNING":
        time.sleep(0.05)
    first.kill()

    mark.touch()
    second = masters(home).start()
    ends_at = time.monotonic() + 60
    while second.call("GET", f"/api/v1/commands/{started}")["command"]["exitCode"] is None:
        assert time.monotonic() < ends_at
        time.sleep(0.05)

    log = second.http.get(f"{second.url}/api/v1/tasks/{started}/logs").text
    assert second.call("GET", f"/api/v1/commands/{started}")["command"]["exitCode"] == 5
    assert "went on" in log
