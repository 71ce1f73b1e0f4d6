"""What scripts written for Determined rely on, beyond the shape of messages."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.api.conftest import CONFIG

from resolute.engine.housekeeping import Housekeeping
from resolute.store.blobs import open_blobs

UNMANAGED = "{name: outside, searcher: {name: single, metric: loss, max_length: {batches: 1}}}"


def outside(api: Any) -> tuple[int, int]:
    """An experiment that runs elsewhere, and its trial."""
    experiment = api.post("/api/v1/experiments", {"config": UNMANAGED, "unmanaged": True})["experiment"]["id"]
    trial = another(api, experiment)
    return experiment, trial


def another(api: Any, experiment: int) -> int:
    body = {"experimentId": experiment, "hparams": {}, "unmanaged": True}
    return int(api.post("/api/v1/trials", body)["trial"]["id"])


def state_of(api: Any, experiment: int) -> str:
    return str(api.get(f"/api/v1/experiments/{experiment}")["experiment"]["state"])


def says(api: Any, trial: int, state: str | None = None) -> Any:
    return api.call("PATCH", f"/api/v1/trials/{trial}", {"trialId": trial, "state": state})


# ------------------------------------------------------------------------------------------------------- unmanaged


@pytest.mark.parametrize("end", ["COMPLETED", "ERROR", "CANCELED"])
def test_an_unmanaged_experiment_ends_as_its_trial_does(end: str, api: Any) -> None:
    experiment, trial = outside(api)

    says(api, trial, f"STATE_{end}")

    assert state_of(api, experiment) == f"STATE_{end}"


def test_an_unmanaged_experiment_goes_on_with_another_trial_and_ends_as_badly_as_the_worst(api: Any) -> None:
    experiment, trial = outside(api)
    says(api, trial, "STATE_ERROR")

    second = another(api, experiment)
    meanwhile = state_of(api, experiment)
    says(api, second, "STATE_COMPLETED")

    assert (meanwhile, state_of(api, experiment)) == ("STATE_ACTIVE", "STATE_ERROR")


def test_a_trial_that_stops_sending_heartbeats_is_given_up_and_may_come_back(api: Any) -> None:
    experiment, trial = outside(api)
    says(api, trial, "STATE_RUNNING")
    api.clock.forward(timedelta(minutes=6).total_seconds())

    Housekeeping(api.platform).tick()
    lost = api.get(f"/api/v1/trials/{trial}")["trial"]
    ended = state_of(api, experiment)
    says(api, trial)

    assert (lost["state"], ended) == ("STATE_ERROR", "STATE_ERROR")
    assert "No heartbeat for 300 s" in lost["exitReason"]
    assert state_of(api, experiment) == "STATE_ACTIVE"


def test_a_trial_that_never_sent_a_heartbeat_is_not_given_up(api: Any) -> None:
    experiment, _ = outside(api)
    api.clock.forward(timedelta(days=1).total_seconds())

    Housekeeping(api.platform).tick()

    assert state_of(api, experiment) == "STATE_ACTIVE"


# --------------------------------------------------------------------------------------------------------- metrics


def test_reports_without_a_step_are_all_kept(api: Any) -> None:
    trial = api.running()
    for sample in range(5):
        metrics = {"trialId": trial.id, "trialRunId": 1, "metrics": {"avgMetrics": {"cpu_util": sample}}}
        trial.api.post(f"/api/v1/trials/{trial.id}/metrics", {"group": "cpu", "metrics": metrics})
        trial.api.clock.forward(1)

    lines = api.lines("/api/v1/trials/metrics/trial_metrics", trialIds=trial.id, group="cpu")

    kept = [report["metrics"]["avg_metrics"]["cpu_util"] for line in lines for report in line["metrics"]]
    assert kept == [0, 1, 2, 3, 4]
    assert api.get(f"/api/v1/trials/{trial.id}")["trial"]["totalBatchesProcessed"] == 0


def test_a_report_without_a_step_that_is_sent_twice_stands_once(api: Any) -> None:
    trial = api.running()
    report = {"trialRunId": 1, "reportTime": "2026-01-01T00:00:00Z", "metrics": {"avgMetrics": {"a": "NaN"}}}
    for _ in range(2):
        trial.api.post(f"/api/v1/trials/{trial.id}/metrics", {"group": "gpu", "metrics": report})

    (line,) = api.lines("/api/v1/trials/metrics/trial_metrics", trialIds=trial.id, group="gpu")

    assert len(line["metrics"]) == 1


def test_a_second_value_at_a_step_takes_the_place_of_the_first(api: Any) -> None:
    trial = api.running()
    trial.report("training", 1, loss=3.0, other=1.0)
    trial.report("training", 2, loss=2.0)

    trial.report("training", 1, loss=5.0)

    summary = api.get(f"/api/v1/trials/{trial.id}")["trial"]["summaryMetrics"]["avg_metrics"]
    assert (summary["loss"]["count"], summary["loss"]["sum"], summary["loss"]["max"]) == (2, 7.0, 5.0)
    assert summary["other"]["count"] == 1


def test_what_a_restart_reported_anew_is_left_out_of_streams(api: Any) -> None:
    trial = api.running(CONFIG.replace("max_restarts: 0", "max_restarts: 1"))
    for step in (1, 2):
        trial.report("training", step, loss=float(step))
    trial.exit(1)
    with api.platform.store.read() as tx:
        run_id = tx.trials.get(trial.id).run_id
    metrics = {"trialId": trial.id, "trialRunId": run_id, "stepsCompleted": 2, "metrics": {"avgMetrics": {"loss": 9.0}}}
    api.login("admin").post(f"/api/v1/trials/{trial.id}/metrics", {"group": "training", "metrics": metrics})

    (line,) = api.lines("/api/v1/trials/metrics/training_metrics", trialIds=trial.id)

    assert [report["metrics"]["avg_metrics"]["loss"] for report in line["metrics"]] == [1.0, 9.0]


def test_what_trials_report_is_found_by_the_checkpoint_that_they_worked_with(api: Any) -> None:
    first = api.running()
    checkpoint = first.checkpoint(5)
    second = api.running()
    info = {"trialId": second.id, "checkpointUuid": checkpoint}
    kind = "TRIAL_SOURCE_INFO_TYPE_INFERENCE"
    body = {"trialSourceInfo": {**info, "trialSourceInfoType": kind}}

    second.api.post("/api/v1/trial-source-info", body)
    second.report("inference", 1, accuracy=0.9)

    found = api.get(f"/api/v1/checkpoints/{checkpoint}/metrics", trialSourceInfoType=kind)["metrics"]
    assert [(each["trialId"], each["group"]) for each in found] == [(second.id, "inference")]
    assert first.api.refusal("POST", "/api/v1/trial-source-info", body, expect=403)


# ------------------------------------------------------------------------------------------------------------ ends


def test_a_trial_that_never_reports_the_searchers_metric_completes_with_a_warning(api: Any) -> None:
    trial = api.running()
    trial.report("validation", 10, accuracy=0.5)

    trial.exit(0)

    assert state_of(api, trial.experiment_id) == "STATE_COMPLETED"
    log = "".join(line["message"] for line in api.lines(f"/api/v1/trials/{trial.id}/logs"))
    assert "WARNING: The searcher's metric loss was never reported" in log


def test_an_experiment_that_failed_shows_how_far_it_came(api: Any) -> None:
    trial = api.running(CONFIG)
    trial.api.post(f"/api/v1/trials/{trial.id}/progress", {"progress": 0.25, "isRaw": True})

    trial.exit(1)

    experiment = api.get(f"/api/v1/experiments/{trial.experiment_id}")["experiment"]
    assert (experiment["state"], experiment["progress"]) == ("STATE_ERROR", 0.25)


def test_continuing_hands_new_hyperparameters_to_the_trial(api: Any) -> None:
    trial = api.running(CONFIG.replace("{lr: 0.1}", "{fail_at: 7, lr: 0.1}"))
    trial.exit(1)

    body = {"id": trial.experiment_id, "overrideConfig": "hyperparameters: {fail_at: -1}"}
    api.post("/api/v1/experiments/continue", body)

    assert api.trial(trial.experiment_id)["hparams"] == {"fail_at": -1, "lr": 0.1}


# --------------------------------------------------------------------------------------------- workspaces and users


def test_experiments_use_the_storage_and_the_pool_of_their_workspace(admin: Any, tmp_path: Path) -> None:
    storage = {"type": "directory", "container_path": str(tmp_path / "mine")}
    body = {"name": "ours", "checkpointStorageConfig": storage, "defaultComputePool": "default"}
    workspace = admin.post("/api/v1/workspaces", body)["workspace"]
    admin.post(f"/api/v1/workspaces/{workspace['id']}/projects", {"name": "shelf"})

    here = admin.create(CONFIG + "workspace: ours\nproject: shelf\n")
    said = admin.create(CONFIG + "workspace: ours\nproject: shelf\ncheckpoint_storage: {save_trial_best: 3}\n")
    other = {"type": "shared_fs", "host_path": str(tmp_path)}
    own = admin.create(CONFIG + f"workspace: ours\nproject: shelf\ncheckpoint_storage: {other}\n")

    storages = [admin.get(f"/api/v1/experiments/{each}")["config"]["checkpoint_storage"] for each in (here, said, own)]
    assert [each["type"] for each in storages] == ["directory", "directory", "shared_fs"]
    assert storages[1]["save_trial_best"] == 3
    assert workspace["defaultComputePool"] == "default"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"checkpointStorageConfig": {"type": "s4"}}, 'checkpointStorageConfig: type: "s4" is not known'),
        ({"checkpointStorageConfig": {"type": "s3"}}, "checkpointStorageConfig: bucket: is missing"),
        ({"defaultComputePool": "nonesuch"}, "defaultComputePool"),
        ({"defaultAuxPool": "defualt"}, "default"),
    ],
)
def test_what_a_workspace_cannot_use_is_refused(given: dict[str, Any], said: str, admin: Any) -> None:
    assert said in admin.refusal("POST", "/api/v1/workspaces", {"name": "x", **given}, expect=400)


def test_workspaces_and_projects_are_looked_up_by_their_whole_name(admin: Any) -> None:
    team = admin.post("/api/v1/workspaces", {"name": "Team"})["workspace"]["id"]
    admin.post("/api/v1/workspaces", {"name": "Team 2"})
    for name in ("shelf", "shelf 2"):
        admin.post(f"/api/v1/workspaces/{team}/projects", {"name": name})

    workspaces = admin.get("/api/v1/workspaces", name="team")["workspaces"]
    projects = admin.get(f"/api/v1/workspaces/{team}/projects", name="shelf")["projects"]

    assert [each["name"] for each in workspaces + projects] == ["Team", "shelf"]


def test_what_is_in_an_archived_project_is_hidden_with_what_is_archived_itself(api: Any) -> None:
    project = api.post("/api/v1/workspaces/1/projects", {"name": "shelf"})["project"]["id"]
    hidden, shown = api.create(projectId=project), api.create()
    api.post(f"/api/v1/projects/{project}/archive")

    def listed(**query: Any) -> list[int]:
        return [each["id"] for each in api.get("/api/v1/experiments", **query)["experiments"]]

    assert listed(archived="false") == [shown]
    assert listed() == [hidden, shown]
    assert listed(archived="false", projectId=project) == [hidden]


def test_experiments_are_listed_by_bounds_of_their_ids(api: Any) -> None:
    ids = [api.create() for _ in range(4)]
    query = {"experimentIdFilter.gt": ids[0], "experimentIdFilter.lt": ids[3], "experimentIdFilter.notIn": ids[2]}

    found = api.get("/api/v1/experiments", **query)["experiments"]

    assert [each["id"] for each in found] == [ids[1]]


def test_a_deed_on_all_projects_is_done_in_all_of_them(api: Any) -> None:
    project = api.post("/api/v1/workspaces/1/projects", {"name": "shelf"})["project"]["id"]
    ids = [api.create(projectId=project), api.create()]
    filters = {"filters": {"states": ["STATE_ACTIVE", "STATE_QUEUED"], "projectId": -1}}

    done = api.post("/api/v1/projects/-1/experiments/pause", filters)["results"]

    assert [each["id"] for each in done] == ids


def test_only_the_right_password_tells_that_a_user_was_deactivated(admin: Any, nobody: Any) -> None:
    admin.call("PATCH", "/api/v1/users/2", {"active": False})
    login = {"username": "determined", "password": ""}

    assert nobody.refusal("POST", "/api/v1/auth/login", login, expect=403) == "user is not active"
    wrong = {**login, "password": "guessed"}
    assert nobody.refusal("POST", "/api/v1/auth/login", wrong, expect=401) == "invalid credentials"


def test_tokens_are_shown_by_their_ids_revoked_ones_too(api: Any) -> None:
    first, second = (api.post("/api/v1/tokens", {})["tokenId"] for _ in range(2))
    api.call("PATCH", f"/api/v1/tokens/{first}", {"setRevoked": True})

    found = api.get("/api/v1/tokens", tokenIds=first)["tokenInfo"]

    assert [each["id"] for each in found] == [first]
    assert [each["id"] for each in api.get("/api/v1/tokens")["tokenInfo"]] == [second]


# ------------------------------------------------------------------------------------------------------------ logs


def test_lines_are_filtered_by_node_try_and_source(api: Any) -> None:
    trial = api.running()
    trial.api.post("/api/v1/task/logs", {"logs": [{"taskId": trial.task_id, "log": "hello"}]})
    trial.exit(1)

    def lines(**query: Any) -> list[str]:
        return [line["log"].strip() for line in api.lines(f"/api/v1/trials/{trial.id}/logs", **query)]

    (hello,) = api.lines(f"/api/v1/tasks/{trial.task_id}/logs", sources="task")
    assert (hello["log"], hello["allocationId"]) == ("hello\n", trial.allocation_id)
    assert "hello" in lines(agentIds=hello["agentId"])
    assert "hello" not in lines(sources="master")
    assert lines(sources="master")
    for nothing in ({"agentIds": "nonesuch"}, {"sources": "nonesuch"}, {"containerIds": "x"}):
        assert lines(**nothing) == []
    tries = api.lines(f"/api/v1/tasks/{trial.task_id}/logs", allocationIds=trial.allocation_id)
    assert {line["allocationId"] for line in tries} == {trial.allocation_id}


def test_logs_are_kept_as_long_as_was_said(admin: Any) -> None:
    kept = admin.running(CONFIG)
    gone = admin.running(CONFIG + "retention_policy: {log_retention_days: 30}\n")
    for trial in (kept, gone):
        trial.exit(1)
    admin.call("PUT", f"/api/v1/experiments/{kept.experiment_id}/retain_logs", {"numDays": -1})
    remaining = admin.get(f"/api/v1/trials/{gone.id}/remaining_log_retention_days")["remainingDays"]
    admin.call("PUT", f"/api/v1/trials/{gone.id}/retain_logs", {"numDays": 2})
    admin.clock.forward(timedelta(days=3).total_seconds())

    removed = admin.login("admin").post("/api/v1/cleanup_logs")["removedCount"]

    again = admin.login("admin")
    assert (remaining, removed) == (30, "1")
    assert again.lines(f"/api/v1/trials/{kept.id}/logs")
    assert again.lines(f"/api/v1/trials/{gone.id}/logs") == []


# ------------------------------------------------------------------------------------------------- files and tables


def test_tensorboard_files_go_with_their_experiment(api: Any) -> None:
    trial = api.running(CONFIG)
    trial.exit(1)
    storage = api.get(f"/api/v1/experiments/{trial.experiment_id}")["config"]["checkpoint_storage"]
    folder = Path(storage["host_path"]) / "c1" / "tensorboard" / "experiment"
    for experiment in (trial.experiment_id, 99):
        (folder / str(experiment)).mkdir(parents=True)
        (folder / str(experiment) / "events").write_text("x")

    api.call("DELETE", f"/api/v1/experiments/{trial.experiment_id}")

    assert not (folder / str(trial.experiment_id) / "events").exists()
    assert (folder / "99" / "events").exists()
    assert open_blobs(storage)


def test_the_table_of_allocations_has_a_row_for_each(api: Any) -> None:
    trial = api.running()
    trial.exit(1)

    answer = api.client.get(
        "/resources/allocation/allocations-csv",
        params={"timestamp_after": "2020-01-01T00:00:00Z", "timestamp_before": "2036-01-01T00:00:00Z"},
        headers=api.headers,
    )

    head, row, *_ = answer.text.splitlines()
    assert head.startswith("allocation_id,task_type,username,workspace_name,experiment_id,slots,start_time")
    assert row.startswith(f"{trial.allocation_id},TRIAL,determined,Uncategorized,{trial.experiment_id},1,")
