"""Hundreds of clients without a token that send slowly, by halves or far too much, beside clients that report."""

import contextlib
import re
import socket
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

HOSTILE, REPORTING, REPORTS = 200, 50, 6
FLOODS = 3
BRACKETS = b"[" + b"[]," * 10_000_000 + b"[]]"
"""30 MB that take seconds to parse and most of a GB to hold."""
MAX_GROWTH_MIB = 200
CONFIG = "name: fair\nentrypoint: 'true'\nsearcher: {name: single, metric: loss}\n"
BODY = b"POST /api/v1/experiments HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n"
OPENINGS = (
    b"GET /info HTTP/1.1\r\nHost: 127",
    (BODY % 1000) + b"half",
    (BODY % 100_000_000) + b"[" * 300_000,
    b"GET /" + b"a" * 300_000,
)


@contextlib.contextmanager
def hostile(url: str) -> Iterator[None]:
    """All connections are open before the block begins, and stay so from this side."""
    address = (urlsplit(url).hostname, urlsplit(url).port)
    with contextlib.ExitStack() as held:
        for number in range(HOSTILE):
            connection = held.enter_context(socket.create_connection(address, timeout=20))
            with contextlib.suppress(ConnectionError, TimeoutError):
                connection.sendall(OPENINGS[number % len(OPENINGS)])
        yield


def flood(url: str, statuses: list[int]) -> None:
    with contextlib.suppress(httpx.TransportError):
        statuses.append(httpx.post(f"{url}/api/v1/experiments", content=BRACKETS, timeout=120).status_code)


def peak_mib(pid: int) -> int:
    """The most memory the process has held."""
    return int(re.findall(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())[0]) // 1024


def unmanaged_trial(master: Any, experiment_id: int) -> int:
    body = {"experimentId": experiment_id, "hparams": {}, "unmanaged": True}
    trial = int(master.call("POST", "/api/v1/trials", json=body)["trial"]["id"])
    master.call("POST", f"/api/v1/trials/{trial}/start", json={"trialId": trial, "resume": False})
    return trial


def report(url: str, token: str, trial: int, took_s: list[float], failures: list[str]) -> None:
    with httpx.Client(timeout=60, headers={"Authorization": token}) as http:
        for step in range(1, REPORTS + 1):
            metrics = {
                "trialId": trial,
                "trialRunId": 1,
                "stepsCompleted": step,
                "metrics": {"avgMetrics": {"loss": 1}},
            }
            began = time.monotonic()
            answer = http.post(f"{url}/api/v1/trials/{trial}/metrics", json={"group": "training", "metrics": metrics})
            took_s.append(time.monotonic() - began)
            if answer.status_code != 200:
                failures.append(answer.text)


def test_every_report_arrives_beside_hostile_clients(
    live_master: Any, record_property: Callable[[str, object], None]
) -> None:
    live_master.login()
    token = live_master.http.headers["Authorization"]
    took_s: list[float] = []
    failures: list[str] = []
    statuses: list[int] = []
    created = live_master.call("POST", "/api/v1/experiments", json={"config": CONFIG, "unmanaged": True})
    trials = [unmanaged_trial(live_master, created["experiment"]["id"]) for _ in range(REPORTING)]
    before_mib = peak_mib(live_master.pid)

    with hostile(live_master.url):
        clients = [
            threading.Thread(target=report, args=(live_master.url, token, trial, took_s, failures)) for trial in trials
        ]
        clients += [threading.Thread(target=flood, args=(live_master.url, statuses)) for _ in range(FLOODS)]
        for each in clients:
            each.start()
        for each in clients:
            each.join()

    p99 = statistics.quantiles(took_s, n=100)[98]
    record_property("p99_s", round(p99, 3))
    print(f"p50 {statistics.median(took_s):.3f} s, p99 {p99:.3f} s of {len(took_s)} reports")
    grown_mib = peak_mib(live_master.pid) - before_mib
    record_property("grown_mib", grown_mib)
    print(f"grown by {grown_mib} MiB, worst {max(took_s):.3f} s, floods answered {statuses}")
    assert failures == []
    assert set(statuses) <= {401}
    assert grown_mib < MAX_GROWTH_MIB
    assert len(took_s) == REPORTING * REPORTS
    assert p99 < 30
