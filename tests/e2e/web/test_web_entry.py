"""Coming in, the frame around every page, and what happens when the server goes away."""

import pytest
from playwright.sync_api import Page, expect


def test_a_wrong_password_is_refused_with_the_servers_sentence(stranger: Page) -> None:
    stranger.goto("")
    stranger.get_by_label("User name").fill("admin")
    stranger.get_by_label("Password").fill("not this one")
    stranger.get_by_role("button", name="Sign in").click()

    expect(stranger.get_by_role("alert")).to_contain_text("credentials")


def test_after_signing_in_one_lands_on_the_page_one_asked_for(stranger: Page, work) -> None:
    stranger.goto(f"experiments/{work.single}")

    stranger.get_by_label("User name").fill("determined")
    stranger.keyboard.press("Enter")

    expect(stranger.get_by_role("heading", name="falling-loss")).to_be_visible()


def test_signing_out_ends_the_session(page: Page) -> None:
    page.get_by_role("button", name="Account").click()
    page.get_by_role("button", name="Sign out").click()

    expect(page.get_by_role("heading", name="Sign in to Resolute")).to_be_visible()
    page.goto("experiments")
    expect(page.get_by_role("heading", name="Sign in to Resolute")).to_be_visible()


def test_home_shows_slots_and_recent_experiments(page: Page, work) -> None:
    experiment = work.start(steps=5, name="ran-lately")
    work.master.wait(experiment)

    page.goto("")

    expect(page.get_by_text("Slots in use")).to_be_visible()
    expect(page.get_by_text("of 2", exact=False).first).to_be_visible()
    expect(page.get_by_role("link", name="ran-lately").first).to_be_visible()


def test_the_chosen_theme_survives_a_reload(page: Page) -> None:
    page.get_by_role("button", name="Use the dark theme").click()
    page.reload()

    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    expect(page.get_by_role("button", name="Use the light theme")).to_be_visible()


def test_a_lost_connection_shows_and_heals(page: Page, work) -> None:
    page.goto("experiments")
    expect(page.get_by_role("link", name="rate-search").first).to_be_visible()

    page.context.set_offline(True)
    page.get_by_label("Filter by name").fill("rate")
    expect(page.get_by_text("The server does not answer. What you see")).to_be_visible()
    page.context.set_offline(False)

    expect(page.get_by_text("The server does not answer. What you see")).to_be_hidden()
    expect(page.get_by_role("link", name="rate-search").first).to_be_visible()


def test_everything_can_be_reached_with_the_keyboard(page: Page, work) -> None:
    page.goto("")
    expect(page.get_by_text("Slots in use")).to_be_visible()

    reached = set()
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement?.textContent?.trim() ?? ''"))

    assert {"Home", "Experiments", "Datasets", "Models", "Deployments", "Workspaces", "Job queue", "Cluster"} <= reached


PAGES = (
    "", "experiments", "experiments/new", "workspaces", "queue", "cluster", "users", "account",
    "experiments/{search}", "experiments/{search}/trials", "experiments/{search}/search", "experiments/{single}/code",
    "experiments/{single}/config", "experiments/{single}/checkpoints", "trials/{trial}", "trials/{trial}/logs",
    "compare?experiments={single},{search}", "datasets", "datasets/{dataset}", "models", "models/{model}",
    "deployments", "deployments/{deployment}", "checkpoints/{checkpoint}", "experiments/{detector}",
)  # fmt: skip


@pytest.mark.parametrize("width", [1280, 390])
def test_no_page_is_wider_than_the_window(page: Page, work, scene, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    facts = {
        "single": work.single, "search": work.search, "trial": work.trial_of(work.single), "dataset": scene.dataset,
        "model": scene.model, "deployment": scene.deployment, "checkpoint": scene.checkpoints[1],
        "detector": scene.experiments[1],
    }  # fmt: skip

    too_wide = {}
    for path in PAGES:
        page.goto(path.format(**facts))
        expect(page.get_by_role("heading").first).to_be_visible()
        expect(page.get_by_role("status", name="Loading")).to_have_count(0)
        beyond = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        if beyond > 0:
            too_wide[path] = beyond

    assert too_wide == {}
