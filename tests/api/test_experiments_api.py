"""Submitting, listing and changing experiments, in the messages that clients read."""

import base64
import io
import tarfile
from typing import Any

import pytest


def test_a_submitted_experiment_comes_back_whole(api: Any) -> None:
    experiment_id = api.create()

    found = api.get(f"/api/v1/experiments/{experiment_id}")

    experiment = found["experiment"]
    assert experiment["name"] == "digits"
    assert experiment["username"] == "determined"
    assert experiment["searcherType"] == "single"
    assert experiment["searcherMetric"] == "loss"
    assert experiment["numTrials"] == 1
    assert experiment["projectName"] == "Uncategorized"
    assert "# kept as it was written" in experiment["originalConfig"]
    assert found["config"]["max_restarts"] == 0
    assert found["jobSummary"]["state"] == "STATE_QUEUED"
    assert found["jobSummary"]["jobsAhead"] == 0


def test_zero_values_are_always_there(api: Any) -> None:
    experiment = api.get(f"/api/v1/experiments/{api.create()}")["experiment"]

    assert experiment["endTime"] is None
    assert experiment["labels"] == []
    assert experiment["description"] == ""
    assert experiment["archived"] is False
    assert experiment["checkpointSize"] == "0"
    assert experiment["startTime"].endswith("Z")


def test_the_body_may_be_snake_case_and_nulls_mean_nothing(api: Any) -> None:
    body = {
        "config": "name: a\nentrypoint: x\nsearcher: {name: single, metric: loss}\n",
        "model_definition": None,
        "validate_only": True,
        "template": None,
        "project_id": None,
        "parent_id": None,
    }

    answer = api.post("/api/v1/experiments", body)

    assert answer["experiment"]["id"] == 0
    assert api.get("/api/v1/experiments")["experiments"] == []


def test_a_content_type_does_not_matter(api: Any) -> None:
    body = '{"username": "admin", "password": ""}'
    headers = {"Content-Type": "application/x-www-form-urlencoded"}

    answer = api.client.post("/api/v1/auth/login", content=body, headers=headers)

    assert answer.status_code == 200


def test_a_bad_configuration_is_refused_with_its_place_and_creates_nothing(api: Any) -> None:
    body = {"config": "name: a\nentrypoint: x\nsearcher: {name: single, metrik: loss}\n", "activate": True}

    sentence = api.refusal("POST", "/api/v1/experiments", body, expect=400)

    assert "metrik" in sentence
    assert "3" in sentence
    assert api.get("/api/v1/experiments")["pagination"]["total"] == 0


@pytest.mark.parametrize("path", ["../evil.py", "/etc/passwd", "a/../../b"])
def test_paths_that_lead_out_of_the_archive_are_refused(api: Any, make_file: Any, path: str) -> None:
    body = {"config": "entrypoint: x\nsearcher: {name: single, metric: a}", "modelDefinition": [make_file(path, b"x")]}

    sentence = api.refusal("POST", "/api/v1/experiments", body, expect=400)

    assert path in sentence


@pytest.mark.parametrize(("change", "word"), [({"type": 50}, "type 50"), ({"content": "%%%"}, "base64")])
def test_links_and_broken_contents_are_refused(api: Any, make_file: Any, change: dict[str, Any], word: str) -> None:
    upload = make_file("train.py", b"x", **change)
    body = {"config": "entrypoint: x\nsearcher: {name: single, metric: a}", "modelDefinition": [upload]}

    assert word in api.refusal("POST", "/api/v1/experiments", body, expect=400)


def test_the_uploaded_directory_comes_back_as_a_tar(api: Any, make_file: Any) -> None:
    files = [make_file("pkg", b"", type=53, mode=16877), make_file("pkg/a.py", b"A = 1\n")]
    experiment_id = api.create(modelDefinition=files)

    packed = api.get(f"/api/v1/experiments/{experiment_id}/model_def")["b64Tgz"]

    with tarfile.open(fileobj=io.BytesIO(base64.b64decode(packed))) as tar:
        assert tar.getnames() == ["pkg", "pkg/a.py"]
        assert tar.extractfile("pkg/a.py").read() == b"A = 1\n"  # type: ignore[union-attr]


def test_the_same_directory_gives_the_same_bytes(api: Any, make_file: Any) -> None:
    ids = [api.create(modelDefinition=[make_file("a.py", b"1")]) for _ in range(2)]

    first, second = (api.get(f"/api/v1/experiments/{each}/model_def")["b64Tgz"] for each in ids)

    assert first == second


def test_the_file_tree_shows_folders_and_a_file_can_be_read(api: Any, make_file: Any) -> None:
    experiment_id = api.create(modelDefinition=[make_file("pkg/deep/a.py", b"A = 1\n"), make_file("top.txt", b"t")])

    tree = api.get(f"/api/v1/experiments/{experiment_id}/file_tree")["files"]
    content = api.post(f"/api/v1/experiments/{experiment_id}/file", {"path": "pkg/deep/a.py"})["file"]

    assert [node["name"] for node in tree] == ["pkg", "top.txt"]
    assert tree[0]["files"][0]["files"][0]["path"] == "pkg/deep/a.py"
    assert base64.b64decode(content) == b"A = 1\n"


def test_an_unknown_file_is_named(api: Any) -> None:
    experiment_id = api.create()

    sentence = api.refusal("POST", f"/api/v1/experiments/{experiment_id}/file", {"path": "nope.py"}, expect=404)

    assert "nope.py" in sentence


def test_an_unknown_experiment_is_404_in_the_words_clients_print(api: Any) -> None:
    answer = api.get("/api/v1/experiments/99", expect=404)

    assert answer["error"]["error"] == "experiment not found: 99"
    assert answer["error"]["code"] == 5
    assert answer["error"]["type"] == "not_found"


def test_lists_are_cut_into_pages(api: Any) -> None:
    for _ in range(5):
        api.create()

    answer = api.get("/api/v1/experiments", offset=2, limit=2)

    assert [each["id"] for each in answer["experiments"]] == [3, 4]
    assert answer["pagination"] == {"offset": 2, "limit": 2, "startIndex": 2, "endIndex": 4, "total": 5}


def test_a_negative_offset_counts_from_the_end_and_minus_two_asks_for_counts_alone(api: Any) -> None:
    for _ in range(3):
        api.create()

    last = api.get("/api/v1/experiments", offset=-1)
    none = api.get("/api/v1/experiments", limit=-2)

    assert [each["id"] for each in last["experiments"]] == [3]
    assert none["experiments"] == []
    assert none["pagination"]["total"] == 3


def test_filters_and_orders(api: Any, admin: Any) -> None:
    api.create()
    admin.create("name: other\nentrypoint: x\nlabels: [a]\nsearcher: {name: single, metric: loss}\n")

    def ids(**query: Any) -> list[int]:
        return [each["id"] for each in api.get("/api/v1/experiments", **query)["experiments"]]

    assert ids(users="admin") == [2]
    assert ids(name="oth") == [2]
    assert ids(labels="a") == [2]
    assert ids(states="STATE_ACTIVE") == [1, 2]
    assert ids(states="STATE_COMPLETED") == []
    assert ids(orderBy="ORDER_BY_DESC") == [2, 1]
    assert ids(sortBy="SORT_BY_NAME") == [1, 2]
    assert ids(archived=True) == []


def test_a_word_that_is_no_state_is_refused_with_the_ones_there_are(api: Any) -> None:
    answer = api.get("/api/v1/experiments", expect=400, states="STATE_WRONG")

    assert "STATE_ACTIVE" in answer["error"]["error"]


def test_the_state_tells_queued_from_running(api: Any) -> None:
    first = api.create()
    before = api.get(f"/api/v1/experiments/{first}")["experiment"]["state"]

    api.tick()

    after = api.get(f"/api/v1/experiments/{first}")["experiment"]["state"]
    assert (before, after) == ("STATE_QUEUED", "STATE_RUNNING")
    assert api.trial(first)["state"] == "STATE_RUNNING"


def test_pause_activate_cancel_archive_and_delete(api: Any) -> None:
    trial = api.running()
    base = f"/api/v1/experiments/{trial.experiment_id}"

    def state() -> str:
        return str(api.get(base)["experiment"]["state"])

    api.post(f"{base}/pause")
    assert state() == "STATE_PAUSED"
    trial.api.post(f"/api/v1/allocations/{trial.allocation_id}/signals/ack_preemption")
    trial.exit()
    api.post(f"{base}/activate")
    assert state() == "STATE_QUEUED"
    api.post(f"{base}/kill")
    api.tick()
    assert state() == "STATE_CANCELED"
    api.post(f"{base}/archive")
    assert api.get(base)["experiment"]["archived"] is True
    api.post(f"{base}/unarchive")
    api.call("DELETE", base)
    api.get(base, expect=404)


def test_an_active_experiment_is_not_archived(api: Any) -> None:
    experiment_id = api.create()

    sentence = api.refusal("POST", f"/api/v1/experiments/{experiment_id}/archive", expect=400)

    assert "Cancel or kill it first" in sentence


def test_only_the_owner_or_an_administrator_deletes(nobody: Any, api: Any, admin: Any) -> None:
    admin.post("/api/v1/users", {"user": {"username": "eve", "active": True}, "password": ""})
    eve = nobody.login("eve")
    experiment_id = api.create()
    api.post(f"/api/v1/experiments/{experiment_id}/kill")
    api.tick()

    eve.call("DELETE", f"/api/v1/experiments/{experiment_id}", expect=403)
    admin.call("DELETE", f"/api/v1/experiments/{experiment_id}")

    api.get(f"/api/v1/experiments/{experiment_id}", expect=404)


def test_a_patch_changes_what_it_names_and_nothing_else(api: Any) -> None:
    experiment_id = api.create()
    body = {"id": experiment_id, "name": "new", "labels": ["a", "b"], "resources": {"priority": 7, "maxSlots": 1}}

    changed = api.call("PATCH", f"/api/v1/experiments/{experiment_id}", body)["experiment"]
    lifted = api.call("PATCH", f"/api/v1/experiments/{experiment_id}", {"resources": {"maxSlots": None}})["experiment"]

    assert (changed["name"], changed["labels"], changed["description"]) == ("new", ["a", "b"], "")
    assert changed["config"]["resources"]["priority"] == 7
    assert changed["config"]["resources"]["max_slots"] == 1
    assert lifted["config"]["resources"]["max_slots"] is None
    assert lifted["config"]["resources"]["priority"] == 7


def test_older_clients_patch_without_the_prefix(api: Any) -> None:
    experiment_id = api.create()

    api.call("PATCH", f"/experiments/{experiment_id}", {"resources": {"max_slots": 3}})

    assert api.get(f"/api/v1/experiments/{experiment_id}")["config"]["resources"]["max_slots"] == 3


def test_labels_one_at_a_time(api: Any) -> None:
    experiment_id = api.create()

    added = api.call("PUT", f"/api/v1/experiments/{experiment_id}/labels/nice")
    known = api.get("/api/v1/experiment/labels")
    removed = api.call("DELETE", f"/api/v1/experiments/{experiment_id}/labels/nice")

    assert added == known == {"labels": ["nice"]}
    assert removed == {"labels": []}


def test_a_fork_knows_its_parent(api: Any) -> None:
    parent = api.create()

    child = api.create(parentId=parent)

    assert api.get(f"/api/v1/experiments/{child}")["experiment"]["forkedFrom"] == parent


def test_more_slots_than_there_are_is_a_warning_clients_know(api: Any) -> None:
    config = "entrypoint: x\nresources: {slots_per_trial: 64}\nsearcher: {name: single, metric: loss}\n"

    answer = api.post("/api/v1/experiments", {"config": config, "activate": False})

    assert answer["warnings"] == ["LAUNCH_WARNING_CURRENT_SLOTS_EXCEEDED"]
    assert any("slots" in sentence for sentence in answer["messages"])


def test_many_at_once_tells_what_failed(api: Any) -> None:
    active, other = api.create(), api.create()
    api.post(f"/api/v1/experiments/{other}/kill")
    api.tick()

    body = {"experimentIds": [active, other, 99], "projectId": 1}
    answer = api.post("/api/v1/projects/1/experiments/archive", body)

    errors = {each["id"]: each["error"] for each in answer["results"]}
    assert errors[other] == ""
    assert "only a finished one" in errors[active]
    assert errors[99] == "experiment not found: 99"


def test_many_at_once_by_filter(api: Any) -> None:
    first, second = api.create(), api.create()
    filters = {"states": ["STATE_ACTIVE"], "excludedExperimentIds": [second]}

    answer = api.post("/api/v1/projects/1/experiments/pause", {"filters": filters, "experimentIds": []})

    assert answer["results"] == [{"id": first, "error": ""}]


def test_search_preview_counts_trials(api: Any) -> None:
    config = {
        "name": "s",
        "entrypoint": "x",
        "searcher": {"name": "random", "metric": "loss", "max_trials": 4, "max_length": {"batches": 100}},
        "hyperparameters": {"lr": {"type": "double", "minval": 0.1, "maxval": 1.0}},
    }

    summary = api.post("/api/v1/preview-hp-search", {"config": config, "seed": 1})["summary"]

    assert sum(each["count"] for each in summary["trials"]) == 4
    assert summary["trials"][0]["unit"] == {"name": "batches", "value": 100, "maxLength": True}


def test_tables_filter_and_sort_by_metric_columns(api: Any) -> None:
    losses = {}
    for loss in (0.3, 0.1, 0.2):
        trial = api.running()
        trial.report("validation", 1, loss=loss)
        trial.exit()
        losses[trial.experiment_id] = loss

    found = api.post("/api/v1/experiments-search", {"projectId": 1, "sort": "validation.loss.min=asc", "limit": 2})
    tree = '{"filterGroup": {"kind": "group", "conjunction": "and", "children": [{"kind": "field", '
    tree += '"columnName": "validation.loss.min", "operator": "<", "value": 0.25}]}}'
    better = api.post("/api/v1/experiments-search", {"filter": tree})

    assert [losses[e["experiment"]["id"]] for e in found["experiments"]] == [0.1, 0.2]
    assert found["experiments"][0]["bestTrial"]["searcherMetricValue"] == 0.1
    assert found["pagination"]["total"] == 3
    assert {losses[e["experiment"]["id"]] for e in better["experiments"]} == {0.1, 0.2}


def test_a_broken_filter_is_a_sentence(api: Any) -> None:
    assert "filter" in api.refusal("POST", "/api/v1/experiments-search", {"filter": "{"}, expect=400)


def test_what_this_master_does_not_do_is_said(api: Any) -> None:
    sentence = api.refusal("POST", "/api/v1/shells", {}, expect=501)

    assert "shells" in sentence
    assert api.get("/api/v1/shells") == {
        "shells": [],
        "pagination": {"offset": 0, "limit": 0, "startIndex": 0, "endIndex": 0, "total": 0},
    }
