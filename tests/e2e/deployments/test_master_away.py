"""The router and the replicas do not need the master: it is killed under load, and the next one takes them over."""

import contextlib
import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest


@pytest.fixture
def deployer(
    tmp_path: Path, live_master: Any, deployer: Any, end_processes_of: Callable[[Path], None]
) -> Iterator[Any]:
    """Over a master of the test's own."""
    own = type(deployer)(type(live_master)(tmp_path / "home", "--slots", "1").start())
    yield own
    own.clear()
    own.master.stop()
    own.master.http.close()
    end_processes_of(tmp_path)


def test_killing_the_master_costs_no_request_and_the_next_one_takes_over(
    deployer: Any, clients: Callable[..., Any], pause: Callable[[float], None]
) -> None:
    deployer.create("away")
    before = deployer.until_ready("away")
    load = clients(before)
    deployer.until("away", lambda _: requests_so_far(deployer, 1) > 500)

    os.kill(deployer.master.pid, signal.SIGKILL)
    deployer.master.stop()
    pause(1.0)
    deployer.master.start()
    after = deployer.until_ready("away")
    deployer.post("away", "update", **deployer.body())
    deployer.until("away", lambda d: d["stableRevision"] == 2)
    deployer.until("away", lambda _: requests_so_far(deployer, 2) > 50)
    seen = load.stop()

    assert seen["failed"] == 0, seen["failures"]
    assert seen["requests"] > 500
    assert after["url"] == before["url"]
    assert after["revisions"][0]["replicas"] == before["revisions"][0]["replicas"]
    assert seen["revisions"]["2"] > 0


def requests_so_far(deployer: Any, revision: int) -> int:
    """As far as the master has seen: it counts anew when it starts."""
    points = deployer.master.call("GET", "/api/v1/deployments/away/stats")["points"]
    return sum(point["requests"] for point in points if point["revision"] == revision)


def test_a_killed_router_is_started_again_at_the_same_port(deployer: Any) -> None:
    deployer.create("routed")
    url = f"{deployer.until_ready('routed')['url']}/v1/models/routed:predict"

    os.kill(router_of(deployer), signal.SIGKILL)
    answer = None
    while answer is None:
        with contextlib.suppress(httpx.TransportError):
            answer = deployer.master.http.post(url, json={})

    assert answer.status_code == 200


def router_of(deployer: Any) -> int:
    return int(json.loads((deployer.master.home / "router" / "router.json").read_text())["pid"])


def test_master_and_router_may_both_be_killed_and_clients_lose_what_they_had_in_hand_at_most(
    deployer: Any, clients: Callable[..., Any], pause: Callable[[float], None]
) -> None:
    deployer.create("alone", scaling={"minReplicas": 2, "maxReplicas": 2})
    ready = deployer.until("alone", lambda d: d["revisions"][0]["replicasReady"] == 2)
    load = clients(ready, clients=4)
    pause(0.5)

    os.kill(deployer.master.pid, signal.SIGKILL)
    deployer.master.stop()
    for _ in range(2):
        killed = router_of(deployer)
        os.kill(killed, signal.SIGKILL)
        while router_of(deployer) == killed:
            pause(0.05)
        pause(0.5)
    seen = load.stop()

    assert seen["failed"] <= 8, seen["failures"]
    assert all("connection lost" in each or "Connection" in each for each in seen["failures"])
    assert seen["requests"] > 50
    assert seen["longest_s"] < 20
    deployer.master.start()
    assert deployer.until_ready("alone")["url"] == ready["url"]
