"""The master as a process: it starts, refuses to start when it must, and stops as it was asked to."""

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

MODEL = Path(__file__).parent / "model"
CONFIG = """
name: steps
entrypoint: python3 steps.py
searcher: {name: single, metric: loss}
max_restarts: 0
"""

Start = Callable[..., Any]


@pytest.fixture
def start(tmp_path: Path, live_master: Any) -> Iterator[Start]:
    """start(*options, env): a master over the test's own home."""
    kind = type(live_master)
    made: list[Any] = []

    def begin(*options: str, env: dict[str, str] | None = None) -> Any:
        made.append(kind(tmp_path / "home", "--slots", "1", "--no-warm", *options, env=env).start())
        return made[-1]

    yield begin
    for master in made:
        master.stop()
        master.http.close()


def refused(home: Path, *options: str) -> str:
    """What `resolute up` says when it does not start."""
    command = [sys.executable, "-m", "resolute.cli.main", "up", "--home", str(home), "--no-warm", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode not in (0, None)
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def log_of(master: Any, experiment_id: int) -> str:
    trials = master.call("GET", f"/api/v1/experiments/{experiment_id}/trials")["trials"]
    return str(master.http.get(f"{master.url}/api/v1/trials/{trials[0]['id']}/logs").text) if trials else ""


def until(condition: Callable[[], bool], *, timeout_s: float = 60) -> None:
    ends_at = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < ends_at, "it did not happen in time"
        time.sleep(0.05)


def test_it_answers_once_it_says_so_and_stops_cleanly(start: Start) -> None:
    master = start()

    info = httpx.get(f"{master.url}/info").json()
    code = master.stop()

    assert info["version"] == "0.38.1"
    assert code == 0
    assert "Stopping" in master.output.read_text()
    assert "Traceback" not in master.output.read_text()


def test_tasks_are_told_the_address_that_it_advertises_and_it_answers_to_that_name(start: Start) -> None:
    master = start("--advertise", "http://train.example.org:81/")

    told = master.call("GET", "/api/v1/master/config")["config"]["url"]
    answers = [httpx.get(f"{master.url}/info", headers={"Host": f"{name}.example.org:81"}) for name in ("train", "x")]

    assert told == "http://train.example.org:81"
    assert "Tasks reach it at http://train.example.org:81\n" in master.output.read_text()
    assert [answer.status_code for answer in answers] == [200, 403]


def test_open_streams_do_not_hold_it_up(start: Start) -> None:
    master = start()
    master.login()

    with master.http.stream("GET", f"{master.url}/api/v1/master/logs?follow=true") as follower:
        lines = follower.iter_lines()
        next(lines)
        began = time.monotonic()
        code = master.stop()

    assert code == 0
    assert time.monotonic() - began < 15


def test_a_second_master_over_the_same_home_is_refused(start: Start) -> None:
    master = start()

    assert "Another master is running" in refused(master.home, "--port", "0")


def test_a_taken_port_is_a_sentence(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()

        said = refused(tmp_path / "home", "--port", str(taken.getsockname()[1]))

    assert "Cannot listen on 127.0.0.1" in said


def test_beyond_loopback_it_needs_passwords(tmp_path: Path) -> None:
    said = refused(tmp_path / "home", "--host", "0.0.0.0", "--port", "0")

    assert "no administrator has a password (without one: admin, determined)" in said
    assert "RESOLUTE_ADMIN_PASSWORD" in said


def test_with_passwords_it_listens_and_the_empty_one_is_refused(start: Start) -> None:
    master = start("--host", "0.0.0.0", env={"RESOLUTE_INITIAL_PASSWORD": "Correct1Horse"})

    empty = httpx.post(f"{master.url}/api/v1/auth/login", json={"username": "admin", "password": ""})
    right = httpx.post(f"{master.url}/api/v1/auth/login", json={"username": "admin", "password": "Correct1Horse"})

    assert (empty.status_code, right.status_code) == (401, 200)


def test_with_stop_trials_they_checkpoint_and_go_on_at_the_next_start(start: Start) -> None:
    first = start("--stop-trials")
    experiment_id = first.create(CONFIG, MODEL)
    until(lambda: "running" in log_of(first, experiment_id))

    code = first.stop()
    second = start()

    assert code == 0
    assert second.wait(experiment_id) == "STATE_COMPLETED"
    log = log_of(second, experiment_id)
    assert "left at" in log
    assert "resumed at" in log


def test_a_user_without_a_password_does_not_keep_it_from_starting(start: Start) -> None:
    first = start()
    first.login("admin")
    first.call("POST", "/api/v1/users", json={"user": {"username": "nopw", "active": True}})
    first.stop()

    second = start("--host", "0.0.0.0", env={"RESOLUTE_ADMIN_PASSWORD": "Correct1Horse"})
    answer = httpx.post(f"{second.url}/api/v1/auth/login", json={"username": "nopw", "password": ""})

    assert "Warning: determined, nopw cannot log in" in second.output.read_text()
    assert answer.status_code == 401


def test_the_initial_password_is_for_everybody_without_one(start: Start) -> None:
    first = start()
    first.login("admin")
    first.call("POST", "/api/v1/users", json={"user": {"username": "nopw", "active": True}})
    first.stop()

    second = start("--host", "0.0.0.0", env={"RESOLUTE_INITIAL_PASSWORD": "Correct1Horse"})

    for name in ("admin", "determined", "nopw"):
        second.login(name, "Correct1Horse")


def test_nobody_else_may_look_into_the_home(start: Start, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    (home / "master.log").touch(mode=0o644)

    master = start()
    master.call("GET", "/api/v1/experiments")

    assert _rights(home) == 0o700
    for path in home.iterdir():
        assert _rights(path) & 0o077 == 0, path


def _rights(path: Path) -> int:
    return path.stat().st_mode & 0o777
