"""Workspaces, projects, templates, users, and what work runs on."""

import pytest

from resolute.client import Client
from resolute.client.fake import FakeMaster
from resolute.client.identity import hashed
from resolute.domain.errors import NotFound


@pytest.fixture(autouse=True)
def places(master: FakeMaster) -> None:
    master.lists = {
        "workspaces": [{"id": 1, "name": "Uncategorized"}, {"id": 2, "name": "Vision"}],
        "projects": [{"id": 5, "name": "tanks", "workspaceId": 2}],
        "templates": [{"name": "base", "config": {"max_restarts": 1}}],
        "agents": [{"id": "node-1", "slots": {}}],
        "resourcePools": [{"name": "cpu"}, {"name": "gpu", "defaultComputePool": True}],
        "jobs": [{"full": {"jobId": "j1", "priority": 42}}, {"limited": {"jobId": "j2"}}],
        "users": [{"id": 1, "username": "admin"}],
    }


def test_a_workspace_is_found_by_name_or_number(client: Client) -> None:
    assert client.workspaces.get("Vision")["id"] == 2
    assert client.workspaces.get("2")["name"] == "Vision"
    with pytest.raises(NotFound, match="resolute workspace list"):
        client.workspaces.get("Missing")


def test_changing_a_workspace_goes_to_its_number(client: Client, master: FakeMaster) -> None:
    client.workspaces.create("New")
    client.workspaces.rename("Vision", "Sight")
    client.workspaces.set_archived("Vision", is_archived=True)
    client.workspaces.delete("Vision")

    assert master.last("POST", "/api/v1/workspaces").body == {"name": "New"}
    assert master.last("PATCH", "/api/v1/workspaces/2").body == {"name": "Sight"}
    assert "/api/v1/workspaces/2/archive" in master.paths("POST")
    assert "/api/v1/workspaces/2" in master.paths("DELETE")


def test_a_project_is_found_within_its_workspace(client: Client, master: FakeMaster) -> None:
    assert client.projects.get("Vision", "tanks")["id"] == 5
    with pytest.raises(NotFound, match="resolute project list Vision"):
        client.projects.get("Vision", "ships")


def test_changing_a_project_goes_to_its_number(client: Client, master: FakeMaster) -> None:
    client.projects.create("Vision", "ships", description="d")
    client.projects.update("Vision", "tanks", description="e")
    client.projects.set_archived("Vision", "tanks", is_archived=False)
    client.projects.delete("Vision", "tanks")

    sent = master.last("POST", "/api/v1/workspaces/2/projects").body
    assert (sent["name"], sent["workspaceId"]) == ("ships", 2)
    assert master.last("PATCH", "/api/v1/projects/5").body == {"description": "e"}
    assert "/api/v1/projects/5/unarchive" in master.paths("POST")
    assert "/api/v1/projects/5" in master.paths("DELETE")


def test_templates_are_kept_under_their_name(client: Client, master: FakeMaster) -> None:
    client.templates.create("new one", {"a": 1})
    client.templates.set_config("base", {"b": 2})
    client.templates.remove("base")

    assert client.templates.get("base")["config"] == {"max_restarts": 1}
    assert [t["name"] for t in client.templates.all()] == ["base"]
    assert master.last("PATCH", "/api/v1/templates/base").body == {"b": 2}
    assert "/api/v1/templates/base" in master.paths("DELETE")


def test_a_new_users_password_travels_hashed(client: Client, master: FakeMaster) -> None:
    client.users.create("ada", password="Secret123", is_admin=True)
    client.users.set_password("admin", "Other456")

    sent = master.last("POST", "/api/v1/users").body
    assert (sent["user"]["username"], sent["user"]["admin"]) == ("ada", True)
    assert sent["password"] == hashed("Secret123")
    assert master.last("PATCH", "/api/v1/users/7").body == {"password": hashed("Other456"), "isHashed": True}


def test_the_queue_is_that_of_the_default_pool(client: Client, master: FakeMaster) -> None:
    jobs = client.cluster.jobs()

    assert [job["jobId"] for job in jobs] == ["j1", "j2"]
    assert master.calls[-1].query["resourcePool"] == ["gpu"]


def test_a_job_is_changed_by_one_update(client: Client, master: FakeMaster) -> None:
    client.cluster.update_job("j1", aheadOf="j2")

    assert master.calls[-1].body == {"updates": [{"jobId": "j1", "aheadOf": "j2"}]}


def test_nodes_and_slots_are_switched_on_and_off(client: Client, master: FakeMaster) -> None:
    client.cluster.set_agent("node-1", is_enabled=False, drain=True)
    client.cluster.set_agent("node-1", is_enabled=True)
    client.cluster.set_slot("node-1", "0", is_enabled=False)

    assert [a["id"] for a in client.cluster.agents()] == ["node-1"]
    assert master.last("POST", "/api/v1/agents/node-1/disable").body == {"drain": True}
    assert "/api/v1/agents/node-1/slots/0/disable" in master.paths("POST")


def test_the_master_speaks_of_itself(client: Client, master: FakeMaster) -> None:
    assert client.cluster.info()["clusterName"] == "fake"
    assert "scheduler" in client.cluster.config()
    assert [entry["message"] for entry in client.cluster.logs(tail=5)] == ["master is ready"]
    assert master.calls[-1].query["offset"] == ["-5"]
