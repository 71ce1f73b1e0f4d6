"""A home with much in it: lists and pictures stay usable. Seeded through the store by `benchmarks.web.seed`."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[3]
EXPERIMENTS, SEARCH, POINTS = 400, 300, 200_000


@contextmanager
def serving(home: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "resolute.cli.main", "up", "--port", "0", "--home", str(home), "--no-warm"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as master:
        assert master.stdout is not None
        line = next(line for line in master.stdout if "ready at" in line)
        try:
            yield line.split("ready at ")[1].strip()
        finally:
            master.terminate()
            master.wait(timeout=30)


@pytest.fixture(scope="module")
def large(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    home = tmp_path_factory.mktemp("large") / "home"
    with serving(home):
        pass
    sizes = ["--experiments", str(EXPERIMENTS), "--trials", "5", "--search", str(SEARCH), "--points", str(POINTS)]
    subprocess.run([sys.executable, "-m", "benchmarks.web.seed", str(home), *sizes], cwd=ROOT, check=True)
    with serving(home) as url:
        page = browser.new_page(viewport={"width": 1280, "height": 900}, base_url=f"{url}/det/")
        page.goto("signin")
        page.get_by_label("User name").fill("admin")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", name="Home")).to_be_visible()
        yield page
        page.close()


def test_the_list_scrolls_to_its_last_experiment(large: Page) -> None:
    large.goto("experiments")
    table = large.get_by_role("table", name="Experiments")
    expect(table).to_have_attribute("aria-rowcount", str(EXPERIMENTS + 2))

    large.locator(".table-wrap").evaluate("node => node.scrollTo(0, node.scrollHeight)")

    expect(large.get_by_role("link", name="resnet-ships-0000")).to_be_visible()
    assert large.locator("tbody tr").count() < 100


def test_a_large_search_draws_every_trial(large: Page) -> None:
    large.goto(f"experiments/{EXPERIMENTS + 1}/search")

    expect(large.locator("figure.chart")).to_have_attribute("data-lines", str(SEARCH))
    expect(large.get_by_text(f"a random forest over {SEARCH} trials")).to_be_visible()


def test_a_long_series_is_thinned_and_drawn(large: Page) -> None:
    large.goto(f"experiments/{EXPERIMENTS + 2}")

    chart = large.get_by_role("figure", name="loss by step")
    expect(chart).to_have_attribute("data-lines", "2")
    assert 500 < int(chart.get_attribute("data-points") or 0) < 5000
