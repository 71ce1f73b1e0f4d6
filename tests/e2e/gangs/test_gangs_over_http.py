"""A gang on two hosts that have nothing of the master's but its address: it meets, runs, and its log is whole."""

import hashlib
import http.server
import json
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ..conftest import LiveMaster, end_what_is_left

HERE = Path(__file__).parent
CONFIG = """
name: wide
entrypoint: python3 train.py
resources: {slots_per_trial: 2}
searcher: {name: single, metric: loss}
max_restarts: 0
"""
LINES = 60
WEIGHTS = bytes(range(256)) * 20_000


class MasterOfHosts(LiveMaster):
    """On a port that it keeps when it is started again."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self._port = probe.getsockname()[1]

    def command(self) -> list[str]:
        return [sys.executable, str(HERE / "master_of_hosts.py"), str(self.home), str(self._port)]


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MasterOfHosts]:
    folder = tmp_path_factory.mktemp("hosts")
    (folder / "home").mkdir()
    started = MasterOfHosts(folder / "home")
    yield started.start()
    started.close()
    end_what_is_left(folder)


def task_of(master: Any, experiment_id: int) -> dict[str, Any]:
    (trial,) = master.call("GET", f"/api/v1/experiments/{experiment_id}/trials")["trials"]
    return dict(master.call("GET", f"/api/v1/tasks/{trial['taskId']}")["task"])


def log_of(master: Any, experiment_id: int) -> list[str]:
    answer = master.http.get(f"{master.url}/api/v1/tasks/{task_of(master, experiment_id)['taskId']}/logs")
    return [json.loads(line)["result"]["log"].removesuffix("\n") for line in answer.text.splitlines()]


def printed_by(rank: int, log: list[str]) -> list[int]:
    return [int(found[1]) for line in log if (found := re.search(rf"node {rank} line (\d+)", line))]


def until(condition: Callable[[], bool], *, timeout_s: float = 60) -> None:
    ends_at = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < ends_at, "it did not happen in time"
        time.sleep(0.05)


def described(master: Any, task_id: str) -> str:
    command = [sys.executable, "-m", "resolute.cli.main", "-m", master.url, "task", "describe", task_id]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def assert_whole(log: list[str]) -> None:
    for rank in (0, 1):
        assert printed_by(rank, log) == list(range(LINES)), "\n".join(log)
    assert sum("of all" in line for line in log) == 2 * LINES
    assert not any("are missing here" in line for line in log)


def test_a_gang_meets_through_the_master_and_its_log_is_whole(master: Any, tmp_path: Path) -> None:
    hold = tmp_path / "hold"
    hold.touch()
    experiment_id = master.create(CONFIG + f"environment: {{environment_variables: [HOLD={hold}]}}\n", HERE / "model")
    until(lambda: "STATE_RUNNING" in str(task_of(master, experiment_id)["allocations"]))
    until(lambda: any("line 3" in line for line in log_of(master, experiment_id)))
    running = task_of(master, experiment_id)
    shown = described(master, running["taskId"])
    hold.unlink()

    assert master.wait(experiment_id) == "STATE_COMPLETED", log_of(master, experiment_id)

    log = log_of(master, experiment_id)
    assert any("node 0 met: hello from rank 1" in line for line in log)
    assert any("node 1 met: hello from rank 0" in line for line in log)
    assert_whole(log)
    for rank, host in enumerate(("one", "two")):
        assert re.search(rf"RUNNING +{rank} +{host} +127\.0\.0\.1 +0 +RUNNING", shown), shown
    assert [node["phase"] for node in task_of(master, experiment_id)["allocations"][0]["nodes"]] == ["ENDED", "ENDED"]
    # Each host has fetched the code for itself.
    assert len(list(master.home.glob("hosts/*/contexts/*.tar.gz"))) == 2


def test_where_an_engine_places_the_nodes_say_who_they_are_and_meet_all_the_same(master: Any) -> None:
    config = CONFIG.replace("slots_per_trial: 2", "slots_per_trial: 2, resource_pool: cluster")
    experiment_id = master.create(config, HERE / "model")

    assert master.wait(experiment_id) == "STATE_COMPLETED", log_of(master, experiment_id)

    assert_whole(log_of(master, experiment_id))
    nodes = task_of(master, experiment_id)["allocations"][0]["nodes"]
    assert [(node["rank"], node["nodeId"], node["exitCode"]) for node in nodes] == [(0, "two", 0), (1, "one", 0)]


def test_a_master_that_is_killed_meanwhile_loses_and_doubles_no_line(master: Any) -> None:
    experiment_id = master.create(CONFIG, HERE / "model")
    for moment in (5, 15, 30):
        until(lambda moment=moment: max(printed_by(0, log_of(master, experiment_id)), default=0) >= moment)
        master.kill()
        master.start()

    assert master.wait(experiment_id) == "STATE_COMPLETED", log_of(master, experiment_id)

    assert_whole(log_of(master, experiment_id))


@pytest.fixture
def weights_url() -> Iterator[str]:
    """A file of a few MiB on a web server, which is not the master's."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(WEIGHTS)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/digits.bin"
        server.shutdown()
        thread.join()


def test_a_replica_on_another_host_serves_a_model_that_it_has_fetched_from_the_master(
    master: Any, weights_url: str
) -> None:
    serve = "exec python3 -m resolute.serving.replica --name far --load resolute.serving.echo:load_echo"
    command = ["sh", "-c", f'echo "got $(sha256sum "$RESOLUTE_MODEL_SOURCE")"; {serve}']
    body = {"name": "far", "modelUri": weights_url, "serving": {"command": command, "slots": 1}}
    master.call("POST", "/api/v1/deployments", json=body)
    until(lambda: master.call("GET", "/api/v1/deployments/far")["deployment"]["state"] == "STATE_READY")

    answer = master.http.post(f"{master.url}/serving/far/v1/models/far:predict", json={"instances": [1, "two"]})

    assert answer.json() == {"predictions": [1, "two"]}
    (replica,) = master.call("GET", "/api/v1/deployments/far")["deployment"]["revisions"][0]["replicas"]
    log = master.http.get(f"{master.url}/api/v1/tasks/{replica['taskId']}/logs").text
    copy = next(master.home.glob("hosts/*/runs/*/model/digits.bin"))
    assert "Fetching the model digits.bin from the master." in log
    assert f"got {hashlib.sha256(WEIGHTS).hexdigest()}  {copy}" in log
    master.call("DELETE", "/api/v1/deployments/far")
