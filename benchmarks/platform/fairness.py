"""How long a report of a trial takes beside clients that mean harm: `python -m benchmarks.platform.fairness`.

Fifty unmanaged trials report once a second each, first alone, then beside 200 connections without a token that send
halves of requests, bodies of brackets, endless addresses and guesses of passwords, each again as soon as it is refused.
The promise is a 99th percentile of 250 ms on an otherwise idle machine.
"""

import argparse
import contextlib
import itertools
import multiprocessing
import os
import random
import socket
import statistics
import threading
import time
from urllib.parse import urlsplit

import httpx

from benchmarks.platform.master import Master, running_master
from benchmarks.platform.run import METRICS, ONE, _unmanaged_trial

PROMISE_S = 0.25
BODY = b"POST /api/v1/experiments HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n"
LOGIN = b"POST /api/v1/auth/login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n%s"
GUESS = b'{"username":"admin","password":"guess"}'
OPENINGS = (
    b"GET /info HTTP/1.1\r\nHost: 127",
    (BODY % 1000) + b"half",
    (BODY % 30_000_000) + b"[" * 1_000_000,
    b"GET /" + b"a" * 300_000,
    LOGIN % (len(GUESS), GUESS),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--hostile", type=int, default=200)
    arguments = parser.parse_args()
    with running_master() as master:
        created = master.http.post("/api/v1/experiments", json={"config": ONE, "unmanaged": True, "activate": True})
        experiment_id = created.json()["experiment"]["id"]
        trials = [_unmanaged_trial(master, experiment_id) for _ in range(arguments.trials)]
        print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, promise {PROMISE_S * 1000:.0f} ms")
        for hostile in (0, arguments.hostile):
            took_s = _reports(master, trials, arguments.seconds, hostile)
            cut = statistics.quantiles(took_s, n=100)
            print(
                f"{hostile:4} hostile connections: {len(took_s)} reports, p50 {cut[49] * 1000:.0f} ms, "
                f"p99 {cut[98] * 1000:.0f} ms, worst {max(took_s) * 1000:.0f} ms"
            )


def _reports(master: Master, trials: list[int], seconds: int, hostile: int) -> list[float]:
    took_s: list[list[float]] = [[] for _ in trials]
    # In a process of their own: here they would hold up whoever measures.
    attackers = multiprocessing.get_context("spawn").Process(target=_attackers, args=(master.url, hostile), daemon=True)
    attackers.start()
    time.sleep(3.0 if hostile else 0.0)
    reporters = [
        threading.Thread(target=_report, args=(master, trial, seconds, took))
        for trial, took in zip(trials, took_s, strict=True)
    ]
    for thread in reporters:
        thread.start()
    for thread in reporters:
        thread.join()
    attackers.kill()
    attackers.join()
    return list(itertools.chain.from_iterable(took_s))


def _attackers(url: str, hostile: int) -> None:
    """Until this process is killed."""
    threads = [threading.Thread(target=_attack, args=(url, number)) for number in range(hostile)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _attack(url: str, number: int) -> None:
    address = (urlsplit(url).hostname, urlsplit(url).port)
    opening = OPENINGS[number % len(OPENINGS)]
    while True:
        time.sleep(1.0)
        with contextlib.suppress(OSError), socket.create_connection(address, timeout=20) as connection:
            connection.sendall(opening)
            while connection.recv(4096):
                pass


def _report(master: Master, trial_id: int, seconds: int, took_s: list[float]) -> None:
    time.sleep(random.random())
    with httpx.Client(base_url=master.url, headers=master.http.headers, timeout=60) as http:
        for step in range(seconds):
            report = {
                "trialId": trial_id,
                "trialRunId": 1,
                "stepsCompleted": step + 1,
                "metrics": {"avgMetrics": METRICS},
            }
            began = time.perf_counter()
            http.post(
                f"/api/v1/trials/{trial_id}/metrics", json={"group": "training", "metrics": report}
            ).raise_for_status()
            took_s.append(time.perf_counter() - began)
            time.sleep(max(0.0, 1.0 - took_s[-1]))


if __name__ == "__main__":
    main()
