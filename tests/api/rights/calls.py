"""What is sent to each route, so that those who may get an answer. `{experiment_id}` is that of the place."""

from typing import Any
from urllib.parse import urlencode

from tests.api.rights.world import NOON, Place, World

_FROM, _TO = "2025-12-31T00:00:00Z", "2026-01-03T00:00:00Z"
_METRICS = {"trialRunId": "{run_number}", "stepsCompleted": 9, "metrics": {"avgMetrics": {"loss": 0.1}}}
_LOGS = [{"task_id": "{task_id}", "log": "hello"}]
_EACH = {"body": {"experimentIds": ["{experiment_id}"]}}
_ENDED = {"body": {"experimentIds": ["{ended_id}"]}}
_SOURCE = {"modelUri": "{model_folder}"}
_CHECKPOINTS = {"checkpointUuids": ["{checkpoint_uuid}"]}
_CONFIG = "{{entrypoint: python3 train.py, searcher: {{name: single, metric: loss, max_length: {{batches: 1}}}}}}"
_SEARCH = {"name": "single", "metric": "loss", "max_length": {"batches": 1}}
_COMMAND = {"ids": {"task_id": "command_id"}}
_UNMANAGED = {"ids": {"trial_id": "unmanaged_trial_id", "experiment_id": "unmanaged_id"}}

CALLS: dict[str, dict[str, Any]] = {
    "PUT /api/v1/master/cluster_message": {"body": {"message": "hello"}},
    "POST /api/v1/auth/login": {"body": {"username": "nobody", "password": ""}},
    "POST /api/v1/users": {"body": {"user": {"username": "newcomer", "active": True}}},
    "PATCH /api/v1/users": {"body": {"userIds": ["{user_id}"], "activate": True}},
    "PATCH /api/v1/users/{user_id}": {"body": {"displayName": "Changed"}},
    "POST /api/v1/users/{user_id}/password": {"body": "long enough"},
    "POST /api/v1/users/setting": {"body": {"settings": [{"key": "a", "storagePath": "b", "value": "c"}]}},
    "PATCH /api/v1/tokens/{token_id}": {"body": {"description": "changed"}},
    "GET /api/v1/events": {"query": {"topics": "experiments"}},
    "GET /api/v1/resources/allocation/raw": {"query": {"timestampAfter": _FROM, "timestampBefore": _TO}},
    "GET /api/v1/resources/allocation/aggregated": {"query": {"startDate": "2026-01-01", "endDate": "2026-01-01"}},
    "GET /resources/allocation/raw": {"query": {"timestamp_after": _FROM, "timestamp_before": _TO}},
    "GET /resources/allocation/allocations-csv": {"query": {"timestamp_after": _FROM, "timestamp_before": _TO}},
    "GET /resources/allocation/aggregated": {"query": {"start_date": "2026-01-01", "end_date": "2026-01-01"}},
    "POST /api/v1/job-queues": {"body": {"updates": [{"jobId": "{job_id}", "priority": 50}]}},
    # ------------------------------------------------------------------------------------------------ workspaces
    "POST /api/v1/workspaces": {"body": {"name": "another"}},
    "PATCH /api/v1/workspaces/{workspace_id}": {"body": {"name": "renamed"}},
    "POST /api/v1/workspaces/{workspace_id}/projects": {"body": {"name": "another"}},
    "PATCH /api/v1/projects/{project_id}": {"body": {"name": "renamed"}},
    "POST /api/v1/projects/{project_id}/move": {"body": {"destinationWorkspaceId": "{spare_workspace_id}"}},
    "POST /api/v1/projects/{project_id}/notes": {"body": {"name": "a", "contents": "b"}},
    "PUT /api/v1/projects/{project_id}/notes": {"body": {"notes": [{"name": "a", "contents": "b"}]}},
    **{
        f"POST /api/v1/projects/{{project_id}}/experiments/{deed}": _EACH
        for deed in ("activate", "pause", "cancel", "kill")
    },
    "PUT /api/v1/projects/{project_id}/experiments/retain_logs": {
        "body": {"experimentIds": ["{experiment_id}"], "numDays": 7}
    },
    "PUT /api/v1/experiments/{experiment_id}/retain_logs": {"body": {"numDays": 7}},
    "PUT /api/v1/trials/{trial_id}/retain_logs": {"body": {"numDays": -1}},
    "POST /api/v1/trial-source-info": {
        "body": {
            "trialSourceInfo": {
                "trialId": "{trial_id}",
                "checkpointUuid": "{checkpoint_uuid}",
                "trialSourceInfoType": "TRIAL_SOURCE_INFO_TYPE_INFERENCE",
            }
        }
    },
    "POST /api/v1/projects/{project_id}/experiments/archive": _ENDED,
    "POST /api/v1/projects/{project_id}/experiments/unarchive": _ENDED,
    "DELETE /api/v1/projects/{project_id}/experiments/delete": _ENDED,
    "POST /api/v1/projects/{project_id}/experiments/move": {
        "body": {"experimentIds": ["{experiment_id}"], "destinationProjectId": "{other_project_id}"}
    },
    "POST /api/v1/templates/{template_name}": {
        "ids": {"template_name": "new_name"},
        "body": {"workspaceId": "{workspace_id}", "config": {"name": "a"}},
    },
    "PUT /api/v1/templates/{template_name}": {"body": {"workspaceId": "{workspace_id}", "config": {"name": "a"}}},
    "PATCH /api/v1/templates/{template_name}": {"body": {"name": "a"}},
    "PATCH /api/v1/template/rename": {"body": {"oldName": "{template_name}", "newName": "renamed"}},
    # ----------------------------------------------------------------------------------------------- experiments
    "POST /api/v1/experiments": {"body": {"config": _CONFIG, "projectId": "{project_id}"}},
    "POST /api/v1/experiments/dry-run": {"body": {"config": _CONFIG, "projectId": "{project_id}"}},
    "POST /api/v1/experiments/continue": {
        "body": {"id": "{ended_id}", "overrideConfig": "{{max_restarts: 1}}"},
    },
    "POST /api/v1/preview-hp-search": {"body": {"config": {"searcher": _SEARCH, "entrypoint": "true"}, "seed": 1}},
    "GET /api/v1/experiments/metrics-stream/metric-names": {"query": {"ids": "{experiment_id}"}},
    "PATCH /api/v1/experiments/{experiment_id}": {"body": {"notes": "changed"}},
    "PATCH /experiments/{experiment_id}": {"body": {"resources": {"weight": 2.0}}},
    "DELETE /api/v1/experiments/{experiment_id}": {"ids": {"experiment_id": "ended_id"}},
    "POST /api/v1/experiments/{experiment_id}/archive": {"ids": {"experiment_id": "ended_id"}},
    "POST /api/v1/experiments/{experiment_id}/unarchive": {"ids": {"experiment_id": "ended_id"}},
    "POST /api/v1/experiments/{experiment_id}/datasets": {"body": {"dataset": "{dataset_name}:1"}},
    "POST /api/v1/experiments/{experiment_id}/file": {"body": {"path": "train.py"}},
    "GET /experiments/{experiment_id}/file/download": {"query": {"path": "train.py"}},
    "GET /api/v1/experiments/{experiment_id}/metrics-stream/batches": {"query": {"metricName": "loss"}},
    "GET /api/v1/experiments/{experiment_id}/metrics-stream/trials-sample": {"query": {"metricName": "loss"}},
    "GET /api/v1/experiments/{experiment_id}/metrics-stream/trials-snapshot": {
        "query": {"metricName": "loss", "batchesProcessed": 5}
    },
    "POST /api/v1/experiments/{experiment_id}/move": {"body": {"destinationProjectId": "{other_project_id}"}},
    "POST /api/v1/experiments/{experiment_id}/searcher/actions": {"body": {"upTo": 1}},
    # ---------------------------------------------------------------------------------------------------- trials
    "GET /api/v1/trials": {"query": {"ids": "{trial_id}"}},
    "POST /api/v1/trials": {"body": {"experimentId": "{unmanaged_id}", "hparams": {}, "unmanaged": True}},
    "PUT /api/v1/trials": {
        "body": {
            "createTrialRequest": {"experimentId": "{unmanaged_id}", "hparams": {}, "unmanaged": True},
            "externalTrialId": "another",
        }
    },
    **{
        f"GET /api/v1/trials/metrics/{kind}_metrics": {"query": {"trialIds": "{trial_id}"}}
        for kind in ("training", "validation", "trial")
    },
    "GET /api/v1/trials/series": {"query": {"trialIds": "{trial_id}"}},
    "GET /api/v1/trials/time-series": {"query": {"trialIds": "{trial_id}"}},
    "PATCH /api/v1/trials/{trial_id}": {**_UNMANAGED, "body": {"state": "STATE_RUNNING"}},
    "POST /api/v1/trials/{trial_id}/start": {**_UNMANAGED, "body": {"resume": False}},
    "POST /api/v1/trials/{trial_id}/early_exit": {"body": {"reason": "EXITED_REASON_INVALID_HP"}},
    "POST /api/v1/trials/{trial_id}/metrics": {"body": {"group": "validation", "metrics": _METRICS}},
    "POST /api/v1/trials/{trial_id}/metrics/batch": {"body": {"reports": [{"group": "validation", **_METRICS}]}},
    "POST /api/v1/trials/{trial_id}/progress": {"body": {"progress": 0.5, "isRaw": True}},
    "POST /api/v1/trials/{trial_id}/runner/metadata": {"body": {"state": "SPINNING"}},
    "POST /api/v1/trials/{trial_id}/searcher/completed_operation": {"body": {"searcherMetric": 1}},
    "POST /api/v1/trials/{trial_id}/training_metrics": {"body": _METRICS},
    "POST /api/v1/trials/{trial_id}/validation_metrics": {"body": _METRICS},
    "POST /api/v1/runs/start": {"body": {"runId": "{run_id}"}},
    "POST /api/v1/runs/{run_id}/metadata": {"body": {"metadata": {"a": 1}}},
    "POST /api/v1/task/logs": {"body": {"logs": _LOGS}},
    "POST /task-logs": {"body": _LOGS},
    "POST /api/v1/allocations/{allocation_id}/all_gather": {"body": {"requestUuid": "x", "numPeers": 1, "data": {}}},
    # ---------------------------------------------------------------------------------------------- started by people
    "POST /api/v1/commands": {"body": {"config": {"entrypoint": ["true"]}, "workspaceId": "{workspace_id}"}},
    "POST /api/v1/generic-tasks": {"body": {"config": '{{entrypoint: ["true"]}}', "projectId": "{project_id}"}},
    "GET /api/v1/commands/{task_id}": _COMMAND,
    "POST /api/v1/commands/{task_id}/kill": _COMMAND,
    "POST /api/v1/commands/{task_id}/set_priority": {**_COMMAND, "body": {"priority": 50}},
    "GET /det/interactive/{task_id}/{path:path}": {"ids": {"task_id": "notebook_id"}},
    "POST /api/v1/notebooks": {"body": {"workspaceId": "{workspace_id}"}},
    "POST /api/v1/tensorboards": {"body": {"experimentIds": ["{ended_id}"], "workspaceId": "{workspace_id}"}},
    **{
        f"{call}": {"ids": {"task_id": f"{kind}_id"}, "body": {"priority": 50}}
        for kind in ("notebook", "tensorboard")
        for call in (
            f"GET /api/v1/{kind}s/{{task_id}}",
            f"POST /api/v1/{kind}s/{{task_id}}/kill",
            f"POST /api/v1/{kind}s/{{task_id}}/set_priority",
        )
    },
    "GET /api/v1/tasks/{task_id}/config": {"ids": {"task_id": "generic_id"}},
    "POST /api/v1/tasks/{task_id}/kill": {"ids": {"task_id": "generic_id"}},
    "POST /api/v1/tasks/{task_id}/pause": {"ids": {"task_id": "generic_id"}},
    "POST /api/v1/tasks/{task_id}/unpause": {"ids": {"task_id": "paused_id"}},
    # ----------------------------------------------------------------------------------------------- checkpoints
    "POST /api/v1/checkpoints": {
        "body": {
            "uuid": "0123",
            "state": "STATE_COMPLETED",
            "resources": {},
            "taskId": "{task_id}",
            "allocationId": "{allocation_id}",
        }
    },
    "PATCH /api/v1/checkpoints": {
        "body": {"checkpoints": [{"uuid": "{checkpoint_uuid}", "resources": {"resources": {"model.bin": "1"}}}]}
    },
    "DELETE /api/v1/checkpoints": {"ids": {"checkpoint_uuid": "loose_uuid"}, "body": _CHECKPOINTS},
    "POST /api/v1/checkpoints/rm": {
        "ids": {"checkpoint_uuid": "loose_uuid"},
        "body": {**_CHECKPOINTS, "checkpointGlobs": ["none"]},
    },
    "GET /api/v1/checkpoints/{checkpoint_uuid}/file": {"query": {"path": "model.bin"}},
    "POST /api/v1/checkpoints/{checkpoint_uuid}/metadata": {"body": {"checkpoint": {"metadata": {"a": 1}}}},
    # -------------------------------------------------------------------------------------------------- registry
    "POST /api/v1/models": {"body": {"name": "another", "workspaceId": "{workspace_id}"}},
    "PATCH /api/v1/models/{model_name}": {"body": {"description": "changed"}},
    "POST /api/v1/models/{model_name}/move": {"body": {"destinationWorkspaceId": "{spare_workspace_id}"}},
    "POST /api/v1/models/{model_name}/versions": {"body": {"checkpointUuid": "{checkpoint_uuid}"}},
    "PATCH /api/v1/models/{model_name}/versions/{model_version_num}": {"body": {"comment": "changed"}},
    "POST /api/v1/datasets": {"body": "{dataset_body}"},
    "PATCH /api/v1/datasets/{dataset_name}/{version}": {"body": {"description": "changed"}},
    "DELETE /api/v1/datasets/{dataset_name}/{version}": {"query": {"force": "true"}},
    "GET /api/v1/datasets/{dataset_name}/{version}/images/content": {"query": {"path": "{image_path}"}},
    "GET /api/v1/lineage": {"query": {"kind": "experiment", "id": "{experiment_id}"}},
    # ----------------------------------------------------------------------------------------------- deployments
    "POST /api/v1/deployments": {"body": {"name": "another", "workspaceId": "{workspace_id}", **_SOURCE}},
    "PATCH /api/v1/deployments/{deployment_name}": {"body": {"public": False}},
    "POST /api/v1/deployments/{deployment_name}/canary": {"body": {"percent": 10, **_SOURCE}},
    "POST /api/v1/deployments/{deployment_name}/pin": {"body": {"revision": 1}},
    "POST /api/v1/deployments/{deployment_name}/shadow": {"body": {"percent": 10, **_SOURCE}},
    "POST /api/v1/deployments/{deployment_name}/update": {"body": _SOURCE},
    **{
        f"{method} /serving/{{name}}/{{path:path}}": {"ids": {"path": "served_path"}}
        for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
    },
    **{
        f"{method} /proxy/{{task_id}}/{{path:path}}": {"ids": {"path": "served_path"}}
        for method in ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
    },
}
assert NOON.isoformat() < _TO


def call_of(world: World, place: Place, method: str, path: str) -> tuple[str, Any]:
    """Address with query, and body."""
    call = CALLS.get(f"{method} {path}", {})
    served = {"new_name": "another", "served_path": f"v1/models/{place.mark}"}
    known = {**world.common, **place.ids, **served}
    for name, source in call.get("ids", {}).items():
        known[name] = known[source]
    address = path.replace(":path}", "}").format(**known)
    query = {name: _filled(value, known) for name, value in call.get("query", {}).items()}
    return f"{address}?{urlencode(query)}" if query else address, _filled(call.get("body"), known)


def is_about_place(method: str, path: str) -> bool:
    """Whether another place makes another call."""
    call = CALLS.get(f"{method} {path}", {})
    text = path + str(call)
    return any("{" + name in text for name in _PLACED)


_PLACED = (
    *("workspace_id", "project_", "other_project_id", "experiment_id", "ended_id", "unmanaged_", "trial_id", "run_"),
    *("task_id", "allocation_id", "job_id", "external_", "checkpoint_uuid", "model_", "dataset_", "image_path"),
    *("template_name", "deployment_name", "name}/{path"),
)


def _filled(value: Any, known: dict[str, Any]) -> Any:
    """A text that is one name in braces becomes what it names, whatever its type."""
    if isinstance(value, dict):
        return {key: _filled(each, known) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, known) for each in value]
    if not isinstance(value, str):
        return value
    if value.startswith("{") and value.endswith("}") and value[1:-1] in known:
        return known[value[1:-1]]
    return value.format(**known)
