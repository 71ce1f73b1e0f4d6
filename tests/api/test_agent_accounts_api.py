"""As which account of the machine a user's work runs: who says so, and what is started."""

from dataclasses import replace
from typing import Any

import pytest

from resolute.domain.agent_account import AgentAccount

ADA = {"agentUid": 4001, "agentGid": 4002, "agentUser": "ada", "agentGroup": "lab"}
AS_ADA = AgentAccount(uid=4001, gid=4002, user="ada", group="lab")


@pytest.fixture
def of_root(admin: Any) -> Any:
    """A master that may start processes of others."""
    object.__setattr__(admin.platform, "config", replace(admin.platform.config, can_run_as_others=True))
    return admin


def user_id(api: Any) -> int:
    return int(api.get("/api/v1/me")["user"]["id"])


def test_work_runs_as_its_owners_account_and_shows_it(of_root: Any, api: Any) -> None:
    shown = of_root.call("PATCH", f"/api/v1/users/{user_id(api)}", {"agentUserGroup": ADA})["user"]
    trial = api.running()

    assert shown["agentUserGroup"] == ADA
    assert api.runner.gang(trial.allocation_id).account == AS_ADA


def test_the_workspaces_account_comes_first_and_the_masters_last(of_root: Any, api: Any) -> None:
    nobody = AgentAccount(uid=65534, gid=65534)
    object.__setattr__(of_root.platform, "config", replace(of_root.platform.config, run_as=nobody))
    of_root.call("PATCH", f"/api/v1/users/{user_id(api)}", {"agentUserGroup": {"agentUid": 1, "agentGid": 1}})
    workspace = of_root.post("/api/v1/workspaces", {"name": "lab", "agentUserGroup": ADA})["workspace"]["id"]
    project = api.post(f"/api/v1/workspaces/{workspace}/projects", {"name": "p", "workspaceId": workspace})["project"]

    in_workspace = api.running(projectId=project["id"])
    of_others = of_root.running()

    assert api.runner.gang(in_workspace.allocation_id).account == AS_ADA
    assert api.runner.gang(of_others.allocation_id).account == nobody


def test_an_empty_account_takes_it_back(of_root: Any, api: Any) -> None:
    path = f"/api/v1/users/{user_id(api)}"
    of_root.call("PATCH", path, {"agentUserGroup": ADA})

    shown = of_root.call("PATCH", path, {"agentUserGroup": {}})["user"]

    assert shown["agentUserGroup"] is None


def test_nobody_chooses_his_own_account(of_root: Any, api: Any) -> None:
    root = {"agentUserGroup": {"agentUid": 0, "agentGid": 0}}

    assert "administrator" in api.refusal("PATCH", f"/api/v1/users/{user_id(api)}", root, expect=403).lower()
    api.refusal("POST", "/api/v1/workspaces", {"name": "mine", **root}, expect=403)
    own = api.post("/api/v1/workspaces", {"name": "mine"})["workspace"]["id"]
    api.refusal("PATCH", f"/api/v1/workspaces/{own}", root, expect=403)


def test_a_master_that_is_not_root_takes_no_account(admin: Any) -> None:
    sentence = admin.refusal("PATCH", "/api/v1/users/2", {"agentUserGroup": ADA}, expect=400)

    assert "does not run as root" in sentence
    assert "ada (uid 4001)" in sentence


@pytest.mark.parametrize(
    "given",
    [
        {"agentUid": 4001},
        {"agentUser": "ada"},
        {"agentUid": -1, "agentGid": 1},
        {"agentUid": 2**32 - 1, "agentGid": 1},
        {"agentUid": 1, "agentGid": 1, "agentUser": "a/b"},
    ],
)
def test_half_an_account_is_refused(of_root: Any, given: dict[str, Any]) -> None:
    assert "agentUserGroup" in of_root.refusal("PATCH", "/api/v1/users/2", {"agentUserGroup": given}, expect=400)
