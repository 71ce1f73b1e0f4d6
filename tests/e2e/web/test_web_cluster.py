"""Queue, cluster, workspaces, people."""

import re

from playwright.sync_api import Page, expect


def test_a_waiting_job_can_be_moved_ahead(page: Page, work) -> None:
    jobs = [work.start(steps=5000, pause_s=0.02, name=f"job-{letter}") for letter in "abcd"]
    work.master.wait(jobs[0], "STATE_RUNNING")
    page.goto("queue")
    table = page.get_by_role("table", name="Jobs")
    expect(table.get_by_role("link", name="job-d")).to_be_visible()

    page.get_by_role("button", name="Move job-d up").click()

    expect(page.get_by_text("The queue was changed")).to_be_visible()
    expect(table).to_contain_text(re.compile("job-d.*job-c", re.DOTALL))
    for job in jobs:
        work.master.call("POST", f"/api/v1/experiments/{job}/kill")


def test_a_job_is_dragged_ahead_and_gets_another_priority(page: Page, work) -> None:
    jobs = [work.start(steps=5000, pause_s=0.02, name=f"drag-{letter}") for letter in "abcd"]
    work.master.wait(jobs[0], "STATE_RUNNING")
    page.goto("queue")
    table = page.get_by_role("table", name="Jobs")
    row = table.get_by_role("row").filter(has_text="drag-d")
    expect(row).to_be_visible()

    row.drag_to(table.get_by_role("row").filter(has_text="drag-c"))
    expect(table).to_contain_text(re.compile("drag-d.*drag-c", re.DOTALL))
    row.get_by_role("button", name="Edit").click()
    page.get_by_label("Priority, 1 goes first").fill("7")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()

    expect(row.get_by_role("cell", name="7", exact=True)).to_be_visible()
    for job in jobs:
        work.master.call("POST", f"/api/v1/experiments/{job}/kill")


def test_the_cluster_shows_who_uses_which_slot(page: Page, work) -> None:
    experiment = work.start(steps=5000, pause_s=0.02)
    work.master.wait(experiment, "STATE_RUNNING")

    page.goto("cluster")

    expect(page.locator(".slot.used")).to_have_count(1)
    # A deployment's replica may be there as well; it holds no slot.
    held = page.get_by_role("table", name="Allocations").get_by_role("link", name=f"Experiment {experiment}")
    expect(held).to_be_visible()
    work.master.call("POST", f"/api/v1/experiments/{experiment}/kill")


def test_a_workspace_and_a_project_are_made_on_their_pages(page: Page) -> None:
    page.goto("workspaces")
    page.get_by_role("button", name="New workspace").click()
    page.get_by_label("Name").fill("harbour")
    page.get_by_role("button", name="Create").click()
    page.get_by_role("link", name="harbour").click()
    page.get_by_role("button", name="New project").first.click()
    page.get_by_label("Name").fill("ships")
    page.get_by_role("button", name="Create").click()

    page.get_by_role("link", name="ships").click()

    expect(page.get_by_role("heading", name="ships")).to_be_visible()
    expect(page.get_by_text("No experiment has run here yet")).to_be_visible()


def test_an_administrator_adds_a_user_who_can_sign_in(page: Page) -> None:
    page.goto("users")
    page.get_by_role("button", name="New user").click()
    page.get_by_label("User name").fill("grace")
    page.get_by_label("Password").fill("Cobol-1959")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("row").filter(has_text="grace")).to_be_visible()
    page.get_by_role("button", name="Account").click()
    page.get_by_role("button", name="Sign out").click()

    page.get_by_label("User name").fill("grace")
    page.get_by_label("Password").fill("Cobol-1959")
    page.get_by_role("button", name="Sign in").click()

    expect(page.get_by_role("heading", name="Home")).to_be_visible()
    expect(page.get_by_role("link", name="Users")).to_have_count(0)


def test_a_user_is_deactivated_after_a_question_and_taken_back(page: Page, work) -> None:
    page.goto("users")
    page.get_by_role("button", name="New user").click()
    page.get_by_label("User name").fill("edsger")
    page.get_by_label("Password").fill("Goto-1968")
    page.get_by_role("button", name="Create").click()
    row = page.get_by_role("row").filter(has_text="edsger")

    row.get_by_role("button", name="Deactivate").click()
    page.get_by_role("dialog").get_by_role("button", name="Deactivate").click()
    expect(row).to_contain_text("Inactive")
    row.get_by_role("button", name="Activate", exact=True).click()
    expect(row).not_to_contain_text("Inactive")
    row.get_by_role("button", name="Make admin").click()

    expect(row).to_contain_text("Admin")


def test_a_token_is_shown_once_and_can_be_revoked(page: Page) -> None:
    page.goto("account")
    page.get_by_label("What it is for").fill("nightly")
    page.get_by_role("button", name="Create token").click()
    expect(page.get_by_text("Copy it now")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="nightly")).to_be_visible()

    page.get_by_role("row").filter(has_text="nightly").get_by_role("button", name="Revoke").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()

    expect(page.get_by_role("row").filter(has_text="nightly")).to_have_count(0)
