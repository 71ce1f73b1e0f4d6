"""What goes wrong is said, in its place: failed trials, a master that is away, parts that cannot be fetched."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect
from tests.e2e.web.conftest import Work

CRASH = Path(__file__).parent / "crash"
AWAY = "The server does not answer. This page tries again by itself."


@pytest.fixture(scope="module")
def crashed(work: Work) -> int:
    experiment = work.master.create((CRASH / "crash.yaml").read_text(), CRASH)
    assert work.master.wait(experiment) == "STATE_ERROR"
    return experiment


def test_a_failed_experiment_says_why_and_leads_to_the_line(page: Page, crashed: int) -> None:
    page.goto(f"experiments/{crashed}")

    panel = page.locator(".panel").filter(has=page.get_by_role("link", name="Show in the log"))
    expect(panel.get_by_role("heading")).to_have_text("RuntimeError: the batch of step 50 has no labels")
    expect(panel.get_by_label("Last lines")).to_contain_text("step_into_trouble(50)")
    panel.get_by_role("link", name="Show in the log").click()

    expect(page.locator(".log-line.target")).to_contain_text("Traceback (most recent call last):")
    expect(page.locator(".log-line.target")).to_be_in_viewport()


def test_a_failed_experiment_is_not_drawn_as_done(page: Page, crashed: int) -> None:
    page.goto("experiments?name=half-way-down")

    row = page.get_by_role("row").filter(has_text="half-way-down").first
    bar = row.get_by_role("progressbar")
    assert int(bar.get_attribute("aria-valuenow") or 100) < 100


def test_metrics_of_any_group_are_drawn(page: Page, work: Work, crashed: int) -> None:
    for place in (f"experiments/{crashed}", f"trials/{work.trial_of(crashed)}", f"compare?experiments={crashed}"):
        page.goto(place)

        expect(page.get_by_role("heading", name="test_set: accuracy")).to_be_visible()


def test_tracebacks_are_errors_of_the_log(page: Page, work: Work, crashed: int) -> None:
    page.goto(f"trials/{work.trial_of(crashed)}/logs?level=LOG_LEVEL_ERROR")

    expect(page.get_by_role("log")).to_contain_text("Traceback (most recent call last):")
    expect(page.get_by_role("log")).to_contain_text("RuntimeError: the batch of step 50 has no labels")
    page.get_by_role("button", name="Next error").click()
    page.get_by_role("button", name="Level (1)").click()
    page.get_by_role("checkbox", name="Error").uncheck()
    expect(page).to_have_url(re.compile(r"/logs$"))


def test_a_log_is_saved_as_text(page: Page, work: Work, crashed: int) -> None:
    page.goto(f"trials/{work.trial_of(crashed)}/logs")

    with page.expect_download() as saved:
        page.get_by_role("button", name="Download").click()

    text = Path(saved.value.path()).read_text()
    assert "RuntimeError: the batch of step 50 has no labels\n" in text


@pytest.fixture
def away(page: Page) -> Iterator[Page]:
    """The master does not answer anything but what is open already."""
    page.goto("account")
    expect(page.get_by_role("heading", name="Access tokens")).to_be_visible()
    page.context.set_offline(True)
    yield page
    page.context.set_offline(False)


@pytest.mark.parametrize("place", ["Experiments", "Home"])
def test_a_master_that_is_away_is_not_drawn_as_one_without_experiments(away: Page, work: Work, place: str) -> None:
    away.get_by_role("link", name=place, exact=True).click()

    expect(away.get_by_text(AWAY).first).to_be_visible()
    expect(away.get_by_text("No experiment has run here yet")).to_have_count(0)
    expect(away.get_by_text("Nothing is running")).to_have_count(0)
    away.context.set_offline(False)
    expect(away.get_by_role("link", name="rate-search").first).to_be_visible()


def test_a_page_that_cannot_be_fetched_says_so_and_comes_when_it_can(away: Page) -> None:
    away.get_by_role("link", name="Cluster", exact=True).click()

    expect(away.get_by_text("This page could not be fetched.")).to_be_visible()
    away.context.set_offline(False)

    expect(away.get_by_role("heading", name="Cluster")).to_be_visible()


def test_an_action_that_did_not_arrive_is_not_promised_to_be_tried_again(away: Page) -> None:
    away.get_by_role("button", name="Create token").click()

    expect(away.get_by_text("look whether this was done")).to_be_visible()


def test_what_is_still_on_its_way_is_not_drawn_as_too_little(page: Page, work: Work) -> None:
    held: list[Route] = []
    page.route(re.compile(r"/experiments/\d+/trials\?"), lambda route: held.append(route))

    page.goto(f"experiments/{work.search}/search")
    expect(page.get_by_role("heading", name="Rungs")).to_be_visible()

    expect(page.get_by_text("Not enough trials yet")).to_have_count(0)
    for route in held:
        route.continue_()
    page.unroute_all(behavior="ignoreErrors")
    expect(page.get_by_text(re.compile("a random forest over"))).to_be_visible()


def test_clearing_the_filter_clears_its_boxes(page: Page, work: Work) -> None:
    page.goto("experiments")
    page.get_by_label("Filter by name").fill("nobody has this name")
    page.get_by_role("button", name="Clear the filter").click()

    expect(page.get_by_label("Filter by name")).to_have_value("")
    expect(page.get_by_role("link", name="rate-search").first).to_be_visible()


def test_the_picture_of_a_search_stands_in_the_address(page: Page, work: Work) -> None:
    page.goto(f"experiments/{work.search}/search")
    page.get_by_role("button", name="Scatter").click()

    expect(page).to_have_url(re.compile("view=scatter"))
    page.reload()
    expect(page.get_by_role("button", name="Scatter")).to_have_attribute("aria-pressed", "true")
