"""Does the master grow? Live pages and logs of running trials; memory, open files, threads and disk over time.

    python -m benchmarks.platform.soak [--minutes 10] [--warm-up 2] [--pages 8]

Prints a line every ten seconds and the slope after the warm-up. Exits with 1 when one of the bounds below is broken.
"""

import argparse
import asyncio
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import httpx

from benchmarks.platform.master import Master, running_master

MAX_MB_PER_MINUTE = 1.0
"""What allocators keep in pieces levels off; a leak does not."""
MAX_FILES_PER_MINUTE = 0.5
MAX_THREADS_PER_MINUTE = 0.5

TALKER = """
import time
import resolute
with resolute.init() as run:
    step = 0
    while not run.should_stop():
        step += 1
        run.report("training", step, {f"metric_{n}": 1 / step for n in range(10)})
        print("step", step, "of a run that talks a lot")
        time.sleep(0.05)
"""
CONFIG = """
name: talker {number}
entrypoint: python3 talker.py
max_restarts: 0
resources: {{slots_per_trial: 1}}
searcher: {{name: single, metric: metric_0}}
"""


@dataclass(frozen=True, slots=True)
class Reading:
    at_s: float
    rss_mb: float
    files: int
    threads: int
    home_mb: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--warm-up", type=float, default=2.0, help="minutes that do not count")
    parser.add_argument("--pages", type=int, default=8)
    parser.add_argument("--every-s", type=float, default=10.0, help="seconds between readings")
    arguments = parser.parse_args()
    with running_master(slots=2) as master:
        experiments = [master.create(CONFIG.format(number=number), {"talker.py": TALKER}) for number in range(2)]
        readings = asyncio.run(watch(master, experiments, arguments.minutes, arguments.pages, arguments.every_s))
        for experiment in experiments:
            master.http.post(f"/api/v1/experiments/{experiment}/kill")
    broken = judge([each for each in readings if each.at_s >= arguments.warm_up * 60])
    print("; ".join(broken) or "flat")
    sys.exit(1 if broken else 0)


async def watch(master: Master, experiments: list[int], minutes: float, pages: int, every_s: float) -> list[Reading]:
    """Readings of the master while `pages` pages look at its experiments as the web UI does."""
    limits = httpx.Limits(max_connections=None)
    readings: list[Reading] = []
    began = time.monotonic()
    async with httpx.AsyncClient(base_url=master.url, headers=master.http.headers, timeout=60, limits=limits) as http:
        crowd = [asyncio.create_task(page(http, experiments[n % len(experiments)], n)) for n in range(pages)]
        while time.monotonic() - began < minutes * 60:
            await asyncio.sleep(every_s)
            for one in crowd:
                if one.done():
                    one.result()
            readings.append(read(master, time.monotonic() - began))
            last = readings[-1]
            print(
                f"{last.at_s:6.0f} s  {last.rss_mb:7.1f} MB  {last.files:4d} files  {last.threads:3d} threads  "
                f"home {last.home_mb:6.1f} MB",
                flush=True,
            )
        for one in crowd:
            one.cancel()
        await asyncio.gather(*crowd, return_exceptions=True)
    return readings


async def page(http: httpx.AsyncClient, experiment: int, number: int) -> None:
    """A tab: it listens, asks again for what its page shows, and is opened anew now and then."""
    trial = await first_trial(http, experiment)
    looks = [
        f"/api/v1/experiments/{experiment}",
        f"/api/v1/experiments/{experiment}/trials",
        "/api/v1/experiments?limit=50&sortBy=SORT_BY_ID&orderBy=ORDER_BY_DESC",
        f"/api/v1/trials/{trial}",
        f"/api/v1/trials/{trial}/series?group=training&name=metric_{number % 10}&maxPoints=1000",
        f"/api/v1/trials/{trial}/logs?limit=200&orderBy=ORDER_BY_DESC",
        "/api/v1/agents",
        "/api/v1/job-queues-v2",
    ]
    while True:
        listening = asyncio.create_task(listen(http, f"experiment/{experiment},trial/{trial}"))
        try:
            for _ in range(10):
                for look in looks:
                    (await http.get(look)).raise_for_status()
                await asyncio.sleep(1.0)
        finally:
            listening.cancel()


async def listen(http: httpx.AsyncClient, topics: str) -> None:
    async with http.stream("GET", f"/api/v1/events?topics={topics}") as answer:
        async for _ in answer.aiter_bytes():
            pass


async def first_trial(http: httpx.AsyncClient, experiment: int) -> int:
    while True:
        trials = (await http.get(f"/api/v1/experiments/{experiment}/trials")).json()["trials"]
        if trials:
            return int(trials[0]["id"])
        await asyncio.sleep(0.1)


def read(master: Master, at_s: float) -> Reading:
    process = Path(f"/proc/{master.process.pid}")
    status = dict(line.split(":\t", 1) for line in (process / "status").read_text().splitlines() if ":\t" in line)
    home = Path(next(word for word in (process / "cmdline").read_text().split("\0") if "resolute-bench-" in word))
    return Reading(
        at_s=at_s,
        rss_mb=int(status["VmRSS"].split()[0]) / 1024,
        files=len(list((process / "fd").iterdir())),
        threads=int(status["Threads"]),
        home_mb=sum(path.stat().st_size for path in home.rglob("*") if path.is_file()) / 1e6,
    )


def judge(readings: list[Reading]) -> list[str]:
    """A sentence for each bound that is broken."""
    bounds = (
        ("MB of memory", MAX_MB_PER_MINUTE, [each.rss_mb for each in readings]),
        ("open files", MAX_FILES_PER_MINUTE, [float(each.files) for each in readings]),
        ("threads", MAX_THREADS_PER_MINUTE, [float(each.threads) for each in readings]),
    )
    minutes = [each.at_s / 60 for each in readings]
    slopes = [(what, bound, slope(minutes, values)) for what, bound, values in bounds]
    return [f"{found:.2f} {what} a minute, more than {bound}" for what, bound, found in slopes if found > bound]


def slope(at: list[float], values: list[float]) -> float:
    """Of the least-squares line."""
    mean_at, mean = sum(at) / len(at), sum(values) / len(values)
    spread = sum((x - mean_at) ** 2 for x in at)
    return sum((x - mean_at) * (y - mean) for x, y in zip(at, values, strict=True)) / spread if spread else 0.0


if __name__ == "__main__":
    main()
