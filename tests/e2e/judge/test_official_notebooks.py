"""`det tensorboard` and `det notebook`, as their users type them."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

READY = re.compile(r"is ready at (http://[^\s;]+)")


@pytest.fixture
def no_task_left(det: Any) -> Iterator[None]:
    yield
    for kind in ("tensorboard", "notebook"):
        left = [each["id"] for each in json.loads(det(kind, "list", "--json")) if each["state"] != "TERMINATED"]
        if left:
            det(kind, "kill", *left)


def address_in_log(det: Any, kind: str, task_id: str) -> str:
    """Where the task itself listens."""
    found = READY.search(det(kind, "logs", task_id))
    assert found
    return found[1]


def test_a_tensorboard_shows_what_an_experiment_reported(det: Any, done: int, no_task_left: None) -> None:
    started = det("tensorboard", "start", done, "--no-browser")
    (board,) = [each for each in json.loads(det("tensorboard", "list", "--json")) if each["state"] == "RUNNING"]
    address = address_in_log(det, "tensorboard", board["id"])
    ends_at = time.monotonic() + 60
    tags: dict[str, Any] = {}
    while not tags and time.monotonic() < ends_at:
        tags = httpx.get(f"{address}data/plugin/scalars/tags").json()
        time.sleep(0.2)

    assert "Tensorboard is running at" in started
    assert board["experimentIds"] == [done]
    ((run, curves),) = tags.items()
    assert run.startswith(f"experiment_{done}/trial_")
    assert "validation/val_loss" in curves


def test_a_tensorboard_of_an_unknown_experiment_is_refused(det: Any) -> None:
    assert "experiment not found: 4711" in det("tensorboard", "start", 4711, "-d", code=1)


def test_a_notebook_is_started_with_files_and_runs_signed_in(
    det: Any, no_task_left: None, tmp_path: Path, live_master: Any
) -> None:
    (tmp_path / "mine.txt").write_text("came along")

    det("notebook", "start", "--no-browser", "--config", "resources.slots=0", "--context", tmp_path)
    (notebook,) = [each for each in json.loads(det("notebook", "list", "--json")) if each["state"] == "RUNNING"]
    entered = live_master.call("GET", f"/api/v1/notebooks/{notebook['id']}")["notebook"]["serviceAddress"]
    token = entered.partition("token=")[2]
    address = address_in_log(det, "notebook", notebook["id"])
    with httpx.Client(base_url=address, headers={"Authorization": f"token {token}"}) as jupyter:
        strangers = httpx.get(f"{address}api/contents").status_code
        names = {each["name"] for each in jupyter.get("api/contents").json()["content"]}

    assert strangers == 403
    assert {"mine.txt", "examples"} <= names


def test_a_preview_of_a_notebook_starts_nothing(det: Any) -> None:
    before = det("notebook", "list", "--json", "--all")

    shown = det("notebook", "start", "--preview", "--config", "idle_timeout=30m")

    assert "idle_timeout: 30m" in shown
    assert det("notebook", "list", "--json", "--all") == before
