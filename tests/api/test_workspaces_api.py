"""Workspaces, projects and templates."""

from typing import Any

import pytest


def test_a_workspace_and_its_project_are_made_and_listed(api: Any) -> None:
    workspace = api.post("/api/v1/workspaces", {"name": "lab"})["workspace"]
    project = api.post(f"/api/v1/workspaces/{workspace['id']}/projects", {"name": "first", "description": "d"})[
        "project"
    ]

    found = api.get("/api/v1/workspaces", name="LAB")["workspaces"]
    projects = api.get(f"/api/v1/workspaces/{workspace['id']}/projects")["projects"]

    assert [(each["name"], each["numProjects"], each["username"]) for each in found] == [("lab", 1, "determined")]
    assert projects == [project]
    assert (project["key"], project["workspaceName"], project["state"]) == ("FIR", "lab", "WORKSPACE_STATE_UNSPECIFIED")
    assert api.get(f"/api/v1/projects/key/{project['key']}")["project"]["id"] == project["id"]


def test_an_experiment_goes_where_its_configuration_says(api: Any) -> None:
    workspace = api.post("/api/v1/workspaces", {"name": "lab"})["workspace"]
    api.post(f"/api/v1/workspaces/{workspace['id']}/projects", {"name": "first"})
    config = "workspace: lab\nproject: first\nentrypoint: x\nsearcher: {name: single, metric: loss}\n"

    experiment = api.get(f"/api/v1/experiments/{api.create(config)}")["experiment"]

    assert (experiment["workspaceName"], experiment["projectName"]) == ("lab", "first")
    assert api.get("/api/v1/user/projects/activity")["projects"][0]["name"] == "first"


def test_an_experiment_is_moved(api: Any) -> None:
    project = api.post("/api/v1/workspaces/1/projects", {"name": "other"}, expect=200)["project"]
    experiment_id = api.create()
    body = {"experimentId": experiment_id, "destinationProjectId": project["id"]}

    api.post(f"/api/v1/experiments/{experiment_id}/move", body)

    assert api.get(f"/api/v1/experiments/{experiment_id}")["experiment"]["projectName"] == "other"


@pytest.mark.parametrize("name", ["", "  ", "x" * 81])
def test_unusable_names_are_refused(api: Any, name: str) -> None:
    api.post("/api/v1/workspaces", {"name": name}, expect=400)


def test_taken_names_are_refused(api: Any) -> None:
    api.post("/api/v1/workspaces", {"name": "lab"})

    assert "exists already" in api.refusal("POST", "/api/v1/workspaces", {"name": "lab"}, expect=409)


def test_keys_are_free_and_short(api: Any) -> None:
    keys = [api.post("/api/v1/workspaces/1/projects", {"name": f"vision {n}"})["project"]["key"] for n in range(3)]

    assert keys == ["VIS", "VIS1", "VIS2"]
    api.post("/api/v1/workspaces/1/projects", {"name": "a", "key": "too long"}, expect=400)
    api.post("/api/v1/workspaces/1/projects", {"name": "a", "key": "VIS"}, expect=409)


def test_the_place_for_everything_else_cannot_be_changed(admin: Any) -> None:
    admin.call("PATCH", "/api/v1/workspaces/1", {"name": "mine"}, expect=403)
    admin.call("DELETE", "/api/v1/projects/1", expect=403)


def test_others_do_not_change_my_workspace_but_administrators_do(nobody: Any, api: Any, admin: Any) -> None:
    workspace = api.post("/api/v1/workspaces", {"name": "lab"})["workspace"]["id"]
    admin.post("/api/v1/users", {"user": {"username": "eve"}})

    nobody.login("eve").call("PATCH", f"/api/v1/workspaces/{workspace}", {"name": "eves"}, expect=403)

    assert admin.call("PATCH", f"/api/v1/workspaces/{workspace}", {"name": "new"})["workspace"]["name"] == "new"


def test_archived_and_pinned_are_filters(api: Any) -> None:
    workspace = api.post("/api/v1/workspaces", {"name": "lab"})["workspace"]["id"]

    api.post(f"/api/v1/workspaces/{workspace}/archive")
    api.post(f"/api/v1/workspaces/{workspace}/pin")
    archived = api.get("/api/v1/workspaces", archived=True, pinned=True)["workspaces"]
    api.post(f"/api/v1/workspaces/{workspace}/projects", {"name": "no"}, expect=400)
    api.post(f"/api/v1/workspaces/{workspace}/unarchive")
    api.post(f"/api/v1/workspaces/{workspace}/unpin")

    assert [each["id"] for each in archived] == [workspace]
    assert api.get("/api/v1/workspaces", archived=True)["workspaces"] == []


def test_only_an_empty_project_is_deleted(api: Any) -> None:
    project = api.post("/api/v1/workspaces/1/projects", {"name": "other"})["project"]["id"]
    experiment_id = api.create(projectId=project)

    refused = api.refusal("DELETE", f"/api/v1/projects/{project}", expect=400)
    api.post(f"/api/v1/experiments/{experiment_id}/move", {"destinationProjectId": 1})

    assert "1 experiments" in refused
    assert api.call("DELETE", f"/api/v1/projects/{project}") == {"completed": True}


def test_projects_are_changed_moved_and_noted(api: Any) -> None:
    lab = api.post("/api/v1/workspaces", {"name": "lab"})["workspace"]["id"]
    project = api.post("/api/v1/workspaces/1/projects", {"name": "other"})["project"]["id"]

    api.call("PATCH", f"/api/v1/projects/{project}", {"description": "new", "key": "NEW"})
    api.post(f"/api/v1/projects/{project}/move", {"destinationWorkspaceId": lab})
    api.post(f"/api/v1/projects/{project}/notes", {"name": "a", "contents": "text"})
    api.call("PUT", f"/api/v1/projects/{project}/notes", {"notes": [{"name": "b", "contents": "other"}]})
    api.post(f"/api/v1/projects/{project}/archive")

    found = api.get(f"/api/v1/projects/{project}")["project"]
    assert (found["description"], found["key"], found["workspaceId"]) == ("new", "NEW", lab)
    assert found["notes"] == [{"name": "b", "contents": "other"}]
    assert found["archived"] is True


def test_a_workspace_goes_with_its_empty_projects(api: Any) -> None:
    workspace = api.post("/api/v1/workspaces", {"name": "lab"})["workspace"]["id"]
    api.post(f"/api/v1/workspaces/{workspace}/projects", {"name": "first"})

    assert api.call("DELETE", f"/api/v1/workspaces/{workspace}") == {"completed": True}
    api.get(f"/api/v1/workspaces/{workspace}", expect=404)


def test_tables_know_their_columns_and_ranges(api: Any) -> None:
    trial = api.running()
    trial.report("validation", 1, loss=0.5)
    trial.report("validation", 2, loss=0.25)

    columns = {each["column"] for each in api.get("/api/v1/projects/1/columns")["columns"]}
    ranges = api.get("/api/v1/projects/1/experiments/metric-ranges")["ranges"]

    assert {"id", "hp.lr", "validation.loss.min"} <= columns
    assert ranges == [{"metricsName": "validation.loss", "min": 0.25, "max": 0.5}]


def test_templates_are_made_merged_renamed_and_removed(api: Any) -> None:
    api.post("/api/v1/templates/once", {"name": "once", "config": {"max_restarts": 1}, "workspaceId": 1})
    api.post("/api/v1/templates/once", {"config": {}}, expect=409)
    api.call("PATCH", "/api/v1/templates/once", {"max_restarts": 3})
    api.call("PATCH", "/api/v1/template/rename", {"oldName": "once", "newName": "thrice"})
    config = "entrypoint: x\nsearcher: {name: single, metric: loss}\n"

    made = api.create(config, template="thrice")
    listed = api.get("/api/v1/templates")
    api.call("DELETE", "/api/v1/templates/thrice")

    assert api.get(f"/api/v1/experiments/{made}")["config"]["max_restarts"] == 3
    assert [each["name"] for each in listed["templates"]] == ["thrice"]
    assert listed["pagination"]["total"] == 1
    api.get("/api/v1/templates/thrice", expect=404)


def test_a_workspace_that_holds_models_is_not_deleted(api: Any) -> None:
    workspace = api.post("/api/v1/workspaces", {"name": "vision"})["workspace"]["id"]
    api.post("/api/v1/models", {"name": "ships", "workspaceId": workspace})

    refused = api.refusal("DELETE", f"/api/v1/workspaces/{workspace}", expect=400)

    assert "holds 1 models" in refused


def test_an_archived_workspace_takes_nothing_new_and_is_not_altered(api: Any) -> None:
    workspace = api.post("/api/v1/workspaces", {"name": "closed"})["workspace"]["id"]
    project = api.post(f"/api/v1/workspaces/{workspace}/projects", {"name": "old"})["project"]["id"]
    experiment = api.create()
    api.post("/api/v1/templates/base", {"config": {}, "workspaceId": workspace})
    api.post(f"/api/v1/workspaces/{workspace}/archive")
    calls = [
        ("POST", "/api/v1/experiments", {"config": "entrypoint: a\nsearcher: {name: single, metric: x}"}),
        ("POST", f"/api/v1/experiments/{experiment}/move", {"destinationProjectId": project}),
        ("POST", f"/api/v1/workspaces/{workspace}/projects", {"name": "new"}),
        ("PATCH", f"/api/v1/workspaces/{workspace}", {"name": "renamed"}),
        ("PATCH", f"/api/v1/projects/{project}", {"name": "renamed"}),
        ("POST", f"/api/v1/projects/{project}/notes", {"name": "a", "contents": "b"}),
        ("PUT", f"/api/v1/projects/{project}/notes", {"notes": []}),
        ("POST", f"/api/v1/projects/{project}/move", {"destinationWorkspaceId": 1}),
        ("POST", "/api/v1/templates/new", {"config": {}, "workspaceId": workspace}),
        ("POST", "/api/v1/models", {"name": "m", "workspaceId": workspace}),
    ]

    for method, path, body in calls:
        refused = api.refusal(
            method, path, {**body, "projectId": project} if path.endswith("nts") else body, expect=400
        )
        assert refused == "Workspace 'closed' is archived. Unarchive it first.", path

    api.post(f"/api/v1/workspaces/{workspace}/unarchive")
    api.call("PATCH", f"/api/v1/workspaces/{workspace}", {"name": "renamed"})


def test_what_is_in_an_archived_workspace_can_be_stopped_and_deleted(api: Any) -> None:
    workspace = api.post("/api/v1/workspaces", {"name": "closed"})["workspace"]["id"]
    project = api.post(f"/api/v1/workspaces/{workspace}/projects", {"name": "old"})["project"]["id"]
    experiment = api.create(projectId=project)
    api.post(f"/api/v1/workspaces/{workspace}/archive")

    api.post(f"/api/v1/experiments/{experiment}/kill")
    api.call("DELETE", f"/api/v1/experiments/{experiment}")

    assert api.get(f"/api/v1/projects/{project}")["project"]["numExperiments"] == 0
