"""The official `det` command does its work against our master."""

import json
import re
from pathlib import Path
from typing import Any

UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def test_login_and_whoami(det: Any) -> None:
    det("user", "login", "determined", given="\n")

    assert "determined" in det("user", "whoami")


def test_a_wrong_password_is_told_plainly(det: Any, live_master: Any) -> None:
    answer = live_master.http.post(
        f"{live_master.url}/api/v1/auth/login", json={"username": "determined", "password": "no"}
    )

    assert answer.status_code == 401
    assert answer.json()["error"]["error"] == "invalid credentials"


def test_create_and_follow(det: Any, write_config: Any, model: Path) -> None:
    out = det("e", "create", write_config(), model, "-f")

    assert "Created experiment" in out
    assert "INFO: finished step 3" in out
    assert "Trial log stream ended" in out


def test_a_bad_configuration_names_the_key(det: Any, tmp_path: Path, model: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("name: x\nentrypoint: x\nsearcher: {name: singel, metric: loss}\n")

    out = det("e", "create", path, model, code=1)

    assert "singel" in out


def test_list_and_describe(det: Any, done: int) -> None:
    listed = det("e", "list")
    described = json.loads(det("e", "describe", done, "--json"))

    assert re.search(rf"\b{done} \| determined +\| finished +\| +\| COMPLETED \| 100.0%", listed)
    assert described[0]["experiment"]["id"] == done
    assert described[0]["experiment"]["state"] == "STATE_COMPLETED"


def test_list_trials_and_checkpoints_best_first(det: Any, done: int) -> None:
    trials = det("e", "list-trials", done)
    best = det("e", "list-checkpoints", done, "--best", 1)

    assert "COMPLETED" in trials
    assert re.search(rf"\| +3 \| COMPLETED +\| +0.666667 \| {UUID}", best)


def test_logs_of_experiment_and_trial(det: Any, done: int, live_master: Any) -> None:
    trial_id = live_master.call("GET", f"/api/v1/experiments/{done}/trials")["trials"][0]["id"]

    whole = det("e", "logs", done)
    tail = det("t", "logs", trial_id, "--tail", 2)
    head = det("t", "logs", trial_id, "--head", 1)

    assert "[rank=0] || INFO: finished step 1" in whole
    assert len([line for line in tail.splitlines() if " || " in line]) == 2
    assert len([line for line in head.splitlines() if " || " in line]) == 1


def test_trial_describe_has_metrics_and_checkpoints(det: Any, done: int, live_master: Any) -> None:
    trial_id = live_master.call("GET", f"/api/v1/experiments/{done}/trials")["trials"][0]["id"]

    text = det("t", "describe", trial_id, "--metrics")
    message = json.loads(det("t", "describe", trial_id, "--json"))

    assert "val_loss" in text
    assert re.search(UUID, text)
    assert message["trial"]["summaryMetrics"]["validation_metrics"]["val_loss"]["count"] == 3


def test_pause_activate_and_cancel(det: Any, slow: int, live_master: Any) -> None:
    det("e", "pause", slow)
    paused = live_master.wait(slow, "STATE_PAUSED")
    det("e", "activate", slow)
    running = live_master.wait(slow, "STATE_RUNNING")
    det("e", "cancel", slow)

    assert (paused, running) == ("STATE_PAUSED", "STATE_RUNNING")
    assert live_master.wait(slow) == "STATE_CANCELED"


def test_a_paused_trial_resumes_from_its_checkpoint(det: Any, slow: int, live_master: Any) -> None:
    trial_id = live_master.call("GET", f"/api/v1/experiments/{slow}/trials")["trials"][0]["id"]
    _until(lambda: "finished step 1" in det("t", "logs", trial_id))

    det("e", "pause", slow)
    _until(lambda: "leaving" in det("t", "logs", trial_id))
    det("e", "activate", slow)
    _until(lambda: "resumed at" in det("t", "logs", trial_id))
    det("e", "kill", slow)

    assert live_master.wait(slow) == "STATE_CANCELED"


def test_kill_archive_and_delete(det: Any, slow: int, live_master: Any) -> None:
    det("e", "kill", slow)
    live_master.wait(slow, "STATE_CANCELED")
    det("e", "archive", slow)
    archived = live_master.experiment(slow)["archived"]
    det("e", "unarchive", slow)
    det("e", "delete", slow, "--yes")

    assert archived is True
    assert f"experiment not found: {slow}" in det("e", "describe", slow, code=1)


def test_trial_kill(det: Any, slow: int, live_master: Any) -> None:
    trial_id = live_master.call("GET", f"/api/v1/experiments/{slow}/trials")["trials"][0]["id"]

    det("t", "kill", trial_id)

    live_master.wait(slow)
    assert live_master.call("GET", f"/api/v1/trials/{trial_id}")["trial"]["state"] == "STATE_CANCELED"


def test_wait_tells_the_outcome_by_its_exit_code(det: Any, done: int) -> None:
    det("e", "wait", done)


def test_checkpoint_download_directly_and_through_the_master(det: Any, done: int, tmp_path: Path) -> None:
    (uuid,) = re.findall(UUID, det("e", "list-checkpoints", done, "--best", 1))

    det("checkpoint", "download", uuid, "-o", tmp_path / "direct", "--mode", "direct")
    det("checkpoint", "download", uuid, "-o", tmp_path / "master", "--mode", "master")

    assert (tmp_path / "direct" / "steps.txt").read_text() == "3"
    assert (tmp_path / "master" / "steps.txt").read_text() == "3"


def test_changing_what_may_be_changed(det: Any, done: int, live_master: Any) -> None:
    det("e", "set", "name", done, "renamed")
    det("e", "set", "description", done, "text")
    det("e", "set", "priority", done, 33)
    det("e", "set", "weight", done, 2)
    det("e", "set", "max-slots", done, 1)
    det("e", "label", "add", done, "fine")
    policy = ("--save-experiment-best", 1, "--save-trial-best", 1, "--save-trial-latest", 1)
    det("e", "set", "gc-policy", *policy, "--yes", done)

    experiment = live_master.experiment(done)
    det("e", "set", "name", done, "finished")
    assert (experiment["name"], experiment["description"], experiment["labels"]) == ("renamed", "text", ["fine"])
    assert experiment["config"]["resources"]["priority"] == 33


def test_the_cluster_is_visible(det: Any, slow: int) -> None:
    agents = det("agent", "list")
    slots = det("slot", "list")
    tasks = det("task", "list")
    jobs = det("job", "list")
    det("e", "kill", slow)

    assert re.search(r"\| +2 \| +\d \| default", agents)
    assert f"(Experiment {slow})" in slots
    assert f"(Experiment {slow})" in tasks
    assert "TYPE_EXPERIMENT" in jobs


def test_slots_are_taken_out_of_service_and_back(det: Any) -> None:
    det("user", "login", "admin", given="\n")
    agent = json.loads(det("agent", "list", "--json"))[0]["id"]

    det("slot", "disable", agent, 1)
    off = det("slot", "list")
    det("slot", "enable", agent, 1)

    det("user", "login", "determined", given="\n")
    assert re.search(r"\| +1 \| False", off)


def test_workspaces_projects_and_templates(det: Any, tmp_path: Path) -> None:
    template = tmp_path / "template.yaml"
    template.write_text("max_restarts: 1\n")

    det("workspace", "create", "lab")
    det("project", "create", "lab", "first")
    det("template", "create", "once", template)

    assert "lab" in det("workspace", "list")
    assert "first" in det("workspace", "list-projects", "lab")
    assert "max_restarts: 1" in det("template", "describe", "once")
    det("template", "remove", "once")


def test_users_are_made_and_change_their_passwords(det: Any) -> None:
    det("user", "login", "admin", given="\n")
    det("user", "create", "ada", "--password", "Lovelace1815")
    listed = det("user", "list")
    det("user", "login", "ada", given="Lovelace1815\n")
    name = det("user", "whoami")
    det("user", "login", "determined", given="\n")

    assert "ada" in listed
    assert "ada" in name


def test_search_preview(det: Any, tmp_path: Path) -> None:
    path = tmp_path / "search.yaml"
    path.write_text(
        """
name: s
entrypoint: x
searcher:
  name: adaptive_asha
  metric: loss
  max_trials: 16
  max_length: {batches: 1000}
hyperparameters: {lr: {type: double, minval: 0.1, maxval: 1.0}}
"""
    )

    out = det("preview-search", path)

    assert "Trials" in out


def test_master_information(det: Any) -> None:
    assert "clusterId" in det("master", "info") or "cluster" in det("master", "info").lower()
    assert "fitting_policy" in det("master", "config")
    assert "ready at" in det("master", "logs")


def _until(condition: Any, *, tries: int = 60) -> None:
    for _ in range(tries):
        if condition():
            return
    raise AssertionError("it did not happen in time")
