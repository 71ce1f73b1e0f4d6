"""The page of a trial: metrics, hyperparameters, logs; and trials side by side."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

CURVES = Path(__file__).parent / "curves"
RANKS = Path(__file__).parent / "ranks"


@pytest.fixture(scope="module")
def two_ranks(work) -> int:
    """A profiled trial of two ranks that has ended."""
    experiment = work.master.create((RANKS / "ranks.yaml").read_text(), RANKS)
    assert work.master.wait(experiment) == "STATE_COMPLETED"
    return int(work.trial_of(experiment))


def test_a_trial_shows_its_metrics_and_hyperparameters(page: Page, work) -> None:
    page.goto(f"trials/{work.trial_of(work.single)}")
    expect(page.get_by_role("figure", name="loss by step")).to_have_attribute("data-lines", "2")

    page.get_by_role("link", name="Hyperparameters").click()

    expect(page.get_by_role("row", name="dropout 0.1")).to_be_visible()


def test_a_trial_that_was_not_profiled_says_how_to_profile(page: Page, work) -> None:
    page.goto(f"trials/{work.trial_of(work.single)}/profiler")

    expect(page.get_by_text("This trial was not profiled")).to_be_visible()
    expect(page.get_by_text("profiling: {enabled: true}")).to_be_visible()


def test_profiled_groups_have_their_charts(page: Page, two_ranks: int) -> None:
    page.goto(f"trials/{two_ranks}/profiler")
    groups = page.get_by_role("group", name="Group")
    for name in ("cpu", "memory", "throughput"):
        expect(groups.get_by_role("button", name=name)).to_be_visible()
    expect(page.get_by_role("figure", name="cpu_util_simple by time")).to_be_visible()

    groups.get_by_role("button", name="throughput").click()

    for name in ("samples_per_second", "data_wait"):
        chart = page.get_by_role("figure", name=f"throughput: {name} by step")
        expect(chart).to_have_attribute("data-points", "30")


def test_a_log_of_several_ranks_can_be_narrowed_to_one(page: Page, two_ranks: int) -> None:
    page.goto(f"trials/{two_ranks}/logs")
    log = page.get_by_role("log")
    expect(log.get_by_text("rank 0 did step 30")).to_be_visible()
    expect(log.get_by_text("rank 1 did step 30")).to_be_visible()

    page.get_by_role("button", name="Rank").click()
    page.get_by_label("Rank 1").check()

    expect(log.get_by_text("rank 0 did step 30")).to_be_hidden()
    expect(log.get_by_text("rank 1 did step 30")).to_be_visible()


def test_a_log_has_its_colours_and_can_be_searched(page: Page, work) -> None:
    page.goto(f"trials/{work.trial_of(work.single)}/logs")
    log = page.get_by_role("log")
    expect(log.get_by_text("accuracy 0.833")).to_be_visible()
    coloured = log.get_by_text("accuracy 0.833").evaluate("node => getComputedStyle(node).color")
    plain = log.get_by_text("step  200").evaluate("node => getComputedStyle(node).color")

    page.get_by_label("Search in the log").fill("step  100")
    page.keyboard.press("Enter")

    assert coloured != plain
    expect(log.locator(".log-line")).to_have_count(1)
    expect(log.locator("mark")).to_have_text("step  100")


def test_a_log_can_be_narrowed_to_warnings(page: Page, work) -> None:
    page.goto(f"trials/{work.trial_of(work.single)}/logs")
    expect(page.get_by_role("log").get_by_text("Training")).to_be_visible()

    page.get_by_role("button", name="Level").click()
    page.get_by_label("Warning").check()

    expect(page.get_by_role("log").get_by_text("Training")).to_be_hidden()
    expect(page.get_by_role("log").get_by_text("the learning rate is still").first).to_be_visible()


def test_a_log_follows_a_running_trial(page: Page, work) -> None:
    experiment = work.start(steps=2000, pause_s=0.02)
    page.goto(f"experiments/{experiment}/logs")
    log = page.get_by_role("log")
    expect(log.get_by_text("step   10")).to_be_visible()

    expect(log.get_by_text("step  150")).to_be_visible()

    work.master.call("POST", f"/api/v1/experiments/{experiment}/kill")


def test_a_log_can_begin_at_a_time(page: Page, two_ranks: int) -> None:
    page.goto(f"trials/{two_ranks}/logs")
    log = page.get_by_role("log")
    expect(log.get_by_text("rank 0 did step 30")).to_be_visible()

    page.get_by_label("From this time on").fill("2100-01-01T00:00:00")

    expect(log.get_by_text("rank 0 did step 30")).to_be_hidden()
    page.get_by_label("From this time on").fill("")
    expect(log.get_by_text("rank 0 did step 30")).to_be_visible()


def test_every_run_of_a_trial_says_why_it_ended(page: Page, work) -> None:
    config = (CURVES / "single.yaml").read_text().replace("steps: 200", "steps: 5")
    config = config.replace("entrypoint: python3 train.py", "entrypoint: python3 -c 'raise SystemExit(3)'")
    experiment = work.master.create(config.replace("max_restarts: 0", "max_restarts: 1"), CURVES)
    assert work.master.wait(experiment) == "STATE_ERROR"

    page.goto(f"trials/{work.trial_of(experiment)}")

    expect(page.get_by_role("heading", name="Runs of this trial")).to_be_visible()
    rows = page.get_by_role("row").filter(has_text="3")
    expect(rows).to_have_count(2)


def test_a_running_trial_is_killed_on_its_page(page: Page, work) -> None:
    experiment = work.start(steps=4000, pause_s=0.02)
    work.master.wait(experiment, "STATE_RUNNING")
    page.goto(f"trials/{work.trial_of(experiment)}")

    page.get_by_role("button", name="Kill").click()
    page.get_by_role("dialog").get_by_role("button", name="Kill").click()

    expect(page.locator("h1")).to_contain_text("Canceled")


def test_trials_are_compared_by_what_differs(page: Page, work) -> None:
    page.goto(f"experiments/{work.search}/trials")
    rows = page.locator("tbody tr")
    expect(rows.first).to_be_visible()
    rows.nth(0).get_by_role("checkbox").check()
    rows.nth(1).get_by_role("checkbox").check()

    page.get_by_role("button", name="Compare").click()

    expect(page.get_by_role("heading", name="Compare 2 trials")).to_be_visible()
    table = page.get_by_role("table", name="Comparison")
    expect(table.get_by_role("row").filter(has_text="rate")).to_be_visible()
    expect(table.get_by_role("row").filter(has_text="pause_s")).to_have_count(0)
    expect(page.get_by_role("figure", name="loss by step")).to_have_attribute("data-lines", "4")


def test_experiments_are_compared_by_their_best_trials(page: Page, work) -> None:
    page.goto(f"compare?experiments={work.single},{work.search}")

    expect(page.get_by_role("heading", name="Compare 2 trials")).to_be_visible()
