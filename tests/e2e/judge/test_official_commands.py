"""`det cmd` and generic tasks of `det task`, as their users type them."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Wait = Callable[[Callable[[], bool]], None]


@pytest.fixture
def task_config(tmp_path: Path) -> Path:
    path = tmp_path / "task.yaml"
    path.write_text("entrypoint: [sh, -c, 'cat note.txt; sleep 60']\nresources: {slots: 0}\n")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "context"
    made.mkdir()
    (made / "note.txt").write_text("came along\n")
    return made


def test_a_command_runs_and_its_log_is_shown(det: Any, folder: Path) -> None:
    shown = det("cmd", "run", "--config", "resources.slots=0", "--context", folder, "cat note.txt && echo done")

    assert "came along" in shown
    assert "done" in shown


def test_a_command_is_listed_described_changed_and_killed(det: Any) -> None:
    command = det("cmd", "run", "-d", "--config", "resources.slots=0", "--config", "description=nap", "sleep", "60")
    command = command.split()[-1]

    det("command", "set", "priority", command, "7")
    listed = json.loads(det("cmd", "list", "--json"))
    described = det("cmd", "describe", command)
    config = det("cmd", "config", command)
    killed = det("cmd", "kill", command[:8])

    assert [each["description"] for each in listed if each["id"] == command] == ["nap"]
    assert "nap" in described
    assert "slots: 0" in config
    assert f"Killed command {command}" in killed


def test_a_configuration_that_cannot_run_is_refused_in_a_sentence(det: Any) -> None:
    sentence = det("cmd", "run", "-d", "--config", "resources.slots=999", "true", code=1)

    assert "resources.slots: 999 is more than any node" in sentence


def test_a_generic_task_is_created_paused_resumed_forked_and_killed(
    det: Any, task_config: Path, folder: Path, live_master: Any
) -> None:
    def state(task_id: str) -> str:
        task = live_master.call("GET", f"/api/v1/tasks/{task_id}")["task"]
        return str(task["taskState"]).removeprefix("GENERIC_TASK_STATE_")

    created = det("task", "create", task_config, "--context", folder)
    origin = re.findall(r"Created task (\S+)", created)[0]
    child = re.findall(r"Created task (\S+)", det("task", "create", task_config, "-p", origin, "--inherit_context"))[0]
    det("task", "pause", origin)
    is_paused = state(origin) in ("PAUSED", "STOPPING_PAUSED") and state(child) in ("PAUSED", "STOPPING_PAUSED")
    det("task", "unpause", origin)
    fork = re.findall(r"Created task (\S+)", det("task", "fork", origin))[0]
    config = det("task", "config", fork)
    for each in (origin, fork):
        det("task", "kill", each)

    assert is_paused
    assert "cat note.txt" in config
    assert live_master.call("GET", f"/api/v1/tasks/{fork}")["task"]["forkedFrom"] == origin
