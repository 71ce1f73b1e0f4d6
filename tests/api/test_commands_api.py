"""Commands and generic tasks over HTTP: checked before anything is stored, owned, and ended."""

from typing import Any

import pytest
from tests.api.conftest import Api, file

SLEEP = {"entrypoint": ["sleep", "9"], "resources": {"slots": 1}}


@pytest.fixture
def command(api: Api) -> str:
    return str(api.post("/api/v1/commands", {"config": SLEEP})["command"]["id"])


def allocation_of(api: Api, task_id: str) -> str:
    with api.platform.store.read() as tx:
        return str(tx.allocations.of_task(task_id)[-1].id)


def generic(api: Api, **fields: Any) -> str:
    config = "{entrypoint: [sleep, '9'], resources: {slots: 0}}"
    return str(api.post("/api/v1/generic-tasks", {"config": config, **fields})["taskId"])


def state(api: Api, task_id: str) -> str:
    return str(api.get(f"/api/v1/tasks/{task_id}")["task"]["taskState"]).removeprefix("GENERIC_TASK_STATE_")


def test_a_command_is_listed_from_the_queue_to_its_exit_code(api: Api, command: str) -> None:
    queued = api.get(f"/api/v1/commands/{command}")["command"]
    api.tick()
    running = api.get("/api/v1/commands")["commands"][0]
    api.runner.finish(allocation_of(api, command), 3)
    api.tick()
    ended = api.get(f"/api/v1/commands/{command}")["command"]

    assert (queued["state"], queued["description"], queued["slots"]) == ("STATE_QUEUED", "Command (sleep 9)", 1)
    assert (running["state"], running["username"]) == ("STATE_RUNNING", "determined")
    assert (ended["state"], ended["exitCode"], ended["exitStatus"]) == ("STATE_TERMINATED", 3, "exited with code 3")


def test_files_variables_mounts_and_the_folder_reach_the_gang(api: Api) -> None:
    config = {
        "entrypoint": ["python3", "a.py", "--x"],
        "environment": {"environment_variables": ["A=1"]},
        "bind_mounts": [{"host_path": "/tmp", "container_path": "data"}],
        "work_dir": "sub",
    }

    api.post("/api/v1/commands", {"config": config, "files": [file("sub/a.py", b"1")]})
    api.tick()

    (gang,) = api.runner.started
    assert gang.env["A"] == "1"
    assert gang.env["DET_TASK_TYPE"] == "COMMAND"
    assert gang.bind_mounts == (("/tmp", "data", False),)
    assert gang.entrypoint == ("sh", "-c", 'cd "$0" && exec "$@"', "sub", "python3", "a.py", "--x")
    assert gang.context_id


def test_one_word_alone_is_a_line_of_shell(api: Api) -> None:
    api.post("/api/v1/commands", {"config": {"entrypoint": ["echo a | wc"]}})
    api.tick()

    assert api.runner.started[0].entrypoint == "echo a | wc"


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({}, ["entrypoint", "is missing"]),
        ({"entrypoint": "x", "resources": {"slots": 99}}, ["resources.slots: 99", "ask for"]),
        ({"entrypoint": "x", "resources": {"resource_pool": "gpu"}}, ["resources.resource_pool", "'gpu'", "default"]),
        ({"entrypoint": "x", "slots": 2}, ["slots", "resources.slots"]),
        ({"entrypoint": "x", "idle_timeout": "soon"}, ["idle_timeout", "'soon'", "30m"]),
        ({"entrypoint": "x", "resources": {"priority": 100}}, ["resources.priority"]),
        ({"entrypoint": "x", "environment": {"requirements": "r.txt"}}, ["no file 'r.txt'"]),
    ],
)
def test_what_cannot_run_is_refused_with_the_key(api: Api, config: dict[str, Any], words: list[str]) -> None:
    sentence = api.refusal("POST", "/api/v1/commands", {"config": config}, expect=400)

    assert all(word in sentence for word in words), sentence
    assert api.get("/api/v1/commands")["commands"] == []


def test_an_unknown_workspace_or_template_is_refused(api: Api) -> None:
    config = {"entrypoint": "x", "workspace": "nowhere"}

    assert "there is no workspace 'nowhere'" in api.refusal("POST", "/api/v1/commands", {"config": config}, expect=404)
    body = {"config": SLEEP, "templateName": "none"}
    assert "template not found: none" in api.refusal("POST", "/api/v1/commands", body, expect=404)


def test_a_template_stands_below_the_configuration(api: Api) -> None:
    template = {"config": {"description": "from the template", "resources": {"slots": 0}}, "workspaceId": 1}
    api.post("/api/v1/templates/small", template)

    made = api.post("/api/v1/commands", {"config": {"entrypoint": "true"}, "templateName": "small"})

    assert made["command"]["description"] == "from the template"
    assert made["config"]["resources"]["slots"] == 0


def test_secrets_of_a_command_are_not_shown(api: Api) -> None:
    config = {"entrypoint": "x", "environment": {"environment_variables": ["API_KEY=hush", "A=1"]}}
    made = api.post("/api/v1/commands", {"config": config})

    shown = api.get(f"/api/v1/commands/{made['command']['id']}")

    assert "hush" not in str(made) + str(shown)
    api.tick()
    assert api.runner.started[0].env["API_KEY"] == "hush"


def test_killing_ends_it_and_may_be_repeated(api: Api, command: str) -> None:
    api.tick()

    for _ in range(2):
        api.post(f"/api/v1/commands/{command}/kill")
        api.tick()

    ended = api.get(f"/api/v1/commands/{command}")["command"]
    assert (ended["state"], ended["exitStatus"]) == ("STATE_TERMINATED", "killed")


def test_only_its_owner_and_administrators_end_a_command(api: Api, command: str) -> None:
    admin = api.login("admin")
    admin.post("/api/v1/users", {"user": {"username": "other", "active": True}})
    other = api.login("other")

    assert "belongs to somebody else" in other.refusal("POST", f"/api/v1/commands/{command}/kill", expect=403)
    admin.post(f"/api/v1/commands/{command}/kill")


def test_its_priority_is_changed_while_it_lives(api: Api, command: str) -> None:
    path = f"/api/v1/commands/{command}/set_priority"

    api.post(path, {"priority": 7})

    assert api.get(f"/api/v1/commands/{command}")["command"]["priority"] == 7
    assert "Priority 0" in api.refusal("POST", path, {"priority": 0}, expect=400)
    api.post(f"/api/v1/commands/{command}/kill")
    assert "has ended" in api.refusal("POST", path, {"priority": 8}, expect=400)


def test_lists_are_of_a_user_and_a_workspace(api: Api, command: str) -> None:
    other = api.post("/api/v1/workspaces", {"name": "other"})["workspace"]["id"]
    api.clock.forward(1)
    there = api.post("/api/v1/commands", {"config": SLEEP, "workspaceId": other})["command"]["id"]

    assert [c["id"] for c in api.get("/api/v1/commands", workspaceId=other)["commands"]] == [there]
    assert api.get("/api/v1/commands", users="admin")["commands"] == []
    page = api.get("/api/v1/commands", users="determined", limit=1)
    assert ([c["id"] for c in page["commands"]], page["pagination"]["total"]) == ([command], 2)


def test_a_task_of_another_kind_is_no_command(api: Api) -> None:
    task_id = generic(api)

    assert "command not found" in api.refusal("GET", f"/api/v1/commands/{task_id}", expect=404)


# ---------------------------------------------------------------------------------------------------- generic tasks


def test_a_generic_task_gives_back_its_slots_while_it_is_paused(api: Api) -> None:
    task_id = generic(api)
    api.tick()

    api.post(f"/api/v1/tasks/{task_id}/pause")
    stopping = state(api, task_id)
    api.runner.finish(allocation_of(api, task_id), 143)
    api.tick()
    paused = state(api, task_id)
    api.post(f"/api/v1/tasks/{task_id}/unpause")
    api.tick()

    assert (stopping, paused, state(api, task_id)) == ("STOPPING_PAUSED", "PAUSED", "ACTIVE")
    assert allocation_of(api, task_id).endswith(".2")
    assert allocation_of(api, task_id) in {gang.allocation_id for gang in api.runner.started}


def test_a_task_resumed_while_it_leaves_is_queued_when_it_has_left(api: Api) -> None:
    task_id = generic(api)
    api.tick()

    api.post(f"/api/v1/tasks/{task_id}/pause")
    api.post(f"/api/v1/tasks/{task_id}/unpause")
    api.runner.finish(allocation_of(api, task_id), 143)
    api.tick()

    assert state(api, task_id) == "ACTIVE"
    assert allocation_of(api, task_id).endswith(".2")


def test_a_family_is_paused_resumed_and_killed_together(api: Api) -> None:
    parent = generic(api, contextDirectory=[file("a.txt", b"1")])
    child = generic(api, parentId=parent, inheritContext=True)
    steady = generic(api, parentId=child, noPause=True)

    api.post(f"/api/v1/tasks/{parent}/pause")
    paused = [state(api, each) for each in (parent, child, steady)]
    api.post(f"/api/v1/tasks/{parent}/unpause")
    api.post(f"/api/v1/tasks/{steady}/kill", {"taskId": steady, "killFromRoot": True})

    assert paused == ["PAUSED", "PAUSED", "ACTIVE"]
    assert [state(api, each) for each in (parent, child, steady)] == ["CANCELED"] * 3
    assert api.get(f"/api/v1/tasks/{child}/context_directory")["b64Tgz"]
    assert api.get(f"/api/v1/tasks/{child}")["task"]["parentId"] == parent


def test_a_fork_runs_what_its_origin_ran(api: Api) -> None:
    origin = generic(api, contextDirectory=[file("a.txt", b"1")])

    fork = api.post("/api/v1/generic-tasks", {"forkedFrom": origin})["taskId"]

    assert api.get(f"/api/v1/tasks/{fork}")["task"]["forkedFrom"] == origin
    assert api.get(f"/api/v1/tasks/{fork}/config") == api.get(f"/api/v1/tasks/{origin}/config")
    contexts = [api.get(f"/api/v1/tasks/{each}/context_directory")["b64Tgz"] for each in (origin, fork)]
    assert contexts[0] == contexts[1] != ""


def test_what_cannot_be_done_to_a_generic_task_is_said(api: Api, command: str) -> None:
    steady = generic(api, noPause=True)

    assert "no_pause" in api.refusal("POST", f"/api/v1/tasks/{steady}/pause", expect=400)
    assert "is not paused" in api.refusal("POST", f"/api/v1/tasks/{steady}/unpause", expect=400)
    assert "generic task not found" in api.refusal("POST", f"/api/v1/tasks/{command}/pause", expect=404)
    body = {"config": "entrypoint: x", "inheritContext": True}
    assert "parentId" in api.refusal("POST", "/api/v1/generic-tasks", body, expect=400)
    assert "task not found" in api.refusal("POST", "/api/v1/generic-tasks", {"forkedFrom": "x"}, expect=404)
    api.post(f"/api/v1/tasks/{steady}/kill")
    assert "has ended" in api.refusal("POST", f"/api/v1/tasks/{steady}/pause", expect=400)


@pytest.mark.parametrize(("code", "word"), [(0, "COMPLETED"), (2, "ERROR")])
def test_how_a_generic_task_ended_is_its_exit_code(api: Api, code: int, word: str) -> None:
    task_id = generic(api)
    api.tick()

    api.runner.finish(allocation_of(api, task_id), code)
    api.tick()

    assert state(api, task_id) == word
