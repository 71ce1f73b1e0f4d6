"""Models: registered from a checkpoint, moved between stages, annotated, archived, deleted; and how good they are."""

import json
import re
from collections.abc import Iterator
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect


@pytest.fixture
def own(scene) -> Iterator[str]:
    """A model of this test alone, with one version."""
    name = f"own-{uuid4().hex[:6]}"
    scene.master.call("POST", "/api/v1/models", json={"name": name, "description": "made for a test"})
    body = {"modelName": name, "checkpointUuid": scene.checkpoints[0]}
    scene.master.call("POST", f"/api/v1/models/{name}/versions", json=body)
    yield name
    left = scene.master.call("GET", "/api/v1/models", params={"name": name})["models"]
    if left:
        scene.master.call("DELETE", f"/api/v1/models/{name}")


def test_the_list_names_models_and_a_new_one_can_be_made(page: Page, scene) -> None:
    page.goto("models")
    row = page.get_by_role("table", name="Models").get_by_role("row").filter(has_text=scene.model)
    expect(row.first).to_contain_text("Finds aircraft")
    name = f"fresh-{uuid4().hex[:6]}"

    page.get_by_role("button", name="New model").click()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Create").click()
    page.get_by_label("Find by name").fill(name)
    page.get_by_role("link", name=name).click()

    expect(page.get_by_text("No version yet")).to_be_visible()


def test_a_version_is_moved_to_another_stage(page: Page, scene, own: str) -> None:
    page.goto(f"models/{own}")

    page.get_by_label("Stage of version 1").select_option(label="Production")

    expect(page.get_by_text("Version 1 is now: Production")).to_be_visible()
    found = scene.master.call("GET", f"/api/v1/models/{own}/versions")["modelVersions"][0]
    assert found["stage"] == "PRODUCTION"


def test_a_checkpoint_is_registered_from_its_experiment(page: Page, scene, own: str) -> None:
    page.goto(f"experiments/{scene.experiments[1]}/checkpoints")
    page.get_by_role("button", name=f"Register {scene.checkpoints[1]}").click()
    page.get_by_label("Model, an existing one").fill(own)
    page.get_by_label("Comment").fill("from the page")

    page.get_by_role("button", name="Register", exact=True).click()

    expect(page.get_by_role("heading", name=own)).to_be_visible()
    rows = page.get_by_role("table", name="Versions").get_by_role("row")
    expect(rows).to_have_count(3)
    expect(rows.nth(1)).to_contain_text("from the page")


def test_where_a_version_comes_from_and_goes_to_is_linked_each_way(page: Page, scene) -> None:
    page.goto(f"models/{scene.model}")
    page.get_by_role("table", name="Versions").get_by_role("row").nth(2).get_by_role("cell").first.click()
    chain = page.locator(".lineage")

    for name in (f"{scene.dataset}:1", "trial", "step 100", f"{scene.model}/1", f"{scene.deployment}/1"):
        expect(chain.get_by_role("link", name=name).first).to_be_visible()
    chain.get_by_role("link", name=f"{scene.deployment}/1").click()
    expect(page.get_by_role("heading", name=scene.deployment, exact=False).first).to_be_visible()
    page.locator(".lineage").get_by_role("link", name=f"{scene.model}/1").click()

    expect(page.get_by_role("heading", name=scene.model)).to_be_visible()


def test_notes_of_a_model_are_kept(page: Page, own: str) -> None:
    page.goto(f"models/{own}")
    page.get_by_role("button", name="Write a note").click()
    page.get_by_label("Notes in markdown").fill("Use it for *ports*.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Edit")).to_be_visible()

    page.reload()

    expect(page.locator("em", has_text="ports")).to_be_visible()


def test_a_model_is_archived_and_taken_out_again(page: Page, own: str) -> None:
    page.goto(f"models/{own}")
    page.get_by_role("button", name="Actions").click()
    page.get_by_role("button", name="Archive").click()
    expect(page.locator("h1")).to_contain_text("Archived")
    page.goto("models")
    page.get_by_label("Find by name").fill(own)
    expect(page.get_by_text(f"No model has “{own}” in its name")).to_be_visible()
    page.get_by_label("Archived too").check()
    page.get_by_role("link", name=own).click()

    page.get_by_role("button", name="Actions").click()
    page.get_by_role("button", name="Take out of the archive").click()

    expect(page.locator("h1")).not_to_contain_text("Archived")


def test_a_version_and_then_the_model_are_deleted_after_a_question(page: Page, scene, own: str) -> None:
    page.goto(f"models/{own}")
    page.get_by_role("button", name="Delete version 1").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No version yet")).to_be_visible()

    page.get_by_role("button", name="Actions").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()

    expect(page.get_by_role("heading", name="Models", exact=True)).to_be_visible()
    assert scene.master.call("GET", "/api/v1/models", params={"name": own})["models"] == []


def test_a_checkpoint_shows_how_good_it_is(page: Page, scene) -> None:
    page.goto(f"experiments/{scene.experiments[1]}/checkpoints")
    expect(page.get_by_text("Evaluated")).to_be_visible()
    page.get_by_role("link", name=scene.checkpoints[1][:8]).click()

    expect(page.get_by_role("heading", name="Evaluation on 18 images")).to_be_visible()
    expect(page.get_by_role("figure", name="precision by recall")).to_have_attribute("data-lines", "8")
    expect(page.get_by_role("table", name="Kinds of errors").get_by_role("row")).to_have_count(7)
    expect(page.get_by_role("table", name="Confusion matrix").locator("td.right").first).to_be_visible()
    expect(page.locator(".judged img").first).to_have_attribute("src", re.compile("^blob:"))
    page.get_by_role("button", name="Best", exact=True).click()
    expect(page.locator(".judged")).to_have_count(4)


def test_results_by_class_are_sorted_and_a_class_shows_its_curve_alone(page: Page, scene) -> None:
    page.goto(f"checkpoints/{scene.checkpoints[1]}")
    table = page.get_by_role("table", name="Results by class")
    table.get_by_role("button", name="AP, %").click()

    cells = table.locator("tbody tr td:nth-child(4)").all_inner_texts()
    values = [float(cell) for cell in cells if cell != "–"]
    assert len(values) >= 8
    assert values == sorted(values, reverse=True)
    table.get_by_role("button", name="Small Car").click()

    expect(page.get_by_role("figure", name="precision by recall")).to_have_attribute("data-lines", "1")


def test_one_file_of_a_checkpoint_can_be_saved(page: Page, scene) -> None:
    page.goto(f"checkpoints/{scene.checkpoints[0]}")

    with page.expect_download() as started:
        page.get_by_role("button", name="Download detector.json").click()

    with open(started.value.path()) as file:
        assert json.load(file)["kind"] == "detector"
