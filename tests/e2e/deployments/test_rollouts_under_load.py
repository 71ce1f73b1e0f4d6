"""Whatever happens to a deployment, its clients notice nothing: real processes, requests without pause."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def test_no_request_fails_from_canary_to_promotion_and_back(
    deployer: Any, clients: Callable[..., Any], pause: Callable[[float], None]
) -> None:
    deployer.create("roll")
    load = clients(deployer.until_ready("roll"))

    deployer.post("roll", "canary", percent=30, **deployer.body())
    deployer.until("roll", lambda d: d["revisions"][0]["trafficPercent"] == 30.0)
    deployer.until("roll", lambda _: sum_of(deployer, "roll") > 2500)
    deployer.post("roll", "promote")
    deployer.until("roll", lambda d: d["stableRevision"] == 2)
    pause(0.5)
    deployer.post("roll", "rollback")
    deployer.until("roll", lambda d: d["stableRevision"] == 1 and not d["revisions"][0]["replicas"])
    deployer.until("roll", lambda _: sum_of(deployer, "roll") > 3000)
    seen = load.stop()

    assert seen["failed"] == 0, seen["failures"]
    assert seen["requests"] > 3000
    assert seen["revisions"]["2"] > 100


def test_a_canary_gets_its_share_to_the_request(deployer: Any, clients: Callable[..., Any]) -> None:
    deployer.create("share", guard={"enabled": False})
    deployer.until_ready("share")
    deployer.post("share", "canary", percent=30, **deployer.body())
    ready = deployer.until("share", lambda d: d["revisions"][0]["trafficPercent"] == 30.0)

    load = clients(ready, clients=8)
    stats = deployer.until("share", lambda _: sum_of(deployer, "share") > 3000)
    seen = load.stop()

    assert stats["canaryPercent"] == 30
    assert seen["failed"] == 0, seen["failures"]
    assert abs(seen["revisions"]["2"] / seen["requests"] - 0.3) < 0.01


def sum_of(deployer: Any, name: str) -> int:
    points = deployer.master.call("GET", f"/api/v1/deployments/{name}/stats")["points"]
    return sum(point["requests"] for point in points)


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_killed_replica_costs_an_idempotent_model_no_request(
    deployer: Any, clients: Callable[..., Any], pause: Callable[[float], None], replicas: int
) -> None:
    name = f"killed{replicas}"
    scaling = {"minReplicas": replicas, "maxReplicas": replicas}
    deployer.create(name, scaling=scaling, serving={"idempotent": True})
    ready = deployer.until(name, lambda d: d["revisions"][0]["replicasReady"] == replicas)
    load = clients(ready)
    pause(0.5)

    os.kill(pid_of_one(deployer, ready), signal.SIGKILL)
    deployer.until(name, lambda d: d["state"] == "STATE_DEGRADED")
    deployer.until(name, lambda d: d["revisions"][0]["replicasReady"] == replicas)
    pause(0.5)
    seen = load.stop()

    assert seen["failed"] == 0, seen["failures"]
    assert seen["requests"] > 50


def test_a_killed_replica_costs_each_client_at_most_what_it_had_in_hand(
    deployer: Any, clients: Callable[..., Any], pause: Callable[[float], None]
) -> None:
    deployer.create("once", scaling={"minReplicas": 2, "maxReplicas": 2}, environment={"DELAY_S": "0.05"})
    ready = deployer.until("once", lambda d: d["revisions"][0]["replicasReady"] == 2)
    load = clients(ready, clients=8)
    pause(0.5)

    os.kill(pid_of_one(deployer, ready), signal.SIGKILL)
    deployer.until("once", lambda d: d["state"] == "STATE_DEGRADED")
    deployer.until("once", lambda d: d["revisions"][0]["replicasReady"] == 2)
    pause(0.5)
    seen = load.stop()

    assert seen["failed"] <= 8, seen["failures"]
    assert set(seen["statuses"]) <= {"200", "502"}
    assert seen["longest_s"] < 5


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_stopped_replica_is_found_out_and_replaced_and_nobody_waits_a_minute(
    deployer: Any, clients: Callable[..., Any], pause: Callable[[float], None], replicas: int
) -> None:
    name = f"stopped{replicas}"
    scaling = {"minReplicas": replicas, "maxReplicas": replicas}
    deployer.create(name, scaling=scaling, serving={"hungAfterS": 4})
    ready = deployer.until(name, lambda d: d["revisions"][0]["replicasReady"] == replicas)
    load = clients(ready, clients=8)
    pause(0.5)

    stopped = pid_of_one(deployer, ready)
    os.kill(stopped, signal.SIGSTOP)
    ill = deployer.until(name, lambda d: "STATE_UNHEALTHY" in [r["state"] for r in d["revisions"][0]["replicas"]])
    deployer.until(name, lambda d: d["state"] == "STATE_READY" and d["revisions"][0]["replicasReady"] == replicas)
    pause(0.5)
    seen = load.stop()

    sick = next(r for r in ill["revisions"][0]["replicas"] if r["state"] == "STATE_UNHEALTHY")
    assert ill["state"] == "STATE_DEGRADED"
    assert "probes in a row failed" in sick["reason"]
    assert not Path(f"/proc/{stopped}").exists()
    assert seen["failed"] <= 8, seen["failures"]
    assert seen["longest_s"] < 30
    assert seen["requests"] > 50


def test_a_replica_that_goes_on_after_a_while_gets_requests_again(deployer: Any) -> None:
    deployer.create("paused", serving={"hungAfterS": 60})
    ready = deployer.until_ready("paused")
    paused = pid_of_one(deployer, ready)

    os.kill(paused, signal.SIGSTOP)
    deployer.until("paused", lambda d: d["revisions"][0]["replicasReady"] == 0)
    os.kill(paused, signal.SIGCONT)
    deployer.until_ready("paused")

    assert pid_of_one(deployer, ready) == paused


def pid_of_one(deployer: Any, deployment: dict[str, Any]) -> int:
    """Of a model server: whichever answers."""
    url = f"{deployment['url']}/v1/models/{deployment['name']}:predict"
    return int(deployer.master.http.post(url, json={}).json()["pid"])


def test_scaling_up_and_down_costs_no_request(
    deployer: Any, clients: Callable[..., Any], pause: Callable[[float], None]
) -> None:
    deployer.create("scaled")
    load = clients(deployer.until_ready("scaled"))

    path = "/api/v1/deployments/scaled"
    deployer.master.call("PATCH", path, json={"scaling": {"minReplicas": 3, "maxReplicas": 3}})
    deployer.until("scaled", lambda d: d["revisions"][0]["replicasReady"] == 3)
    pause(0.5)
    deployer.master.call("PATCH", path, json={"scaling": {"minReplicas": 1, "maxReplicas": 1}})
    deployer.until("scaled", lambda d: len(d["revisions"][0]["replicas"]) == 1)
    seen = load.stop()

    assert seen["failed"] == 0, seen["failures"]


def test_the_guard_takes_a_failing_canary_back(deployer: Any, clients: Callable[..., Any]) -> None:
    deployer.create("guarded")
    load = clients(deployer.until_ready("guarded"))
    deployer.post("guarded", "canary", percent=20, **deployer.body(FAILS="1"))

    after = deployer.until("guarded", lambda d: d["revisions"][0]["state"] == "STATE_FAILED")
    seen = load.stop()

    assert after["canaryRevision"] is None
    assert after["stableRevision"] == 1
    assert "rolled back by the guard" in after["revisions"][0]["reason"]
    assert set(seen["statuses"]) == {"200", "500"}


def test_a_revision_that_never_gets_ready_fails_with_its_own_words_and_traffic_stays(
    deployer: Any, clients: Callable[..., Any]
) -> None:
    deployer.create("stays")
    load = clients(deployer.until_ready("stays"), clients=1)
    deployer.post("stays", "update", **deployer.body(NEVER_READY="1"))

    after = deployer.until("stays", lambda d: d["revisions"][0]["state"] == "STATE_FAILED")
    seen = load.stop()

    assert "weights of another shape" in after["revisions"][0]["reason"]
    assert after["stableRevision"] == 1
    assert after["state"] == "STATE_READY"
    assert seen["failed"] == 0, seen["failures"]


def test_a_revision_that_only_says_it_is_ready_gets_no_request(deployer: Any, clients: Callable[..., Any]) -> None:
    deployer.create("proven")
    load = clients(deployer.until_ready("proven"), clients=1)
    body = deployer.body(MUTE="1")
    deployer.post("proven", "update", **{**body, "serving": {**body["serving"], "startupTimeoutS": 3}})

    after = deployer.until("proven", lambda d: d["revisions"][0]["state"] == "STATE_FAILED")
    seen = load.stop()

    assert "was not ready within 3 s" in after["revisions"][0]["reason"]
    assert (after["stableRevision"], after["state"]) == (1, "STATE_READY")
    assert seen["failed"] == 0, seen["failures"]


def test_the_first_request_after_zero_waits_and_is_answered(deployer: Any) -> None:
    deployer.create("zero", scaling={"minReplicas": 0, "maxReplicas": 1, "idleS": 1})
    ready = deployer.until("zero", lambda d: d["stableRevision"] == 1)
    deployer.until("zero", lambda d: d["state"] == "STATE_SCALED_TO_ZERO" and not d["revisions"][0]["replicas"])

    answer = deployer.master.http.post(f"{ready['url']}/v1/models/zero:predict", json={"instances": []})

    assert answer.status_code == 200
    assert answer.json()["revision"] == 1


def test_a_deleted_deployment_is_gone_with_its_replicas(deployer: Any) -> None:
    deployer.create("gone")
    url = deployer.until_ready("gone")["url"]

    deployer.delete("gone")
    deployer.until_gone("gone")
    answer = deployer.master.http.post(f"{url}/v1/models/gone:predict", json={})

    assert answer.status_code == 404
    assert "There is no deployment 'gone'" in answer.json()["error"]
