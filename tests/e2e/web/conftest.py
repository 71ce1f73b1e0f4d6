"""A real Chromium against a live master with experiments that really ran."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

ROOT = Path(__file__).parents[3]
CURVES = Path(__file__).parent / "curves"
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
WIDE = {"width": 1280, "height": 900}
expect.set_options(timeout=20_000)


class Master(Protocol):
    url: str

    def call(self, method: str, path: str, **options: Any) -> Any: ...
    def create(self, config: str, folder: Path, **fields: Any) -> int: ...
    def wait(self, experiment_id: int, *states: str, timeout_s: float = 90) -> str: ...
    def experiment(self, experiment_id: int) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Work:
    """What ran before the tests look."""

    master: Master
    single: int
    search: int

    def trial_of(self, experiment_id: int) -> int:
        trials = self.master.call("GET", f"/api/v1/experiments/{experiment_id}/trials")["trials"]
        return int(trials[0]["id"])

    def start(
        self, *, steps: int = 200, pause_s: float = 0.01, activate: bool = True, name: str = "falling-loss"
    ) -> int:
        config = (CURVES / "single.yaml").read_text()
        config = config.replace("steps: 200", f"steps: {steps}").replace("pause_s: 0.01", f"pause_s: {pause_s}")
        return self.master.create(config.replace("name: falling-loss", f"name: {name}", 1), CURVES, activate=activate)


@pytest.fixture(scope="session")
def work(live_master: Master) -> Work:
    single = live_master.create((CURVES / "single.yaml").read_text(), CURVES)
    search = live_master.create((CURVES / "search.yaml").read_text(), CURVES)
    assert live_master.wait(single, timeout_s=120) == "STATE_COMPLETED"
    assert live_master.wait(search, timeout_s=240) == "STATE_COMPLETED"
    return Work(live_master, single, search)


@dataclass(frozen=True)
class Scene:
    """What `benchmarks.web.scene` made on the master."""

    master: Master
    dataset: str
    experiments: tuple[int, int]
    checkpoints: tuple[str, str]
    model: str
    deployment: str
    tiles: str
    picture: str


@pytest.fixture(scope="session")
def scene(live_master: Master, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """Tiles, two detectors with their evaluations, a model of two versions, and a deployment of the first."""
    folder = tmp_path_factory.mktemp("scene")
    command = [sys.executable, "-m", "benchmarks.web.scene", live_master.url, str(folder)]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True, timeout=240)
    yield Scene(live_master, **json.loads(done.stdout))
    # Replicas outlive their master by design; a test must not leave them behind.
    for each in live_master.call("GET", "/api/v1/deployments")["deployments"]:
        live_master.call("DELETE", f"/api/v1/deployments/{each['name']}")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium; `make browser` installs it")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def stranger(browser: Browser, live_master: Master) -> Iterator[Page]:
    """A page of somebody who has not signed in. Fails the test when the page's own code does."""
    context = browser.new_context(viewport=WIDE, base_url=f"{live_master.url}/det/")
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: _note(problems, message))
    yield page
    context.close()
    assert problems == []


def _note(problems: list[str], message: ConsoleMessage) -> None:
    # The browser itself reports refused and lost requests; the tests provoke those on purpose.
    if message.type == "error" and not message.text.startswith("Failed to load resource"):
        problems.append(message.text)


@pytest.fixture
def page(stranger: Page) -> Page:
    """Signed in as the administrator."""
    return sign_in(stranger, "admin")


def until(page: Page, is_so: Callable[[], bool], timeout_s: float = 30) -> None:
    """Looked at from here: the page's own policy forbids to evaluate a condition again and again inside it."""
    ends_at = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < ends_at, f"still not so after {timeout_s} s"
        page.wait_for_timeout(50)


def sign_in(page: Page, username: str) -> Page:
    page.goto("signin")
    page.get_by_label("User name").fill(username)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Home")).to_be_visible()
    return page
