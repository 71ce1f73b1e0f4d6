"""The model registry over HTTP: names or ids, versions that hold their checkpoints, stages."""

from typing import Any

import pytest

MODELS = "/api/v1/models"


def new_model(api: Any, name: str = "ships", **fields: Any) -> dict[str, Any]:
    return dict(api.post(MODELS, {"name": name, **fields})["model"])


def register(api: Any, model: str, uuid: str, **fields: Any) -> dict[str, Any]:
    body = {"modelName": model, "checkpointUuid": uuid, **fields}
    return dict(api.post(f"{MODELS}/{model}/versions", body)["modelVersion"])


@pytest.fixture
def checkpoint(api: Any) -> str:
    """A whole checkpoint of a running trial."""
    return str(api.running().checkpoint(1))


# ---------------------------------------------------------------------------------------------------------- models


def test_a_model_shows_what_it_was_given(api: Any) -> None:
    model = new_model(api, description="d", notes="n", labels=["a", "a", " b "], metadata={"k": 1}, workspaceName=None)

    assert model["id"] == 1
    assert (model["name"], model["description"], model["notes"]) == ("ships", "d", "n")
    assert (model["labels"], model["metadata"]) == (["a", "b"], {"k": 1})
    assert (model["username"], model["workspaceId"], model["numVersions"]) == ("determined", 1, 0)
    assert model["archived"] is False
    assert model["creationTime"] == model["lastUpdatedTime"] == "2026-01-01T12:00:00.000000Z"


@pytest.mark.parametrize("path", ["old%20ships", "1"])
def test_a_model_is_named_by_its_quoted_name_or_its_id(api: Any, path: str) -> None:
    new_model(api, "old ships")

    assert api.get(f"{MODELS}/{path}")["model"]["name"] == "old ships"


UNUSABLE = [
    ("", "is empty"),
    ("   ", "is empty"),
    ("12", "cannot be called '12'"),
    ("a/b", "has a slash"),
    ("a\\b", "has a slash"),
    ("a  b", "several spaces"),
    ("a\nb", "control characters"),
    ("x" * 256, "at most 255"),
]


def test_names_that_could_not_be_used_are_refused(api: Any, subtests: pytest.Subtests) -> None:
    for name, part in UNUSABLE:
        with subtests.test(name=name):
            assert part in api.refusal("POST", MODELS, {"name": name}, expect=400)

    assert api.get(MODELS)["models"] == []


def test_a_taken_name_is_refused_with_its_holder(api: Any) -> None:
    new_model(api)
    new_model(api, "planes")

    assert "'ships' exists already (id 1)" in api.refusal("POST", MODELS, {"name": "ships"}, expect=409)
    assert "'ships' exists already" in api.refusal("PATCH", f"{MODELS}/planes", {"name": "ships"}, expect=409)


@pytest.mark.parametrize("path", ["nobody", "99"])
def test_an_unknown_model_is_not_found(api: Any, path: str) -> None:
    assert f"model not found: {path}" in api.refusal("GET", f"{MODELS}/{path}", expect=404)


def test_a_patch_replaces_what_it_names_and_leaves_the_rest(api: Any) -> None:
    new_model(api, description="old", notes="old", labels=["a"], metadata={"k": 1})
    api.clock.forward(1)

    changed = api.call("PATCH", f"{MODELS}/ships", {"notes": "", "metadata": {}, "description": None})["model"]
    renamed = api.call("PATCH", f"{MODELS}/ships", {"name": "boats", "labels": []})["model"]

    assert (changed["description"], changed["notes"], changed["labels"]) == ("old", "", ["a"])
    assert changed["metadata"] == {}
    assert changed["lastUpdatedTime"] > changed["creationTime"]
    assert (renamed["id"], renamed["name"], renamed["labels"]) == (1, "boats", [])


def test_a_model_moves_between_workspaces(api: Any) -> None:
    lab = api.post("/api/v1/workspaces", {"name": "lab"})["workspace"]["id"]
    new_model(api)

    by_name = api.call("PATCH", f"{MODELS}/ships", {"workspaceName": "lab"})["model"]
    api.post(f"{MODELS}/ships/move", {"modelName": "ships", "destinationWorkspaceId": 1})

    assert by_name["workspaceId"] == lab
    assert api.get(f"{MODELS}/ships")["model"]["workspaceId"] == 1
    assert "There are: Uncategorized, lab" in api.refusal(
        "PATCH", f"{MODELS}/ships", {"workspaceName": "moon"}, expect=404
    )
    api.post(f"/api/v1/workspaces/{lab}/archive")
    assert "is archived" in api.refusal("POST", f"{MODELS}/ships/move", {"destinationWorkspaceId": lab}, expect=400)


def test_an_archived_model_is_left_alone_until_it_is_back(api: Any, checkpoint: str) -> None:
    new_model(api)
    register(api, "ships", checkpoint)
    api.post(f"{MODELS}/ships/archive")

    refused = [
        api.refusal("PATCH", f"{MODELS}/ships", {"notes": "n"}, expect=400),
        api.refusal("POST", f"{MODELS}/ships/versions", {"checkpointUuid": checkpoint}, expect=400),
        api.refusal("PATCH", f"{MODELS}/ships/versions/1", {"notes": "n"}, expect=400),
    ]
    api.post(f"{MODELS}/ships/unarchive")

    assert all("'ships' is archived and cannot be changed" in sentence for sentence in refused)
    assert api.get(f"{MODELS}/ships")["model"]["archived"] is False
    assert api.call("PATCH", f"{MODELS}/ships", {"notes": "n"})["model"]["notes"] == "n"


def test_lists_are_filtered_sorted_and_cut(api: Any, checkpoint: str) -> None:
    for name in ("b", "c", "a"):
        new_model(api, name, labels=["common", name])
        api.clock.forward(1)
    register(api, "c", checkpoint)
    api.post(f"{MODELS}/b/archive")

    def names(**query: Any) -> list[str]:
        return [model["name"] for model in api.get(MODELS, **query)["models"]]

    assert names() == ["b", "c", "a"]
    assert names(sortBy="SORT_BY_NAME") == ["a", "b", "c"]
    assert names(sortBy="SORT_BY_NUM_VERSIONS", orderBy="ORDER_BY_DESC")[0] == "c"
    assert names(sortBy="SORT_BY_CREATION_TIME", orderBy="ORDER_BY_DESC") == ["a", "c", "b"]
    assert names(archived="false") == ["c", "a"]
    assert names(labels="a") == ["a"]
    assert names(name="B") == ["b"]
    assert names(users="determined", workspaceNames="Uncategorized") == ["b", "c", "a"]
    assert names(userIds=99) == []
    page = api.get(MODELS, limit=2, offset=2)
    assert [model["name"] for model in page["models"]] == ["a"]
    assert page["pagination"] == {"offset": 2, "limit": 2, "startIndex": 2, "endIndex": 3, "total": 3}
    assert api.get(MODELS, limit=-2)["pagination"]["total"] == 3
    assert api.get(MODELS, offset=-1)["pagination"]["startIndex"] == 2


def test_labels_come_most_used_first(api: Any) -> None:
    new_model(api, "a", labels=["z", "y"])
    new_model(api, "b", labels=["z"])

    assert api.get("/api/v1/model/labels")["labels"] == ["z", "y"]
    assert api.get("/api/v1/model/labels", workspaceId=7)["labels"] == []


def test_only_its_owner_or_an_administrator_deletes_a_model(api: Any, admin: Any) -> None:
    admin.post(MODELS, {"name": "theirs"})
    new_model(api)

    assert "belongs to somebody else" in api.refusal("DELETE", f"{MODELS}/theirs", expect=403)
    admin.call("DELETE", f"{MODELS}/ships")
    admin.call("DELETE", f"{MODELS}/theirs")
    assert api.get(MODELS)["models"] == []


# -------------------------------------------------------------------------------------------------------- versions


def test_versions_are_numbered_from_one_and_carry_their_checkpoint(api: Any, checkpoint: str) -> None:
    new_model(api)

    first = register(api, "ships", checkpoint, name="n", comment="c", notes="o", labels=["l"], metadata={"k": 1})
    second = register(api, "ships", checkpoint)

    assert (first["version"], second["version"]) == (1, 2)
    assert first["checkpoint"]["uuid"] == checkpoint
    assert first["checkpoint"]["training"]["trialId"] == 1
    assert (first["name"], first["comment"], first["notes"]) == ("n", "c", "o")
    assert (first["labels"], first["metadata"], first["stage"]) == (["l"], {"k": 1}, "NONE")
    assert (first["model"]["name"], first["username"]) == ("ships", "determined")
    assert api.get(f"{MODELS}/ships")["model"]["numVersions"] == 2


def test_versions_are_listed_either_way_and_in_pages(api: Any, checkpoint: str) -> None:
    new_model(api)
    for _ in range(3):
        register(api, "ships", checkpoint)

    def numbers(**query: Any) -> list[int]:
        return [each["version"] for each in api.get(f"{MODELS}/1/versions", **query)["modelVersions"]]

    assert numbers() == [1, 2, 3]
    assert numbers(orderBy="ORDER_BY_DESC", sortBy="SORT_BY_VERSION", limit=1) == [3]
    assert numbers(offset=1, limit=1) == [2]


def test_a_version_is_changed_by_name_and_looked_at_by_number(api: Any, checkpoint: str) -> None:
    new_model(api)
    register(api, "ships", checkpoint)

    api.call("PATCH", f"{MODELS}/ships/versions/1", {"name": "best", "labels": ["x"], "metadata": {"a": 1}})
    api.call("PATCH", f"{MODELS}/1/versions/1", {"comment": "c", "notes": "n"})

    found = api.get(f"{MODELS}/ships/versions/1")["modelVersion"]
    assert (found["name"], found["comment"], found["notes"]) == ("best", "c", "n")
    assert (found["labels"], found["metadata"]) == (["x"], {"a": 1})
    assert "version 2 of model 1" in api.refusal("GET", f"{MODELS}/ships/versions/2", expect=404)
    assert api.get(f"{MODELS}/ships/versions/1/metrics", trialSourceInfoType="TRIAL_SOURCE_INFO_TYPE_INFERENCE") == {
        "metrics": []
    }


def test_promoting_one_retires_the_one_in_production(api: Any, checkpoint: str) -> None:
    new_model(api)
    for _ in range(3):
        register(api, "ships", checkpoint)

    api.call("PATCH", f"{MODELS}/ships/versions/1", {"stage": "PRODUCTION"})
    api.call("PATCH", f"{MODELS}/ships/versions/2", {"stage": "staging"})
    promoted = api.call("PATCH", f"{MODELS}/ships/versions/3", {"stage": "PRODUCTION"})["modelVersion"]

    stages = [each["stage"] for each in api.get(f"{MODELS}/ships/versions")["modelVersions"]]
    assert promoted["stage"] == "PRODUCTION"
    assert stages == ["RETIRED", "STAGING", "PRODUCTION"]
    assert "'NONE', 'STAGING', 'PRODUCTION' or 'RETIRED'" in api.refusal(
        "PATCH", f"{MODELS}/ships/versions/1", {"stage": "LIVE"}, expect=400
    )


def test_a_checkpoint_that_is_unknown_or_not_whole_cannot_be_registered(api: Any, checkpoint: str) -> None:
    new_model(api)
    path = f"{MODELS}/ships/versions"

    unknown = api.refusal("POST", path, {"checkpointUuid": "nope"}, expect=404)
    api.call("DELETE", "/api/v1/checkpoints", {"checkpointUuids": [checkpoint]})
    deleted = api.refusal("POST", path, {"checkpointUuid": checkpoint}, expect=400)

    assert unknown == "checkpoint not found: nope"
    assert f"Checkpoint {checkpoint} is DELETED; only a COMPLETED one" in deleted
    assert "checkpointUuid: field required" in api.refusal("POST", path, {}, expect=400)
    assert api.get(f"{MODELS}/ships")["model"]["numVersions"] == 0


def test_a_registered_checkpoint_cannot_be_deleted_until_its_versions_are(api: Any, checkpoint: str) -> None:
    new_model(api)
    register(api, "ships", checkpoint)
    doomed = {"checkpointUuids": [checkpoint]}

    refused = api.refusal("DELETE", "/api/v1/checkpoints", doomed, expect=400)
    in_part = api.refusal("POST", "/api/v1/checkpoints/rm", {**doomed, "checkpointGlobs": ["*"]}, expect=400)
    kept = api.get(f"/api/v1/checkpoints/{checkpoint}")["checkpoint"]["state"]
    api.call("DELETE", f"{MODELS}/ships/versions/1")
    api.call("DELETE", "/api/v1/checkpoints", doomed)

    assert "are in the model registry and cannot be deleted: ships/1" in refused
    assert "ships/1" in in_part
    assert kept == "STATE_COMPLETED"
    assert api.get(f"/api/v1/checkpoints/{checkpoint}")["checkpoint"]["state"] == "STATE_DELETED"


def test_an_experiment_with_a_registered_checkpoint_cannot_be_deleted(api: Any) -> None:
    trial = api.running()
    uuid = trial.checkpoint(1)
    trial.exit()
    new_model(api)
    register(api, "ships", uuid)

    refused = api.refusal("DELETE", f"/api/v1/experiments/{trial.experiment_id}", expect=400)

    assert "ships/1" in refused
    assert api.get(f"/api/v1/experiments/{trial.experiment_id}")["experiment"]["state"] == "STATE_COMPLETED"


def test_a_registered_checkpoint_is_not_collected(api: Any) -> None:
    trial = api.running()
    first, second, third = (trial.checkpoint(steps) for steps in (1, 2, 3))
    new_model(api)
    register(api, "ships", first)

    doomed = api.get(f"/experiments/{trial.experiment_id}/preview_gc", save_trial_best=0)["checkpoints"]

    assert [each["UUID"] for each in doomed] == [second]
    assert third not in [each["UUID"] for each in doomed]


def test_only_owners_or_administrators_delete_versions(api: Any, admin: Any, checkpoint: str) -> None:
    admin.post(MODELS, {"name": "theirs"})
    admin.post(f"{MODELS}/theirs/versions", {"checkpointUuid": checkpoint})
    own = register(api, "theirs", checkpoint)["version"]

    assert "belongs to somebody else" in api.refusal("DELETE", f"{MODELS}/theirs/versions/1", expect=403)
    api.call("DELETE", f"{MODELS}/theirs/versions/{own}")

    assert [each["version"] for each in api.get(f"{MODELS}/theirs/versions")["modelVersions"]] == [1]
