"""Deployments from the page: made, tried, rolled out by shares, pinned, scaled, deleted."""

import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

MODEL_SERVER = Path(__file__).parents[1] / "deployments" / "model_server.py"
SERVING = {"command": [sys.executable, str(MODEL_SERVER)]}


class Served:
    """A deployment of a model server that starts at once; it says which revision answered."""

    def __init__(self, master: Any) -> None:
        self.master, self.name = master, f"echo-{uuid4().hex[:6]}"
        body = {"name": self.name, "modelUri": str(MODEL_SERVER), "serving": SERVING}
        master.call("POST", "/api/v1/deployments", json=body)
        self.until(lambda found: found["state"] == "STATE_READY")

    def get(self) -> Any:
        return self.master.call("GET", f"/api/v1/deployments/{self.name}")["deployment"]

    def until(self, is_so: Callable[[Any], bool], timeout_s: float = 30) -> None:
        ends_at = time.monotonic() + timeout_s
        while not is_so(found := self.get()):
            assert time.monotonic() < ends_at, json.dumps(found, indent=1)
            time.sleep(0.05)

    def canary(self, percent: int) -> None:
        body = {"modelUri": str(MODEL_SERVER), "percent": percent, "serving": SERVING}
        self.master.call("POST", f"/api/v1/deployments/{self.name}/canary", json=body)
        self.until(lambda found: any(r["number"] == 2 and r["trafficPercent"] for r in found["revisions"]))

    def ask(self, times: int) -> None:
        for _ in range(times):
            self.master.call("POST", f"/serving/{self.name}/v1/models/{self.name}:predict", json={"instances": [1]})


@pytest.fixture
def served(scene) -> Iterator[Served]:
    served = Served(scene.master)
    yield served
    if served.name in [d["name"] for d in scene.master.call("GET", "/api/v1/deployments")["deployments"]]:
        scene.master.call("DELETE", f"/api/v1/deployments/{served.name}")


def confirm(page: Page, action: str) -> None:
    page.get_by_role("dialog").get_by_role("button", name=action, exact=True).click()
    expect(page.get_by_role("dialog")).to_be_hidden()


def more(page: Page, action: str) -> None:
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("button", name=action, exact=True).click()


def test_the_list_shows_state_traffic_and_replicas(page: Page, scene) -> None:
    page.goto("deployments")

    row = (
        page.get_by_role("table", name="Deployments").get_by_role("row").filter(has_text=f"/serving/{scene.deployment}")
    )
    expect(row).to_contain_text("Ready")
    expect(row).to_contain_text("1 of 1")
    expect(row.get_by_role("link", name=f"{scene.model}/1")).to_be_visible()
    expect(row.get_by_role("img", name="Traffic: revision 1 100 %")).to_be_visible()


def test_a_version_is_deployed_from_its_model(page: Page, scene) -> None:
    name = f"from-page-{uuid4().hex[:6]}"
    page.goto(f"models/{scene.model}")
    page.get_by_role("link", name="Deploy version 2").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Version")).to_have_value("2")
    dialog.get_by_label("Name, part of its address").fill(name)

    dialog.get_by_role("button", name="Deploy").click()
    expect(dialog).to_contain_text("Keep it now")
    dialog.get_by_role("button", name="Open it").click()

    expect(page.locator("h1")).to_contain_text(name)
    expect(page.locator("h1")).to_contain_text("Ready")
    more(page, "Delete")
    confirm(page, "Delete")
    expect(page.get_by_role("heading", name="Deployments", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name=name)).to_have_count(0)


def test_a_name_that_cannot_be_a_host_is_refused_with_the_servers_sentence(page: Page, scene) -> None:
    page.goto("deployments")
    page.get_by_role("button", name="New deployment").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name, part of its address").fill("Not A Host")
    dialog.get_by_role("combobox", name="Model", exact=True).select_option(scene.model)

    dialog.get_by_role("button", name="Deploy").click()

    expect(dialog.get_by_role("alert")).to_contain_text("cannot be part of a host name")


def test_a_picture_is_tried_and_detections_are_drawn_from_a_score_up(page: Page, scene) -> None:
    page.goto(f"deployments/{scene.deployment}")

    page.get_by_label("Choose a picture").set_input_files(scene.picture)

    expect(page.get_by_text(re.compile(r"Answered by revision 1 in"))).to_be_visible()
    drawn = page.locator(".tried svg.boxes")
    page.get_by_label("Smallest score").fill("0")
    expect(drawn).to_have_attribute("data-boxes", "20")
    expect(page.get_by_role("table", name="Detections").get_by_role("row")).to_have_count(21)
    page.get_by_label("Smallest score").fill("1")
    expect(drawn).to_have_attribute("data-boxes", "0")
    expect(page.get_by_text("0 of 20 detections shown")).to_be_visible()


def test_json_is_tried_and_what_is_wrong_with_it_is_said(page: Page, scene, served: Served) -> None:
    page.goto(f"deployments/{served.name}")
    page.get_by_role("group", name="What is sent").get_by_role("button", name="JSON").click()
    page.get_by_label("Request in JSON").fill('{"instances": [1]')
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("alert")).to_contain_text("JSON")
    page.get_by_label("Request in JSON").fill('{"instances": [1]}')
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".code")).to_contain_text('"revision": 1')

    page.goto(f"deployments/{scene.deployment}")
    page.get_by_role("group", name="What is sent").get_by_role("button", name="JSON").click()
    page.get_by_label("Request in JSON").fill('{"instances": [{"data": "bm90IGEgcGljdHVyZQ=="}]}')
    page.get_by_role("button", name="Send").click()

    expect(page.get_by_role("alert")).to_contain_text("instance 0")


def test_a_canary_starts_changes_its_share_and_is_promoted(page: Page, scene) -> None:
    page.goto(f"deployments/{scene.deployment}")
    page.get_by_role("button", name="Canary").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("combobox", name="Model", exact=True)).to_have_value(scene.model)
    dialog.get_by_label("Version").select_option("2")
    dialog.get_by_label("Percent", exact=True).fill("30")
    confirm(page, "Start canary")
    expect(page.get_by_role("img", name="Traffic: revision 1 70 %, revision 2 30 %")).to_be_visible()
    expect(page.get_by_role("table", name="Traffic split")).to_contain_text("Canary")

    page.get_by_role("button", name="Change share").click()
    page.get_by_role("dialog").get_by_label("Percent", exact=True).fill("55")
    confirm(page, "Change share")
    expect(page.get_by_role("img", name="Traffic: revision 1 45 %, revision 2 55 %")).to_be_visible()
    page.get_by_role("button", name="Promote").click()
    confirm(page, "Promote")
    expect(page.get_by_role("img", name="Traffic: revision 2 100 %")).to_be_visible()
    page.get_by_role("button", name="Roll back").click()
    confirm(page, "Roll back")

    expect(page.get_by_role("img", name="Traffic: revision 1 100 %")).to_be_visible()


def test_requests_errors_and_latency_are_drawn_for_each_revision_while_they_happen(page: Page, served: Served) -> None:
    served.canary(50)
    page.goto(f"deployments/{served.name}")
    rate = page.get_by_role("figure", name="Requests per second by time of day")
    expect(rate).to_have_attribute("data-lines", "0")
    page.get_by_role("button", name="1 minute").click()

    served.ask(20)

    expect(rate).to_have_attribute("data-lines", "2")
    for name in ("Errors, % of requests", "Latency, ms"):
        expect(page.get_by_role("figure", name=f"{name} by time of day")).to_have_attribute("data-lines", "2")
    expect(page.get_by_role("table", name="Traffic split").get_by_role("row").nth(1)).to_contain_text("ms")
    for each in ("p50", "p99"):
        page.get_by_role("button", name=each, exact=True).click()
    expect(page.get_by_role("figure", name="Latency, ms by time of day")).to_have_attribute("data-lines", "2")


def test_a_canary_is_given_up_and_a_revision_is_pinned(page: Page, served: Served) -> None:
    served.canary(20)
    page.goto(f"deployments/{served.name}")
    page.get_by_role("button", name="Roll back").click()
    confirm(page, "Roll back")
    expect(page.get_by_role("img", name="Traffic: revision 1 100 %")).to_be_visible()

    page.get_by_role("button", name="Pin revision 2").click()
    confirm(page, "Pin")

    expect(page.get_by_role("img", name="Traffic: revision 2 100 %")).to_be_visible()


def test_a_shadow_starts_and_stops(page: Page, scene, served: Served) -> None:
    page.goto(f"deployments/{served.name}")
    more(page, "Shadow")
    page.get_by_role("button", name="Folder or archive").click()
    page.get_by_label("Path or http(s) address").fill(str(MODEL_SERVER))
    page.get_by_label("Percent", exact=True).fill("40")
    confirm(page, "Start shadow")
    expect(page.get_by_role("table", name="Traffic split")).to_contain_text("copies of 40 %")

    more(page, "Stop the shadow")
    confirm(page, "Stop")

    expect(page.get_by_role("table", name="Traffic split")).not_to_contain_text("copies of")


def test_scaling_and_guard_are_set(page: Page, served: Served) -> None:
    page.goto(f"deployments/{served.name}")
    more(page, "Scaling and settings")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("At most").fill("0")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("max_replicas")
    dialog.get_by_label("At most").fill("2")
    dialog.get_by_label("Replicas, at least").fill("2")
    dialog.get_by_label("Slower by factor").fill("3.5")
    dialog.get_by_label("Same revision for the same caller").fill("header:x-user")
    confirm(page, "Save")

    expect(page.get_by_text("2 to 2")).to_be_visible()
    expect(page.get_by_role("table", name="Revisions")).to_contain_text("2 of 2")
    found = served.get()
    assert (found["guard"]["latencyFactor"], found["sticky"]) == (3.5, "header:x-user")


def test_the_log_of_a_replica_is_one_click_away(page: Page, scene) -> None:
    page.goto(f"deployments/{scene.deployment}")

    page.get_by_role("link", name=re.compile("Log of replica 1 of revision")).first.click()

    expect(page.locator("h1")).to_contain_text("Replica")
    expect(page.get_by_role("log")).to_contain_text("started")
