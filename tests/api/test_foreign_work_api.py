"""In the basic mode everybody works with everything, but nobody deletes, or speaks for, what belongs to others."""

from typing import Any

import pytest

from resolute.domain.checkpoint import CheckpointState

OWNER = "belongs to somebody else"


@pytest.fixture
def trial(admin: Any) -> Any:
    """A running trial of the administrator; `api` is somebody else."""
    return admin.running()


def state_of(api: Any, uuid: str) -> CheckpointState:
    with api.platform.store.read() as tx:
        return tx.checkpoints.get(uuid).state


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("DELETE", "/api/v1/checkpoints", {"checkpointUuids": ["UUID"]}),
        ("POST", "/api/v1/checkpoints/rm", {"checkpointUuids": ["UUID"], "checkpointGlobs": ["**/*"]}),
        ("PATCH", "/api/v1/checkpoints", {"checkpoints": [{"uuid": "UUID", "resources": {"resources": {}}}]}),
    ],
)
def test_checkpoints_are_deleted_by_their_owner_and_by_administrators(
    api: Any, admin: Any, trial: Any, method: str, path: str, body: Any
) -> None:
    uuid = trial.checkpoint(1)

    def sent(caller: Any, expect: int) -> Any:
        return caller.call(method, path, _with(body, uuid), expect=expect)

    refused = sent(api, 403)["error"]["error"]
    kept = state_of(api, uuid)
    sent(admin, 200)

    assert OWNER in refused
    assert "DELETE_CHECKPOINTS in workspace 'Uncategorized'" in refused
    assert kept is CheckpointState.COMPLETED


def test_one_foreign_checkpoint_among_own_ones_deletes_none(api: Any, trial: Any) -> None:
    own, foreign = api.running().checkpoint(1), trial.checkpoint(1)

    api.call("DELETE", "/api/v1/checkpoints", {"checkpointUuids": [own, foreign]}, expect=403)

    assert {state_of(api, own), state_of(api, foreign)} == {CheckpointState.COMPLETED}


def test_a_task_still_says_what_it_deleted_itself(trial: Any) -> None:
    uuid = trial.checkpoint(1)

    trial.api.call(
        "PATCH", "/api/v1/checkpoints", {"checkpoints": [{"uuid": uuid, "resources": {"resources": {}}}]}, expect=200
    )

    assert state_of(trial.api, uuid) is CheckpointState.DELETED


_METRICS = {"trialRunId": 1, "stepsCompleted": 9, "metrics": {"avgMetrics": {"loss": -999.0}}}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/v1/trials/{trial}/metrics", {"group": "validation", "metrics": _METRICS}),
        ("/api/v1/trials/{trial}/metrics/batch", {"reports": [{"group": "validation", **_METRICS}]}),
        ("/api/v1/trials/{trial}/validation_metrics", _METRICS),
        ("/api/v1/trials/{trial}/training_metrics", _METRICS),
        ("/api/v1/trials/{trial}/progress", {"progress": 1.0, "isRaw": True}),
        ("/api/v1/trials/{trial}/early_exit", {"reason": "EXITED_REASON_INVALID_HP"}),
        ("/api/v1/trials/{trial}/runner/metadata", {"state": "SPINNING"}),
        ("/api/v1/task/logs", {"logs": [{"taskId": "TASK", "log": "forged"}]}),
        ("/task-logs", [{"task_id": "TASK", "log": "forged"}]),
        ("/api/v1/runs/start", {"runId": "TRIAL"}),
        ("/api/v1/checkpoints", {"uuid": "forged", "taskId": "TASK", "state": "STATE_COMPLETED", "resources": {}}),
        ("/api/v1/allocations/{allocation}/ready", {}),
        ("/api/v1/allocations/{allocation}/signals/pending_preemption", {}),
        ("/api/v1/allocations/{allocation}/signals/ack_preemption", {}),
        ("/api/v1/allocations/{allocation}/all_gather", {"requestUuid": "x", "numPeers": 1, "data": {}}),
    ],
)
def test_only_a_trial_itself_and_its_owner_report_for_it(api: Any, trial: Any, path: str, body: Any) -> None:
    filled = path.format(trial=trial.id, allocation=trial.allocation_id)
    sent = _with(body, trial.task_id, "TASK", trial.id)

    refused = api.refusal("POST", filled, sent, expect=403)

    assert "REPORT_FOR_TASK in workspace 'Uncategorized'" in refused
    with api.platform.store.read() as tx:
        stored = tx.trials.get(trial.id)
        assert tx.metrics.names([trial.id]) == []
    assert stored.early_exit is None
    assert "forged" not in str(api.lines(f"/api/v1/tasks/{trial.task_id}/logs"))


def test_the_owner_reports_for_his_own_trial(api: Any) -> None:
    own = api.running()

    api.post(f"/api/v1/trials/{own.id}/metrics", {"group": "validation", "metrics": _METRICS})

    with api.platform.store.read() as tx:
        assert tx.metrics.names([own.id]) == [("validation", "loss")]


def test_no_user_says_where_a_replica_listens_whoever_he_is(api: Any, admin: Any, trial: Any) -> None:
    path = f"/api/v1/allocations/{trial.allocation_id}/proxy_address"

    for caller in (api, admin):
        refused = caller.refusal("POST", path, {"proxyAddress": "127.0.0.1:5000"}, expect=403)
        assert "Only a running task" in refused


def test_many_experiments_are_deleted_each_by_its_owner(api: Any, admin: Any) -> None:
    own, foreign = api.create(), admin.create()
    for experiment_id in (own, foreign):
        admin.post(f"/api/v1/experiments/{experiment_id}/kill")
    body = {"experimentIds": [own, foreign]}

    answer = api.call("DELETE", "/api/v1/projects/1/experiments/delete", body)

    errors = {each["id"]: each["error"] for each in answer["results"]}
    assert errors[own] == ""
    assert OWNER in errors[foreign]


@pytest.mark.parametrize("pretended", ["model_version_num=1", "modelVersionNum=1"])
def test_a_query_cannot_make_somebody_the_owner_of_a_model(api: Any, admin: Any, pretended: str) -> None:
    admin.post("/api/v1/models", {"name": "ships"})
    uuid = api.running().checkpoint(1)
    api.post("/api/v1/models/ships/versions", {"checkpointUuid": uuid})

    api.call("DELETE", f"/api/v1/models/ships?{pretended}", expect=403)
    api.call("DELETE", "/api/v1/models/ships/versions/1")


def _with(body: Any, value: Any, word: str = "UUID", trial_id: int = 0) -> Any:
    """The body with `value` where `word` stands."""
    if isinstance(body, dict):
        return {key: _with(each, value, word, trial_id) for key, each in body.items()}
    if isinstance(body, list):
        return [_with(each, value, word, trial_id) for each in body]
    return {word: value, "TRIAL": trial_id}.get(body, body) if isinstance(body, str) else body


def test_a_task_sends_what_its_profiler_measured(trial: Any) -> None:
    """The address looks like that of a trial called `profiler`."""
    assert trial.api.post("/api/v1/trials/profiler/metrics", {"batches": []}) == {}
