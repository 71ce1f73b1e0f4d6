"""What can be done from a page, each with its question first."""

from pathlib import Path

from playwright.sync_api import Page, expect

CURVES = Path(__file__).parent / "curves"


def confirm(page: Page, action: str) -> None:
    page.get_by_role("dialog").get_by_role("button", name=action).click()
    expect(page.get_by_role("dialog")).to_be_hidden()


def more(page: Page, action: str) -> None:
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("button", name=action, exact=True).click()


def test_a_mistake_in_the_yaml_is_named_with_its_line(page: Page) -> None:
    page.goto("experiments/new")

    text = "name: x\nentrypoint: python3 train.py\nsearcher:\n  name: sinlge\n  metric: loss\n"
    page.get_by_label("Configuration in YAML").fill(text)

    expect(page.get_by_role("alert")).to_contain_text("sinlge")
    expect(page.locator(".gutter .bad")).to_have_text("4")
    expect(page.get_by_role("button", name="Start experiment")).to_be_disabled()


def test_a_folder_and_pasted_yaml_become_an_experiment(page: Page, work) -> None:
    page.goto("experiments/new")
    config = (CURVES / "single.yaml").read_text().replace("name: falling-loss", "name: from-the-page")
    page.get_by_label("Configuration in YAML").fill(config)
    page.locator("input[type=file]").set_input_files(CURVES)
    expect(page.get_by_text("This configuration is accepted")).to_be_visible()

    page.get_by_role("button", name="Start experiment").click()

    expect(page.get_by_role("heading", name="from-the-page")).to_be_visible()
    experiment = int(page.url.rpartition("/")[2])
    assert work.master.wait(experiment) == "STATE_COMPLETED"


def test_an_example_fills_the_editor_and_is_accepted(page: Page) -> None:
    page.goto("experiments/new")

    page.get_by_role("button", name="quickstart", exact=False).first.click()

    expect(page.get_by_text("This configuration is accepted")).to_be_visible()


def test_an_experiment_is_paused_activated_and_killed(page: Page, work) -> None:
    experiment = work.start(steps=4000, pause_s=0.02)
    work.master.wait(experiment, "STATE_RUNNING")
    page.goto(f"experiments/{experiment}")

    page.get_by_role("button", name="Pause").click()
    confirm(page, "Pause")
    expect(page.locator("h1")).to_contain_text("Paused")
    page.get_by_role("button", name="Activate").click()
    confirm(page, "Activate")
    expect(page.locator("h1")).to_contain_text("Running")
    more(page, "Kill")
    confirm(page, "Kill")

    expect(page.locator("h1")).to_contain_text("Canceled")


def test_a_question_can_be_left_unanswered(page: Page, work) -> None:
    page.goto(f"experiments/{work.single}")

    more(page, "Delete")
    page.get_by_role("button", name="Keep as it is").click()

    assert work.master.experiment(work.single)["state"] == "STATE_COMPLETED"


def test_a_fork_keeps_the_code_and_takes_edits(page: Page, work) -> None:
    page.goto(f"experiments/{work.single}")
    page.get_by_role("link", name="Fork").click()
    editor = page.get_by_label("Configuration in YAML")
    expect(editor).to_have_value((CURVES / "single.yaml").read_text())
    editor.fill(editor.input_value().replace("name: falling-loss", "name: forked").replace("steps: 200", "steps: 20"))

    page.get_by_role("button", name="Start the fork").click()

    expect(page.get_by_role("heading", name="forked")).to_be_visible()
    experiment = int(page.url.rpartition("/")[2])
    assert work.master.wait(experiment) == "STATE_COMPLETED"
    assert work.master.experiment(experiment)["forkedFrom"] == work.single


def test_a_finished_experiment_is_continued_with_changes(page: Page, work) -> None:
    experiment = work.start(steps=50)
    work.master.wait(experiment)
    page.goto(f"experiments/{experiment}")

    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Changes to the configuration").fill("hyperparameters:\n  steps: 100\n")
    confirm(page, "Continue")

    expect(page.get_by_text("goes on", exact=False)).to_be_visible()
    assert work.master.wait(experiment) == "STATE_COMPLETED"


def test_an_experiment_is_renamed_moved_and_deleted(page: Page, work) -> None:
    experiment = work.start(steps=10, name="to-delete")
    work.master.wait(experiment)
    workspace = work.master.call("POST", "/api/v1/workspaces", json={"name": f"team-{experiment}"})["workspace"]["id"]
    project = {"name": "question", "workspaceId": workspace}
    work.master.call("POST", f"/api/v1/workspaces/{workspace}/projects", json=project)
    page.goto(f"experiments/{experiment}")

    more(page, "Rename")
    page.get_by_label("Name", exact=True).fill("renamed")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="renamed")).to_be_visible()
    more(page, "Move")
    page.get_by_label("Workspace").select_option(f"team-{experiment}")
    confirm(page, "Move")
    expect(page.get_by_role("link", name="question")).to_be_visible()
    more(page, "Delete")
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()

    expect(page.get_by_role("heading", name="Experiments")).to_be_visible()
