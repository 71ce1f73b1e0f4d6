"""The rarer commands of the official `det`."""

import tarfile
from pathlib import Path
from typing import Any


def test_the_uploaded_directory_comes_back(det: Any, done: int, tmp_path: Path) -> None:
    det("e", "download-model-def", done, "--output-dir", tmp_path)

    (packed,) = tmp_path.iterdir()
    with tarfile.open(packed) as tar:
        assert "train.py" in tar.getnames()


def test_the_best_checkpoints_of_an_experiment_are_downloaded(det: Any, done: int, tmp_path: Path) -> None:
    det("e", "download", done, "--output-dir", tmp_path / "best")

    assert list((tmp_path / "best").rglob("steps.txt"))


def test_an_experiment_is_moved_between_projects(det: Any, done: int, live_master: Any) -> None:
    det("workspace", "create", "shelf")
    det("project", "create", "shelf", "old")

    det("e", "move", done, "shelf", "old")
    moved = live_master.experiment(done)["projectName"]
    det("e", "move", done, "Uncategorized", "Uncategorized")

    assert moved == "old"


def test_slot_use_is_reported(det: Any, done: int) -> None:
    raw = det("resources", "raw", "2026-01-01T00:00:00Z", "2036-01-01T00:00:00Z")
    months = det("resources", "aggregated", "2026-01", "2027-12", "--monthly")

    assert f"{done},experiment,determined" in raw
    assert "username,determined" in months


def test_a_job_changes_its_priority(det: Any, slow: int, live_master: Any) -> None:
    job_id = live_master.experiment(slow)["jobId"]

    det("job", "update", job_id, "--priority", 7)
    priority = live_master.experiment(slow)["config"]["resources"]["priority"]
    det("e", "kill", slow)

    assert priority == 7


def test_a_finished_experiment_is_continued(
    det: Any, done: int, live_master: Any, write_config: Any, model: Path
) -> None:
    experiment_id = live_master.create(write_config(name="to-continue").read_text(), model)
    live_master.wait(experiment_id)

    det("e", "continue", experiment_id, "--config", "hyperparameters.steps=5")

    live_master.wait(experiment_id)
    (trial,) = live_master.call("GET", f"/api/v1/experiments/{experiment_id}/trials")["trials"]
    assert trial["state"] == "STATE_COMPLETED"


def test_lists_of_what_is_not_there_are_empty(det: Any) -> None:
    for kind in ("notebook", "tensorboard", "shell", "command"):
        det(kind, "list")
    det("model", "list")


def test_what_is_not_there_is_said_in_a_sentence(det: Any) -> None:
    assert "This master does not serve ListWorkspaceNamespaceBindings" in det(
        "workspace", "bindings", "list", "Uncategorized", code=1
    )


def test_versions_agree_without_a_warning(det: Any) -> None:
    out = det("version")

    assert "0.38.1" in out
