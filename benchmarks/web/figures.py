"""Figures of the web UI on a seeded home, measured in a real Chromium and printed beside their bounds.

    python -m benchmarks.web.figures HOME [--runs 5]

HOME comes from `python -m benchmarks.web.seed`. Times are read by the page's own clock, from the click to the frame in
which the result stands on the page; the median of the runs is shown.
"""

import argparse
import gzip
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Page, sync_playwright

STATIC = Path(__file__).parents[2] / "src/resolute/server/static"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
# Clicks what `selector` names, then counts milliseconds until `done` is true in a frame.
CLICK = """
([selector, done]) => new Promise((resolve, reject) => {
  const test = new Function(`return ${done}`), began = performance.now();
  const look = () => {
    if (test()) return resolve(performance.now() - began);
    if (performance.now() - began > 60000) return reject(new Error('not done: ' + done));
    requestAnimationFrame(look);
  };
  document.querySelector(selector).click();
  requestAnimationFrame(look);
})"""
DRAWN = "[...document.querySelectorAll('figure.chart')].some((chart) => Number(chart.dataset.points) > {points})"
LINES = "Number(document.querySelector('figure.chart')?.dataset.lines ?? 0) > 990"
# The panel that is computed last, over all trials.
FOREST = "document.body.innerText.includes('a random forest over 1000 trials')"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("home", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    print(f"{'figure':<58}{'measured':>12}{'bound':>12}")
    show("entry bundle, gzip", entry_bytes() / 1000, 250, "kB")
    with running(arguments.home) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 900}, base_url=f"{url}/det/")
        measure(page, Server(url), arguments.runs)
        browser.close()


def show(name: str, value: float, bound: float, unit: str) -> None:
    print(f"{name:<58}{value:>9.0f} {unit:<2}{bound:>9.0f} {unit}", flush=True)


def entry_bytes() -> int:
    """What the first page fetches of our code: its scripts and styles, as they travel compressed."""
    html = (STATIC / "index.html").read_text()
    names = re.findall(r'(?:src|href)="/det/(assets/[^"]+\.(?:js|css))"', html)
    return sum(len(gzip.compress((STATIC / name).read_bytes(), 6)) for name in names)


def measure(page: Page, server: "Server", runs: int) -> None:
    sign_in(page)
    show("first contentful paint, signed in", median(lambda: first_paint(page), runs), 1000, "ms")
    show("list of 1,000 experiments, from the click", median(lambda: listed(page), runs), 300, "ms")
    long_run, search = server.find("long-run"), server.find("thousand-trial-search")
    curve = partial(opened, page, f"experiments/{long_run}/config", "Overview", DRAWN.format(points=1000))
    show("curve of 10,000,000 points, first since the start", curve(), 300, "ms")
    show("curve of 10,000,000 points, from the click", median(curve, runs), 300, "ms")
    for what, done in (("curves of", LINES), ("all of", FOREST)):
        took = median(partial(opened, page, f"experiments/{search}/config", "Search", done), runs)
        show(f"{what} a search page of 1,000 trials, from the click", took, 1000, "ms")
    show("live delay, from the report to the chart", median(LiveDelay(page, server), runs), 1000, "ms")


def median(once: Callable[[], float], runs: int) -> float:
    once()
    return statistics.median(once() for _ in range(runs))


def sign_in(page: Page) -> None:
    page.goto("signin")
    page.get_by_label("User name").fill("admin")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Home").wait_for()


def first_paint(page: Page) -> float:
    page.goto("")
    page.get_by_role("heading", name="Home").wait_for()
    page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
    return float(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))


def listed(page: Page) -> float:
    page.goto("")
    page.get_by_role("link", name="All experiments").wait_for()
    rows = "Number(document.querySelector('table')?.getAttribute('aria-rowcount') ?? 0) >= 1000"
    return float(page.evaluate(CLICK, ["a.nav-link[href$='/experiments']", rows]))


def opened(page: Page, start: str, tab: str, done: str) -> float:
    page.goto(start)
    page.get_by_role("link", name=tab).wait_for()
    page.wait_for_timeout(300)
    page.evaluate(f"[...document.querySelectorAll('.tabs a')].find((a) => a.text === '{tab}').id = 'wanted'")
    return float(page.evaluate(CLICK, ["#wanted", done]))


class LiveDelay:
    """A trial that we report for by hand, looked at while we do."""

    def __init__(self, page: Page, server: "Server") -> None:
        self._page = page
        self._report, trial = server.unmanaged_trial()
        for step in range(1, 6):
            self._report(step)
        self._step = 5
        page.goto(f"trials/{trial}")
        page.wait_for_function(DRAWN.format(points=4))

    def __call__(self) -> float:
        self._step += 1
        began = time.perf_counter()
        self._report(self._step)
        self._page.wait_for_function(DRAWN.format(points=self._step - 1), polling="raf")
        return (time.perf_counter() - began) * 1000


class Server:
    def __init__(self, url: str) -> None:
        self._http = httpx.Client(base_url=url, timeout=60)
        answer = self._http.post("/api/v1/auth/login", json={"username": "admin", "password": ""})
        self._http.headers["Authorization"] = f"Bearer {answer.json()['token']}"

    def find(self, name: str) -> int:
        return int(self._http.get("/api/v1/experiments", params={"name": name}).json()["experiments"][0]["id"])

    def unmanaged_trial(self) -> tuple[Callable[[int], None], int]:
        config = "name: live\nentrypoint: x\nsearcher: {name: single, metric: loss}\n"
        experiment = self._post("/api/v1/experiments", {"config": config, "unmanaged": True})["experiment"]["id"]
        trial = self._post("/api/v1/trials", {"experimentId": experiment, "hparams": {}, "unmanaged": True})["trial"][
            "id"
        ]
        run = self._post(f"/api/v1/trials/{trial}/start", {"trialId": trial})["trialRunId"]

        def report(step: int) -> None:
            metrics = {
                "trialId": trial,
                "trialRunId": run,
                "stepsCompleted": step,
                "metrics": {"avgMetrics": {"loss": 1 / step}},
            }
            self._post(f"/api/v1/trials/{trial}/metrics", {"group": "training", "metrics": metrics})

        return report, int(trial)

    def _post(self, path: str, body: Any) -> Any:
        answer = self._http.post(path, json=body)
        answer.raise_for_status()
        return answer.json()


@contextmanager
def running(home: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "resolute.cli.main", "up", "--port", "0", "--home", str(home), "--slots", "2"]
    master = subprocess.Popen([*command, "--no-warm"], stdout=subprocess.PIPE, text=True)
    assert master.stdout is not None
    try:
        line = next(line for line in master.stdout if "ready at" in line)
        yield line.split("ready at ")[1].strip()
    finally:
        master.terminate()
        master.wait(timeout=30)
        end_router(home)


def end_router(home: Path) -> None:
    """It outlives its master by design."""
    state = home / "router" / "router.json"
    if not state.exists():
        return
    with suppress(ProcessLookupError):
        os.kill(json.loads(state.read_text())["pid"], signal.SIGTERM)


if __name__ == "__main__":
    main()
