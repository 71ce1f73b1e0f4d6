"""A gang on two hosts that have nothing of the master's but its address: it meets, runs, and its log is whole."""

import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
CONFIG = """
name: wide
entrypoint: python3 train.py
resources: {slots_per_trial: 2}
searcher: {name: single, metric: loss}
max_restarts: 0
"""
LINES = 60


@pytest.fixture
def master(tmp_path: Path, live_master: Any, end_processes_of: Callable[[Path], None]) -> Iterator[Any]:
    """On a port that it keeps when it is started again."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]

    class Master(type(live_master)):  # type: ignore[misc]
        def command(self) -> list[str]:
            return [sys.executable, str(HERE / "master_of_hosts.py"), str(self.home), str(port)]

    (tmp_path / "home").mkdir()
    started = Master(tmp_path / "home").start()
    yield started
    started.close()
    end_processes_of(tmp_path)


def task_of(master: Any, experiment_id: int) -> dict[str, Any]:
    (trial,) = master.call("GET", f"/api/v1/experiments/{experiment_id}/trials")["trials"]
    return dict(master.call("GET", f"/api/v1/tasks/{trial['taskId']}")["task"])


def log_of(master: Any, experiment_id: int) -> list[str]:
    answer = master.http.get(f"{master.url}/api/v1/tasks/{task_of(master, experiment_id)['taskId']}/logs")
    return [re.sub(r'.*"log":"|\\n"', "", line) for line in answer.text.splitlines()]


def printed_by(rank: int, log: list[str]) -> list[int]:
    return [int(found[1]) for line in log if (found := re.search(rf"node {rank} line (\d+)", line))]


def until(condition: Callable[[], bool], *, timeout_s: float = 60) -> None:
    ends_at = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < ends_at, "it did not happen in time"
        time.sleep(0.05)


def assert_whole(log: list[str]) -> None:
    for rank in (0, 1):
        assert printed_by(rank, log) == list(range(LINES)), "\n".join(log)
    assert sum("of all" in line for line in log) == 2 * LINES
    assert not any("are missing here" in line for line in log)


def test_a_gang_meets_through_the_master_and_its_log_is_whole(master: Any) -> None:
    experiment_id = master.create(CONFIG, HERE / "model")
    until(lambda: "STATE_RUNNING" in str(task_of(master, experiment_id)["allocations"]))
    until(lambda: any("line 3" in line for line in log_of(master, experiment_id)))
    running = task_of(master, experiment_id)["allocations"][0]["nodes"]

    assert master.wait(experiment_id) == "STATE_COMPLETED", log_of(master, experiment_id)

    log = log_of(master, experiment_id)
    assert any("node 0 met: hello from rank 1" in line for line in log)
    assert any("node 1 met: hello from rank 0" in line for line in log)
    assert_whole(log)
    assert [(node["nodeId"], node["address"], node["phase"]) for node in running] == [
        ("one", "127.0.0.1", "RUNNING"),
        ("two", "127.0.0.1", "RUNNING"),
    ]
    assert [node["phase"] for node in task_of(master, experiment_id)["allocations"][0]["nodes"]] == ["ENDED", "ENDED"]
    # Each host has fetched the code for itself, and writes to no log of the master's.
    assert len(list(master.home.glob("hosts/*/contexts/*.tar.gz"))) == 2


def test_a_master_that_is_killed_meanwhile_loses_and_doubles_no_line(master: Any) -> None:
    experiment_id = master.create(CONFIG, HERE / "model")
    for moment in (5, 15, 30):
        until(lambda moment=moment: max(printed_by(0, log_of(master, experiment_id)), default=0) >= moment)
        master.kill()
        master.start()

    assert master.wait(experiment_id) == "STATE_COMPLETED", log_of(master, experiment_id)

    assert_whole(log_of(master, experiment_id))


def test_task_describe_shows_the_nodes(master: Any) -> None:
    experiment_id = master.create(CONFIG, HERE / "model")
    until(lambda: any("line 3" in line for line in log_of(master, experiment_id)))
    command = [sys.executable, "-m", "resolute.cli.main", "-m", master.url, "task", "describe"]

    shown = subprocess.run([*command, task_of(master, experiment_id)["taskId"]], capture_output=True, text=True)

    assert re.search(r"RUNNING +0 +one +127\.0\.0\.1 +0 +RUNNING", shown.stdout), shown.stdout + shown.stderr
    assert re.search(r"RUNNING +1 +two +127\.0\.0\.1 +0 +RUNNING", shown.stdout)
    assert master.wait(experiment_id) == "STATE_COMPLETED"
