"""The list of experiments, and the pages of one."""

import re
import tarfile
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.e2e.web.conftest import until

CURVES = Path(__file__).parent / "curves"


def test_the_list_filters_and_sorts_on_the_server(page: Page, work) -> None:
    page.goto("experiments")
    with page.expect_request(re.compile(r"name=rate-se")):
        page.get_by_label("Filter by name").fill("rate-se")
    expect(page.get_by_role("row").filter(has_text="rate-search").first).to_be_visible()
    expect(page.get_by_role("row", name="falling-loss")).to_have_count(0)

    with page.expect_request(re.compile(r"sortBy=SORT_BY_NUM_TRIALS")) as asked:
        page.get_by_role("button", name="Trials").click()

    assert "name=rate-se" in asked.value.url
    assert "orderBy=ORDER_BY_DESC" in asked.value.url
    expect(page.get_by_role("row").filter(has_text="rate-search").first).to_be_visible()


def test_a_hyperparameter_and_a_metric_can_be_columns(page: Page, work) -> None:
    page.goto("experiments?name=falling-loss")

    page.get_by_role("button", name="Columns").click()
    page.get_by_label("dropout").check()
    page.get_by_role("group", name="Choices").get_by_label("validation_loss").check()
    page.keyboard.press("Escape")

    expect(page.get_by_role("columnheader", name="dropout")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="falling-loss").first).to_contain_text("0.1")
    expect(page.get_by_role("columnheader", name="validation_loss")).to_be_visible()


def test_metric_columns_ask_for_all_best_trials_by_one_request(page: Page, work) -> None:
    page.goto("experiments")
    page.get_by_role("button", name="Columns").click()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/api/v1/trials" in request.url else None)

    page.get_by_role("group", name="Choices").get_by_label("validation_loss").check()
    page.keyboard.press("Escape")

    row = page.get_by_role("row").filter(has_text="rate-search").first
    expect(row.get_by_role("cell").last).to_have_text(re.compile(r"0\.\d+"))
    assert len(asked) == 1


def test_many_experiments_can_be_tagged_archived_and_compared_at_once(page: Page, work) -> None:
    first, second = (work.start(steps=10, name="for-many") for _ in range(2))
    for experiment in (first, second):
        work.master.wait(experiment)
    page.goto("experiments?name=for-many")
    page.get_by_label("Select all shown").check()

    page.get_by_role("button", name="Tag", exact=True).click()
    page.get_by_label("Tags, separated by commas").fill("together")
    page.get_by_role("button", name="Save tags").click()
    expect(page.get_by_role("row").filter(has_text="together")).to_have_count(2)
    page.get_by_role("button", name="Archive", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Archive").click()

    expect(page.get_by_text("No experiment matches")).to_be_visible()
    assert work.master.experiment(first)["archived"] is True
    assert work.master.experiment(second)["labels"] == ["demo", "web", "together"]


def test_many_experiments_are_paused_activated_and_killed_at_once(page: Page, work) -> None:
    both = [work.start(steps=4000, pause_s=0.02, name="pausable") for _ in range(2)]
    for experiment in both:
        work.master.wait(experiment, "STATE_RUNNING")
    page.goto("experiments?name=pausable")
    page.get_by_label("Select all shown").check()

    for verb, state in (("Pause", "Paused"), ("Activate", "Running"), ("Kill", "Canceled")):
        page.get_by_label("Select all shown").check()
        page.locator(".selection-bar").get_by_role("button", name=verb, exact=True).click()
        page.get_by_role("dialog").get_by_role("button", name=verb, exact=True).click()
        rows = page.get_by_role("row").filter(has_text="pausable").filter(has_text=re.compile(f"{state}|Queued"))
        expect(rows).to_have_count(2)


def test_chosen_experiments_are_compared_from_the_list(page: Page, work) -> None:
    page.goto("experiments")
    for name in ("rate-search", "falling-loss"):
        page.get_by_role("row").filter(has_text=name).last.get_by_role("checkbox").check()

    page.locator(".selection-bar").get_by_role("button", name="Compare").click()

    expect(page.get_by_role("heading", name="Compare 2 trials")).to_be_visible()


def test_a_chart_can_be_zoomed_smoothed_and_shown_on_a_log_axis(page: Page, work) -> None:
    page.goto(f"experiments/{work.single}")
    chart = page.get_by_role("figure", name="loss by step")
    plot = chart.locator(".u-over")
    expect(chart).to_have_attribute("data-lines", "2")
    box = plot.bounding_box()
    assert box is not None
    pictures = [chart.screenshot()]

    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 60, steps=5)
    page.mouse.up()
    page.mouse.move(box["x"], box["y"] - 60)
    pictures.append(chart.screenshot())
    plot.dblclick(position={"x": 5, "y": 5})
    page.mouse.move(box["x"], box["y"] - 60)
    page.get_by_role("button", name="Log", exact=True).click()
    pictures.append(chart.screenshot())
    page.get_by_label("Smoothing").fill("0.9")
    expect(page.get_by_text("0.90")).to_be_visible()
    pictures.append(chart.screenshot())

    assert len(set(pictures)) == len(pictures)


def test_curves_of_train_and_validation_share_a_chart(page: Page, work) -> None:
    page.goto(f"experiments/{work.single}")

    chart = page.get_by_role("figure", name="loss by step")
    expect(chart).to_have_attribute("data-lines", "2")
    expect(page.get_by_role("button", name="training loss")).to_be_visible()
    expect(page.get_by_role("button", name="validation_loss")).to_be_visible()


def test_the_axis_can_count_steps_epochs_or_time(page: Page, work) -> None:
    page.goto(f"experiments/{work.single}")

    for word, name in (("Epoch", "epoch"), ("Time", "time"), ("Step", "step")):
        page.get_by_role("button", name=word, exact=True).click()
        expect(page.get_by_role("figure", name=f"loss by {name}")).to_be_visible()


def test_pointing_at_a_curve_names_its_trial_and_a_click_opens_it(page: Page, work) -> None:
    page.goto(f"experiments/{work.search}")
    plot = page.get_by_role("figure", name="accuracy by step").locator(".u-over")
    expect(page.get_by_role("figure", name="accuracy by step")).to_have_attribute("data-lines", "12")
    box = plot.bounding_box()
    assert box is not None

    page.mouse.move(box["x"] + box["width"] * 0.1, box["y"] + box["height"] * 0.75)
    expect(page.locator(".chart-tip")).to_contain_text("trial")
    page.mouse.dblclick(box["x"] + box["width"] * 0.1, box["y"] + box["height"] * 0.75)
    expect(page.get_by_role("heading", name="rate-search")).to_be_visible()
    page.mouse.click(box["x"] + box["width"] * 0.1, box["y"] + box["height"] * 0.75)

    expect(page.locator("h1")).to_contain_text("Trial")


def test_a_curve_grows_while_it_is_looked_at(page: Page, work) -> None:
    experiment = work.start(steps=400, pause_s=0.05)
    page.goto(f"experiments/{experiment}")
    chart = page.get_by_role("figure", name="loss by step")
    expect(chart).to_be_visible()
    before = int(chart.get_attribute("data-points") or 0)

    until(page, lambda: int(chart.get_attribute("data-points") or 0) > before + 20)

    work.master.call("POST", f"/api/v1/experiments/{experiment}/kill")
    expect(page.locator("h1")).to_contain_text("Canceled")


def test_trials_come_best_first(page: Page, work) -> None:
    page.goto(f"experiments/{work.search}/trials")

    expect(page.locator("tbody tr").first).to_contain_text("Best")
    cells = page.locator("tbody tr td:nth-child(4)").all_inner_texts()
    values = [float(cell.replace("−", "-")) for cell in cells if cell != "–"]

    assert len(values) >= 10
    assert values == sorted(values)


def test_the_search_has_its_pictures(page: Page, work) -> None:
    page.goto(f"experiments/{work.search}/search")
    expect(page.get_by_role("figure", name="validation_loss by step")).to_be_visible()

    page.get_by_role("button", name="Parallel coordinates").click()
    expect(page.get_by_role("img", name="Parallel coordinates").locator("canvas")).to_be_visible()
    page.get_by_role("button", name="Scatter").click()
    expect(page.get_by_role("img", name="validation_loss by rate").locator("canvas")).to_be_visible()
    page.get_by_role("button", name="Heat map").click()
    expect(page.get_by_role("img", name=re.compile("^Mean validation_loss")).locator("canvas").first).to_be_visible()
    expect(page.get_by_text("Share of the differences")).to_be_visible()
    expect(page.get_by_text("At each rung the best 1 in 4 go on")).to_be_visible()


def test_a_range_of_parallel_coordinates_can_be_kept(page: Page, work) -> None:
    page.goto(f"experiments/{work.search}/search")
    page.get_by_role("button", name="Parallel coordinates").click()
    picture = page.get_by_role("img", name="Parallel coordinates")
    box = picture.bounding_box()
    assert box is not None

    page.mouse.move(box["x"] + 40, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 40, box["y"] + 200, steps=6)
    page.mouse.up()

    expect(page.get_by_text(re.compile(r"\d+ of 24 trials kept"))).to_be_visible()


def test_code_and_its_difference_from_another_experiment(page: Page, work) -> None:
    other = work.master.create((CURVES / "single.yaml").read_text(), Path(__file__).parent, activate=False)
    page.goto(f"experiments/{work.single}/code")
    page.get_by_role("treeitem", name="train.py").click()
    expect(page.get_by_text("A model-free trainer for pictures")).to_be_visible()

    page.get_by_label("Compare with experiment").fill(str(work.search))

    expect(page.get_by_text("train.py is the same in both experiments")).to_be_visible()
    work.master.call("POST", f"/api/v1/experiments/{other}/kill")


def test_the_configuration_is_shown_as_submitted_and_as_resolved(page: Page, work) -> None:
    page.goto(f"experiments/{work.single}/config")
    expect(page.get_by_text("# One trial with fixed values.")).to_be_visible()

    page.get_by_role("button", name="Resolved").click()

    expect(page.get_by_text("scheduling_unit")).to_be_visible()
    expect(page.get_by_text("# One trial with fixed values.")).to_be_hidden()


def test_notes_are_markdown_and_are_kept(page: Page, work) -> None:
    page.goto(f"experiments/{work.single}/notes")
    page.get_by_role("button", name="Write a note").click()
    page.get_by_label("Notes in markdown").fill("# Why\n\nIt *falls*, see `loss`. <script>alert(1)</script>")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Edit")).to_be_visible()

    page.reload()

    expect(page.get_by_role("heading", name="Why")).to_be_visible()
    expect(page.locator("em", has_text="falls")).to_be_visible()
    expect(page.get_by_text("<script>alert(1)</script>")).to_be_visible()


def test_a_checkpoint_can_be_downloaded(page: Page, work, tmp_path: Path) -> None:
    page.goto(f"experiments/{work.single}/checkpoints")

    with page.expect_download() as started:
        page.get_by_role("button", name=re.compile("^Download")).first.click()
    archive = tmp_path / "checkpoint.tar.gz"
    started.value.save_as(archive)

    with tarfile.open(archive) as opened:
        assert opened.getnames()


def test_a_checkpoint_is_deleted_after_a_question(page: Page, work) -> None:
    experiment = work.start(steps=50, name="to-clean")
    work.master.wait(experiment)
    page.goto(f"experiments/{experiment}/checkpoints")

    page.get_by_role("button", name=re.compile("^Delete")).first.click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()

    expect(page.get_by_text("No checkpoint yet")).to_be_visible()


@pytest.mark.parametrize("path", ["experiments/999999", "trials/999999"])
def test_what_does_not_exist_is_said_in_the_servers_words(page: Page, path: str) -> None:
    page.goto(path)

    expect(page.get_by_role("alert")).to_contain_text("not found: 999999")


def test_a_search_with_two_objectives_shows_the_trials_that_no_other_beats(page: Page, work) -> None:
    config = (CURVES / "search.yaml").read_text().replace("rate-search", "two-objectives")
    config = config.replace("metric: validation_loss\n", "metric: [validation_loss, accuracy]\n")
    config = config.replace("name: adaptive_asha", "name: random").replace("max_trials: 24", "max_trials: 4")
    config = re.sub(r"  (time_metric|max_time|divisor):.*\n", "", config)
    search = work.master.create(config, CURVES)
    assert work.master.wait(search) == "STATE_COMPLETED"
    best = work.master.call("GET", f"/api/v1/experiments/{search}/pareto")["trials"]

    page.goto(f"experiments/{search}/search")

    rows = page.get_by_role("table", name="Pareto set").get_by_role("row")
    expect(rows).to_have_count(1 + len(best))
    expect(rows.nth(1)).to_contain_text(str(best[0]["trialId"]))
    expect(page.get_by_role("img", name="accuracy over validation_loss")).to_be_visible()
    expect(page.get_by_role("figure", name="validation_loss by step")).to_be_visible()
    page.get_by_role("table", name="Pareto set").get_by_role("link").first.click()
    expect(page).to_have_url(re.compile(rf"trials/{best[0]['trialId']}"))


def test_a_search_with_one_objective_has_no_pareto_set(page: Page, work) -> None:
    page.goto(f"experiments/{work.search}/search")

    expect(page.get_by_text("Rungs", exact=False).first).to_be_visible()
    expect(page.get_by_role("table", name="Pareto set")).to_have_count(0)
