"""Checkpoints: reported, listed best first, downloaded as one archive, deleted."""

import io
import tarfile
import zipfile
from typing import Any

import pytest


@pytest.fixture
def trained(api: Any) -> tuple[Any, list[str]]:
    """A trial with three checkpoints; the second is the best."""
    trial = api.running()
    names = []
    for steps, loss in ((1, 0.5), (2, 0.1), (3, 0.3)):
        names.append(trial.checkpoint(steps, {"model.bin": b"w" * steps, "sub/notes.txt": b"n"}))
        trial.report("validation", steps, loss=loss)
    return trial, names


def test_a_checkpoint_shows_what_it_holds_and_where_it_came_from(api: Any, trained: Any) -> None:
    trial, names = trained

    found = api.get(f"/api/v1/checkpoints/{names[1]}")["checkpoint"]

    assert found["state"] == "STATE_COMPLETED"
    assert found["resources"] == {"model.bin": "2", "sub/notes.txt": "1"}
    assert found["metadata"]["steps_completed"] == 2
    assert found["training"]["trialId"] == trial.id
    assert found["training"]["experimentConfig"]["checkpoint_storage"]["type"] == "shared_fs"
    assert found["training"]["validationMetrics"]["avgMetrics"] == {"loss": 0.1}
    assert found["training"]["searcherMetric"] == 0.1


def test_by_searcher_metric_the_best_comes_first(api: Any, trained: Any) -> None:
    trial, names = trained
    path = f"/api/v1/experiments/{trial.experiment_id}/checkpoints"

    new = api.get(path, sortByAttr="SORT_BY_SEARCHER_METRIC", states="STATE_COMPLETED", limit=2)
    old = api.get(path, sortBy="SORT_BY_SEARCHER_METRIC", limit=1)
    by_name = api.get(path, sortByMetric="loss", orderBy="ORDER_BY_DESC")

    assert [each["uuid"] for each in new["checkpoints"]] == [names[1], names[2]]
    assert new["pagination"]["total"] == 3
    assert old["checkpoints"][0]["uuid"] == names[1]
    assert [each["uuid"] for each in by_name["checkpoints"]] == [names[0], names[2], names[1]]


def test_larger_may_be_better(api: Any) -> None:
    config = "entrypoint: x\nsearcher: {name: single, metric: acc, smaller_is_better: false}\n"
    trial = api.running(config)
    names = []
    for steps, acc in ((1, 0.5), (2, 0.9), (3, 0.7)):
        names.append(trial.checkpoint(steps))
        trial.report("validation", steps, acc=acc)

    answer = api.get(f"/api/v1/experiments/{trial.experiment_id}/checkpoints", sortByAttr="SORT_BY_SEARCHER_METRIC")

    assert answer["checkpoints"][0]["uuid"] == names[1]


def test_of_a_trial_the_order_is_as_asked(api: Any, trained: Any) -> None:
    trial, names = trained

    answer = api.get(
        f"/api/v1/trials/{trial.id}/checkpoints", sortByAttr="SORT_BY_BATCH_NUMBER", orderBy="ORDER_BY_DESC"
    )

    assert [each["uuid"] for each in answer["checkpoints"]] == names[::-1]


def test_a_checkpoint_downloads_as_tar_gz_with_its_files_at_the_root(api: Any, trained: Any) -> None:
    _, names = trained

    answer = api.client.get(f"/checkpoints/{names[1]}", headers={**api.headers, "Accept": "application/gzip"})

    assert answer.headers["content-type"] == "application/gzip"
    assert "content-encoding" not in answer.headers
    with tarfile.open(fileobj=io.BytesIO(answer.content), mode="r:gz") as tar:
        assert sorted(tar.getnames()) == ["model.bin", "sub/notes.txt"]
        assert tar.extractfile("model.bin").read() == b"ww"  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", ["application/x-tar", "application/zip"])
def test_other_archives_by_the_accept_header(api: Any, trained: Any, kind: str) -> None:
    _, names = trained

    answer = api.client.get(f"/checkpoints/{names[1]}", headers={**api.headers, "Accept": kind})

    content = io.BytesIO(answer.content)
    if kind == "application/zip":
        with zipfile.ZipFile(content) as archive:
            assert archive.testzip() is None
            assert archive.read("model.bin") == b"ww"
    else:
        with tarfile.open(fileobj=content, mode="r:") as tar:
            assert tar.extractfile("model.bin").read() == b"ww"  # type: ignore[union-attr]


def test_deleted_ones_are_gone_from_the_disk_and_cannot_be_downloaded(api: Any, trained: Any, tmp_path: Any) -> None:
    _, names = trained

    api.call("DELETE", "/api/v1/checkpoints", {"checkpointUuids": [names[0]]})

    assert api.get(f"/api/v1/checkpoints/{names[0]}")["checkpoint"]["state"] == "STATE_DELETED"
    assert not list((tmp_path / "checkpoints").glob(f"{names[0]}/*"))
    assert "DELETED" in api.refusal("GET", f"/checkpoints/{names[0]}", expect=400)


def test_some_files_are_removed_by_pattern(api: Any, trained: Any) -> None:
    _, names = trained

    api.post("/api/v1/checkpoints/rm", {"checkpointUuids": [names[0]], "checkpointGlobs": ["sub/*"]})

    left = api.get(f"/api/v1/checkpoints/{names[0]}")["checkpoint"]
    assert (left["state"], left["resources"]) == ("STATE_PARTIALLY_DELETED", {"model.bin": "1"})


def test_a_trial_that_deleted_its_own_says_so(api: Any, trained: Any) -> None:
    trial, names = trained

    trial.api.call(
        "PATCH", "/api/v1/checkpoints", {"checkpoints": [{"uuid": names[0], "resources": {"resources": {}}}]}
    )

    assert api.get(f"/api/v1/checkpoints/{names[0]}")["checkpoint"]["state"] == "STATE_DELETED"


def test_a_trial_may_not_touch_anothers_checkpoint(api: Any, trained: Any) -> None:
    _, names = trained
    other = api.running()

    body = {"checkpoints": [{"uuid": names[0], "resources": {"resources": {}}}]}
    other.api.call("PATCH", "/api/v1/checkpoints", body, expect=403)

    assert api.get(f"/api/v1/checkpoints/{names[0]}")["checkpoint"]["state"] == "STATE_COMPLETED"


def test_reporting_it_twice_is_the_same_as_once(api: Any) -> None:
    trial = api.running()
    body = {
        "uuid": "0b7e4e0c-6b0e-4f58-9dd4-3a3a4b6d3c11",
        "state": "STATE_COMPLETED",
        "resources": {"a": "1"},
        "metadata": {"steps_completed": 1},
        "taskId": trial.task_id,
        "allocationId": trial.allocation_id,
    }

    for _ in range(2):
        trial.api.post("/api/v1/checkpoints", body)

    assert len(api.get(f"/api/v1/trials/{trial.id}/checkpoints")["checkpoints"]) == 1


def test_metadata_is_edited(api: Any, trained: Any) -> None:
    _, names = trained
    body = {"checkpoint": {"uuid": names[0], "metadata": {"steps_completed": 1, "note": "keep"}}}

    answer = api.post(f"/api/v1/checkpoints/{names[0]}/metadata", body)

    assert answer["checkpoint"]["metadata"]["note"] == "keep"


def test_a_policy_is_previewed_before_it_is_set(api: Any, trained: Any) -> None:
    trial, names = trained

    doomed = api.get(
        f"/experiments/{trial.experiment_id}/preview_gc",
        save_experiment_best=0,
        save_trial_best=1,
        save_trial_latest=1,
    )

    assert [each["UUID"] for each in doomed["checkpoints"]] == [names[0]]
    assert doomed["checkpoints"][0]["StepsCompleted"] == 1
    assert doomed["metric_name"] == "loss"


def test_an_unknown_checkpoint_is_404(api: Any) -> None:
    assert "checkpoint not found" in api.refusal("GET", "/api/v1/checkpoints/nope", expect=404)
    assert "checkpoint not found" in api.refusal("GET", "/checkpoints/nope", expect=404)
