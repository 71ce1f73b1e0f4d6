"""Pictures of the main pages from a master that really ran something.

    python -m benchmarks.web.screenshots [--out docs/img]

Starts a master on a fresh home, arranges the scene of `benchmarks.web.scene`, runs the experiments of
`tests/e2e/web/curves`, sends requests to a deployment with a canary, and photographs the pages.
"""

import argparse
import base64
import shutil
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Page, sync_playwright

from benchmarks.web.figures import FLAGS, running
from benchmarks.web.scene import Scene, Server, arrange

ROOT = Path(__file__).parents[2]
CURVES = ROOT / "tests/e2e/web/curves"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "docs/img")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder) / "home") as url,
        sync_playwright() as playwright,
    ):
        scene = arrange(url, Path(folder) / "scene")
        work = Work(url)
        traffic = Traffic(url, scene)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for theme, width, pages in work.pictures() + pictures_of(scene):
            context = browser.new_context(viewport={"width": width, "height": 800 if width > 800 else 844})
            page = context.new_page()
            context.set_default_timeout(30_000)
            photograph(page, f"{url}/det/", theme, pages, arguments.out)
            context.close()
        traffic.stop()
        work.end()
        browser.close()


def photograph(page: Page, base: str, theme: str, pages: dict[str, tuple[str, str]], out: Path) -> None:
    page.goto(f"{base}signin")
    page.evaluate(f"localStorage.setItem('resolute.theme', '{theme}')")
    page.goto(base)
    _sign_in(page)
    for name, (path, click) in pages.items():
        page.goto(base + path)
        page.get_by_role("heading").first.wait_for()
        page.wait_for_timeout(1500)
        if click:
            page.get_by_role("button", name=click).first.click()
            page.wait_for_timeout(1500)
        page.screenshot(path=out / f"{name}.png")


def _sign_in(page: Page) -> None:
    page.get_by_label("User name").fill("determined")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Home").wait_for()


def pictures_of(scene: Scene) -> list[tuple[str, int, dict[str, tuple[str, str]]]]:
    wide = {
        "dataset": (f"datasets/{scene.dataset}", ""),
        "model": (f"models/{scene.model}", ""),
        "deployment": (f"deployments/{scene.deployment}", "1 minute"),
        "evaluation": (f"checkpoints/{scene.checkpoints[1]}", ""),
    }
    dark = {
        "deployment-dark": (f"deployments/{scene.deployment}", "1 minute"),
        "dataset-dark": (f"datasets/{scene.dataset}", ""),
    }
    narrow = {"deployment-phone": (f"deployments/{scene.deployment}", "1 minute")}
    return [("light", 1280, wide), ("dark", 1280, dark), ("dark", 390, narrow)]


class Traffic:
    """A canary at 30 %, and a client that asks without pause until told to stop."""

    def __init__(self, url: str, scene: Scene) -> None:
        self._server, self._scene = Server(url), scene
        body = {"model": f"{scene.model}/2", "percent": 30}
        self._server.post(f"/deployments/{scene.deployment}/canary", body)
        self._instances = [{"data": base64.b64encode(Path(scene.picture).read_bytes()).decode()}]
        self._path = f"{url}/serving/{scene.deployment}/v1/models/{scene.deployment}:predict"
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._ask)
        self._thread.start()
        time.sleep(60)

    def _ask(self) -> None:
        while not self._stopping.is_set():
            self._server.post(self._path, {"instances": self._instances})

    def stop(self) -> None:
        """Replicas outlive their master by design, so the deployment goes first."""
        self._stopping.set()
        self._thread.join()
        self._server.delete(f"/deployments/{self._scene.deployment}")
        self._server.wait(lambda: not self._server.get("/deployments")["deployments"], "taking the deployment down")


class Work:
    """Two finished experiments, one that runs and one that waits."""

    def __init__(self, url: str) -> None:
        self._http = httpx.Client(base_url=url, timeout=60)
        answer = self._http.post("/api/v1/auth/login", json={"username": "determined", "password": ""})
        self._http.headers["Authorization"] = f"Bearer {answer.json()['token']}"
        self.single = self._create("single.yaml")
        self.search = self._create("search.yaml")
        for experiment in (self.single, self.search):
            self._wait(experiment)
        slow = {"steps: 200": "steps: 20000", "pause_s: 0.01": "pause_s: 0.05", "falling-loss": "long-training"}
        self.live = [self._create("single.yaml", slow) for _ in range(3)]
        time.sleep(8)

    def pictures(self) -> list[tuple[str, int, dict[str, tuple[str, str]]]]:
        trial = self._get(f"/api/v1/experiments/{self.single}/trials")["trials"][0]["id"]
        best = self._get(f"/api/v1/experiments/{self.search}")["experiment"]["bestTrialId"]
        wide = {
            "home": ("", ""),
            "experiments": ("experiments", ""),
            "experiment": (f"experiments/{self.search}", ""),
            "live-curves": (f"experiments/{self.live[0]}", ""),
            "search-curves": (f"experiments/{self.search}/search", ""),
            "trials": (f"experiments/{self.search}/trials", ""),
            "code": (f"experiments/{self.single}/code", ""),
            "logs": (f"trials/{trial}/logs", ""),
            "compare": (f"compare?trials={trial},{best}", ""),
            "queue": ("queue", ""),
            "cluster": ("cluster", ""),
        }
        dark = {
            "search-parallel-dark": (f"experiments/{self.search}/search", "Parallel coordinates"),
            "search-heat-map-dark": (f"experiments/{self.search}/search", "Heat map"),
            "trial-dark": (f"trials/{best}", ""),
        }
        narrow = {"experiment-phone": (f"experiments/{self.search}/search", "")}
        return [("light", 1280, wide), ("dark", 1280, dark), ("dark", 390, narrow)]

    def end(self) -> None:
        for experiment in self.live:
            self._http.post(f"/api/v1/experiments/{experiment}/kill").raise_for_status()
        for experiment in self.live:
            self._wait(experiment)

    def _create(self, name: str, changes: dict[str, str] | None = None) -> int:
        config = (CURVES / name).read_text()
        for old, new in (changes or {}).items():
            config = config.replace(old, new)
        files = [_file(path) for path in sorted(CURVES.iterdir()) if path.is_file()]
        body = {"config": config, "modelDefinition": files, "activate": True}
        answer = self._http.post("/api/v1/experiments", json=body)
        answer.raise_for_status()
        return int(answer.json()["experiment"]["id"])

    def _get(self, path: str) -> Any:
        return self._http.get(path).raise_for_status().json()

    def _wait(self, experiment: int) -> None:
        while not self._get(f"/api/v1/experiments/{experiment}")["experiment"]["endTime"]:
            time.sleep(0.3)


def _file(path: Path) -> dict[str, Any]:
    content = base64.b64encode(path.read_bytes()).decode()
    return {"path": path.name, "type": 48, "content": content, "mtime": "0", "mode": 33188, "uid": 0, "gid": 0}


if __name__ == "__main__":
    main()
