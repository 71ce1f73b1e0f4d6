"""Datasets: the list, versions, pictures with their labels, and who used them."""

import re
from pathlib import Path

from playwright.sync_api import Page, expect


def test_the_list_names_what_is_in_each_dataset_and_finds_by_name(page: Page, scene) -> None:
    page.goto("datasets")
    row = page.get_by_role("table", name="Datasets").get_by_role("row").filter(has_text=scene.dataset)
    expect(row).to_contain_text(re.compile(r"72.*px tiles of a synthetic set", re.DOTALL))

    page.get_by_label("Find by name").fill("nothing-like-it")

    expect(page.get_by_text("No dataset has “nothing-like-it” in its name")).to_be_visible()


def test_pictures_are_shown_with_their_boxes(page: Page, scene) -> None:
    page.goto(f"datasets/{scene.dataset}")

    first = page.locator(".image-cell svg.boxes").first
    expect(first.locator("image")).to_have_attribute("href", re.compile("^blob:"))
    assert int(first.get_attribute("data-boxes") or 0) > 0
    expect(page.get_by_text(re.compile(r"^\d+ pictures$"))).to_be_visible()


def test_a_class_keeps_only_its_pictures(page: Page, scene) -> None:
    page.goto(f"datasets/{scene.dataset}")
    counter = page.get_by_text(re.compile(r"^\d+ pictures?$"))
    expect(counter).to_have_text("54 pictures")
    row = page.get_by_role("table", name="Classes").get_by_role("row").filter(has_text="Small Car")
    images = row.get_by_role("cell").last.inner_text()

    page.get_by_role("table", name="Classes").get_by_role("button", name="Small Car").click()

    expect(counter).to_have_text(f"{images} pictures")
    expect(page.get_by_label("Class", exact=True)).to_have_value("5")


def test_another_label_file_has_other_pictures(page: Page, scene) -> None:
    page.goto(f"datasets/{scene.dataset}")

    page.get_by_label("Label file").select_option(label="val_256_02.json")

    expect(page.get_by_text("18 pictures")).to_be_visible()


def test_a_picture_opens_large_and_arrow_keys_go_on(page: Page, scene) -> None:
    page.goto(f"datasets/{scene.dataset}")
    page.locator(".image-cell").first.click()
    view = page.get_by_role("dialog")
    expect(view).to_contain_text("1 of 54, 256 × 256 pixels")
    expect(view.locator("svg image")).to_have_attribute("href", re.compile("^blob:"))
    expect(view.locator("svg text").first).to_be_visible()

    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(view).to_contain_text("3 of 54")
    page.keyboard.press("ArrowLeft")
    expect(view).to_contain_text("2 of 54")
    view.get_by_label("Names").uncheck()
    expect(view.locator("svg text")).to_have_count(0)
    page.keyboard.press("Escape")

    expect(view).to_be_hidden()


def test_a_version_can_be_chosen_and_leads_to_the_experiments_that_used_it(page: Page, scene, tmp_path: Path) -> None:
    page.goto(f"datasets/{scene.dataset}/1")
    expect(page.get_by_label("Version")).to_have_value("1")
    expect(page.locator(".lineage")).to_contain_text(scene.dataset)

    page.locator(".lineage").get_by_role("link", name="tile-detector", exact=True).first.click()

    expect(page.get_by_role("heading", name="tile-detector")).to_be_visible()
    expect(page.get_by_role("link", name=f"{scene.dataset}:1").first).to_be_visible()


def test_a_dataset_that_is_not_there_is_said_in_the_servers_words(page: Page) -> None:
    page.goto("datasets/no-such-set")

    expect(page.get_by_role("alert")).to_contain_text("no-such-set")
