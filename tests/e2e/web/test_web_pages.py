"""Every page, in three sizes and both themes: nothing is squeezed, cut off, unreadable or out of reach.

Boxes are compared and not pixels: they are the same on every machine, whatever draws its letters.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Request, expect
from tests.e2e.web.conftest import Scene, Work, sign_in

AXE = Path(__file__).parents[3] / "web" / "node_modules" / "axe-core" / "axe.min.js"
SIZES = ((1440, 900), (1024, 700), (390, 844))
THEMES = ("light", "dark")
SQUEEZED = """() => [...document.querySelectorAll('.panel, .files, .file-tree, .log, figure.chart, .table-wrap')]
  .filter(each => each.checkVisibility() && each.textContent.trim())
  .filter(each => each.getBoundingClientRect().height < parseFloat(getComputedStyle(each).lineHeight))
  .map(each => each.className)"""
OUTSIDE = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
READ_BY_AXE = """async () => (await axe.run(document, {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'],
  resultTypes: ['violations'],
})).violations.flatMap(each => each.nodes.map(
  node => `${each.id}: ${node.html.slice(0, 120)} ${(node.any[0] || {}).message || ''}`))"""

WORK_PAGES = {
    "home": ("", "Home"),
    "experiments": ("experiments", "Experiments"),
    "overview": ("experiments/{single}", "falling-loss"),
    "trials": ("experiments/{search}/trials", "rate-search"),
    "curves of a search": ("experiments/{search}/search", "rate-search"),
    "scatter of a search": ("experiments/{search}/search?view=scatter", "rate-search"),
    "code": ("experiments/{single}/code", "falling-loss"),
    "configuration": ("experiments/{single}/config", "falling-loss"),
    "notes": ("experiments/{single}/notes", "falling-loss"),
    "checkpoints": ("experiments/{single}/checkpoints", "falling-loss"),
    "logs": ("experiments/{single}/logs", "falling-loss"),
    "trial": ("trials/{trial}", "Trial"),
    "hyperparameters": ("trials/{trial}/hyperparameters", "Trial"),
    "profiler": ("trials/{trial}/profiler", "Trial"),
    "compare": ("compare?experiments={single},{search}", "Compare"),
    "new experiment": ("experiments/new", "New experiment"),
    "queue": ("queue", "Job queue"),
    "cluster": ("cluster", "Cluster"),
    "workspaces": ("workspaces", "Workspaces"),
    "workspace": ("workspaces/1", "Uncategorized"),
    "project": ("projects/1", "Uncategorized"),
    "users": ("users", "Users"),
    "account": ("account", "Account"),
    "nowhere": ("there-is-no-such-page", ""),
}
SCENE_PAGES = {
    "datasets": ("datasets", "Datasets"),
    "dataset": ("datasets/{dataset}", "{dataset}"),
    "models": ("models", "Models"),
    "model": ("models/{model}", "{model}"),
    "checkpoint": ("checkpoints/{checkpoint}", "Checkpoint"),
    "deployments": ("deployments", "Deployments"),
    "deployment": ("deployments/{deployment}", "{deployment}"),
}


# What changes most and shows most. The rest, and the scene that takes a minute to build, is for `make test-all`.
LOOKED_AT_EACH_TIME = {
    "home",
    "experiments",
    "overview",
    "trials",
    "curves of a search",
    "logs",
    "compare",
    "new experiment",
}


def look(page: Page, address: str, heading: str) -> None:
    """Fails with all that is wrong with a page at once."""
    problems: list[str] = []
    for theme in THEMES:
        page.evaluate("theme => localStorage.setItem('resolute.theme', theme)", theme)
        page.set_viewport_size({"width": SIZES[0][0], "height": SIZES[0][1]})
        page.goto(address)
        if heading:
            expect(page.get_by_role("heading", level=1)).to_contain_text(heading)
            assert heading in page.title() or "Resolute" in page.title()
        expect(page.locator(".skeleton")).to_have_count(0)
        assert page.evaluate("document.documentElement.dataset.theme") == theme
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            problems += [f"{width} {theme}: squeezed {name}" for name in page.evaluate(SQUEEZED)]
            if page.evaluate(OUTSIDE) > 0:
                problems.append(f"{width} {theme}: the page is wider than the window")
        page.set_viewport_size({"width": SIZES[0][0], "height": SIZES[0][1]})
        problems += [f"{theme}: {each}" for each in accessibility(page)]
    assert problems == []


def accessibility(page: Page) -> list[str]:
    if not AXE.exists():
        pytest.skip("axe-core is not installed; `make ui` does it")
    # By the protocol of the browser's tools: the page's own policy lets no foreign script in.
    tools = page.context.new_cdp_session(page)
    tools.send("Runtime.evaluate", {"expression": AXE.read_text()})
    found: dict[str, Any] = tools.send(
        "Runtime.evaluate",
        {"expression": f"({READ_BY_AXE})().then(JSON.stringify)", "awaitPromise": True, "returnByValue": True},
    )
    tools.detach()
    return list(json.loads(found["result"]["value"]))


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in LOOKED_AT_EACH_TIME else pytest.mark.slow) for name in WORK_PAGES],
)
def test_a_page_of_work_is_whole(page: Page, work: Work, name: str) -> None:
    address, heading = WORK_PAGES[name]
    facts = {"single": work.single, "search": work.search, "trial": work.trial_of(work.single)}

    look(page, address.format(**facts), heading)


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENE_PAGES)
def test_a_page_on_data_and_models_is_whole(page: Page, scene: Scene, name: str) -> None:
    address, heading = SCENE_PAGES[name]
    facts = {
        "dataset": scene.dataset,
        "model": scene.model,
        "checkpoint": scene.checkpoints[0],
        "deployment": scene.deployment,
    }

    look(page, address.format(**facts), heading.format(**facts))


def test_the_page_to_sign_in_is_whole(stranger: Page) -> None:
    stranger.goto("signin")

    look(stranger, "signin", "Sign in")


def test_the_code_of_an_experiment_can_be_read(page: Page, work: Work) -> None:
    page.goto(f"experiments/{work.single}/code")

    page.get_by_role("treeitem", name="train.py").click()
    box = page.locator(".code").bounding_box()

    assert box is not None
    assert box["height"] > 200


def test_the_first_visit_costs_less_than_two_hundred_kilobytes(stranger: Page) -> None:
    fetched: dict[str, Request] = {}
    stranger.on("requestfinished", lambda request: fetched.update({request.url: request}))

    sign_in(stranger, "admin")

    assert 100_000 < sum(_bytes_sent(request) for request in list(fetched.values())) < 200_000


def _bytes_sent(request: Request) -> int:
    """What really went over the wire, headers and all, for a file of the pages."""
    answer = request.response()
    if answer is None or not answer.ok or "/det/" not in request.url:
        return 0
    if request.url.endswith((".js", ".css")) and len(answer.body()) >= 1000:
        assert answer.header_value("content-encoding") in {"br", "gzip"}, request.url
    sizes = request.sizes()
    return int(sizes["responseBodySize"] + sizes["responseHeadersSize"])


def test_a_phone_shows_the_open_tab_and_the_last_column(page: Page, work: Work) -> None:
    page.set_viewport_size({"width": 390, "height": 844})

    page.goto(f"experiments/{work.single}/logs")
    expect(page.get_by_role("link", name="Logs")).to_be_in_viewport(ratio=0.9)
    page.goto("")
    expect(page.get_by_role("cell", name="ago").first).to_be_in_viewport(ratio=1)


def test_one_gets_about_without_a_mouse(page: Page, work: Work) -> None:
    page.goto("account")
    expect(page).to_have_title("Account · Resolute")

    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"

    page.goto(f"experiments/{work.single}")
    expect(page).to_have_title(f"{work.single} falling-loss · Resolute")
    enlarge = page.get_by_role("button", name="Enlarge loss")
    enlarge.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")

    expect(enlarge).to_be_focused()
