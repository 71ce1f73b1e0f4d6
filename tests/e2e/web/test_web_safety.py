"""What a user wrote never runs in somebody else's browser, and scripts cannot reach the session."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect
from tests.e2e.web.test_web_entry import PAGES

CURVES = Path(__file__).parent / "curves"
ATTACK = "<img src=x onerror=window.hacked=1>"
HOSTILE = f"""
name: hostile-search
entrypoint: python3 train.py
hyperparameters:
  rate: 0.01
  dropout: 0.1
  width: 16
  steps: 20
  pause_s: 0
  "{ATTACK}": {{type: categorical, vals: ["{ATTACK}", plain]}}
searcher: {{name: grid, metric: validation_loss, max_length: {{batches: 20}}}}
resources: {{slots_per_trial: 1}}
max_restarts: 0
"""


@pytest.fixture(scope="module")
def hostile(live_master: Any) -> int:
    experiment = int(live_master.create(HOSTILE, CURVES))
    assert live_master.wait(experiment) == "STATE_COMPLETED"
    return experiment


def test_a_hostile_name_is_text_in_the_tooltip_of_a_search(page: Page, hostile: int) -> None:
    page.goto(f"experiments/{hostile}/search")
    page.get_by_role("button", name="Scatter").click()

    tooltip = hover_a_point(page, page.locator("canvas").first)

    expect(tooltip).to_contain_text(ATTACK)
    assert page.locator("img[src=x]").count() == 0
    assert page.evaluate("window.hacked") is None


def hover_a_point(page: Page, canvas: Locator) -> Locator:
    tooltip = page.locator("div", has_text="validation_loss: ").last
    expect(canvas).to_be_visible()
    box = canvas.bounding_box()
    assert box is not None
    left, right = box["x"] + 56, box["x"] + box["width"] - 16
    for share in (0.25, 0.75):
        for y in range(int(box["y"]), int(box["y"] + box["height"]), 3):
            page.mouse.move(left + (right - left) * share, y)
            if tooltip.count() and tooltip.is_visible():
                return tooltip
    raise AssertionError("no point of the scatter chart answered to the pointer")


def test_no_script_can_read_the_session(page: Page) -> None:
    token = next(cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "auth")

    readable = page.evaluate("JSON.stringify([document.cookie, {...localStorage}, {...sessionStorage}])")

    assert token not in readable


def test_a_new_tab_is_signed_in_and_signing_out_in_it_ends_the_other(page: Page) -> None:
    other = page.context.new_page()
    other.goto("")
    expect(other.get_by_role("heading", name="Home")).to_be_visible()

    other.get_by_role("button", name="Account").click()
    other.get_by_role("button", name="Sign out").click()

    expect(other.get_by_role("heading", name="Sign in to Resolute")).to_be_visible()
    expect(page.get_by_role("heading", name="Sign in to Resolute")).to_be_visible()


def test_pages_follow_changes_by_the_cookie_alone(page: Page, work: Any) -> None:
    page.goto("experiments")
    expect(page.get_by_role("link", name="rate-search").first).to_be_visible()

    work.start(steps=5, name="seen-at-once")

    expect(page.get_by_role("link", name="seen-at-once").first).to_be_visible()


def test_every_page_keeps_its_own_content_policy(page: Page, work: Any, scene: Any) -> None:
    facts = {
        "single": work.single, "search": work.search, "trial": work.trial_of(work.single), "dataset": scene.dataset,
        "model": scene.model, "deployment": scene.deployment, "checkpoint": scene.checkpoints[1],
        "detector": scene.experiments[1],
    }  # fmt: skip
    broken = note_violations(page.context)

    for path in PAGES:
        page.goto(path.format(**facts))
        expect(page.get_by_role("heading").first).to_be_visible()
        expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    page.goto(f"experiments/{work.search}/search")
    for view in ("Scatter", "Heat map", "Parallel"):
        page.get_by_role("button", name=view).first.click()
        expect(page.locator("canvas").first).to_be_visible()

    assert broken == []


def note_violations(context: BrowserContext) -> list[str]:
    found: list[str] = []
    context.expose_function("noteViolation", lambda line: found.append(line))
    context.add_init_script(
        "addEventListener('securitypolicyviolation', (e) =>"
        " window.noteViolation(`${location.pathname}: ${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}`))"
    )
    return found
