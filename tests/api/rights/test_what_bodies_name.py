"""What a configuration or a body names beside its own place must be open to whoever sends it, one id at a time."""

from typing import Any

import pytest
from tests.api.rights.world import World

from resolute.domain.rights import RightsMode

SEARCHER = "searcher: {{name: single, metric: loss, max_length: {{batches: 1}}, {source}}}"


@pytest.fixture
def send(world: World, doors: dict[RightsMode, Any]) -> Any:
    """As an editor of the own workspace; the world is put back afterwards."""
    yield lambda method, path, body: doors[RightsMode.ROLES].call("editor", method, path, body)
    world.restore()


@pytest.mark.parametrize(
    ("source", "missing"),
    [
        ("source_trial_id: {trial_id}", "trial not found: {trial_id}"),
        ("source_checkpoint_uuid: {checkpoint_uuid}", "checkpoint not found: {checkpoint_uuid}"),
        ("source_experiment_ids: [{experiment_id}]", "experiment not found: {experiment_id}"),
    ],
)
def test_a_search_starts_from_nothing_that_its_sender_may_not_see(
    world: World, send: Any, source: str, missing: str
) -> None:
    own, foreign = world.places["own"].ids, world.places["foreign"].ids

    def submitted(ids: dict[str, Any]) -> Any:
        searcher = SEARCHER.format(source=source.format(**ids))
        body = {"config": f"entrypoint: python3 a.py\n{searcher}", "projectId": own["project_id"]}
        return send("POST", "/api/v1/experiments", body)

    assert submitted(own).status != 404
    refused = submitted(foreign)
    assert refused.status == 404
    assert missing.format(**foreign) in refused.json["error"]["error"]


def test_a_fork_of_a_foreign_experiment_is_refused(world: World, send: Any) -> None:
    own, foreign = world.places["own"].ids, world.places["foreign"].ids
    body = {"config": "entrypoint: a\nsearcher: {name: single, metric: loss}", "projectId": own["project_id"]}

    answer = send("POST", "/api/v1/experiments", {**body, "parentId": foreign["experiment_id"]})

    assert answer.status == 404


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/v1/models/{own[model_name]}/versions", {"checkpointUuid": "{foreign[checkpoint_uuid]}"}),
        ("POST", "/api/v1/models/{own[model_name]}/move", {"destinationWorkspaceId": "{foreign[workspace_id]}"}),
        ("PATCH", "/api/v1/models/{own[model_name]}", {"workspaceName": "zzforeign"}),
        ("POST", "/api/v1/experiments/{own[experiment_id]}/datasets", {"dataset": "{foreign[dataset_name]}:1"}),
        (
            "POST",
            "/api/v1/experiments/{own[experiment_id]}/move",
            {"destinationProjectId": "{foreign[project_id]}"},
        ),
        (
            "POST",
            "/api/v1/projects/{own[project_id]}/move",
            {"destinationWorkspaceId": "{foreign[workspace_id]}"},
        ),
        (
            "POST",
            "/api/v1/deployments",
            {"name": "x", "workspaceId": "{own[workspace_id]}", "model": "{foreign[model_name]}"},
        ),
        (
            "POST",
            "/api/v1/deployments",
            {"name": "x", "workspaceId": "{own[workspace_id]}", "checkpointUuid": "{foreign[checkpoint_uuid]}"},
        ),
        (
            "POST",
            "/api/v1/deployments/{own[deployment_name]}/update",
            {"model": "{foreign[model_name]}/1"},
        ),
        (
            "POST",
            "/api/v1/job-queues",
            {"updates": [{"jobId": "{own[job_id]}", "aheadOf": "{foreign[job_id]}"}]},
        ),
        (
            "DELETE",
            "/api/v1/checkpoints",
            {"checkpointUuids": ["{own[loose_uuid]}", "{foreign[loose_uuid]}"]},
        ),
        ("GET", "/api/v1/trials/series?trialIds={own[trial_id]}&trialIds={foreign[trial_id]}", None),
        ("GET", "/api/v1/trials/time-series?trialIds={own[trial_id]}&trialIds={foreign[trial_id]}", None),
        ("GET", "/api/v1/trials/metrics/trial_metrics?trialIds={own[trial_id]}&trialIds={foreign[trial_id]}", None),
        ("GET", "/api/v1/experiments/{own[experiment_id]}/series?trialIds={foreign[trial_id]}", None),
        ("GET", "/api/v1/experiments/metrics-stream/metric-names?ids={foreign[experiment_id]}", None),
        ("PATCH", "/api/v1/template/rename", {"oldName": "{foreign[template_name]}", "newName": "mine"}),
        (
            "PUT",
            "/api/v1/templates/{foreign[template_name]}",
            {"config": {}, "workspaceId": "{own[workspace_id]}"},
        ),
        ("GET", "/api/v1/events?topics=experiment/{own[experiment_id]},trial/{foreign[trial_id]}", None),
        ("GET", "/api/v1/events?topics=deployment/{foreign[deployment_name]}", None),
        ("GET", "/api/v1/events?topics=task/{foreign[task_id]}", None),
        ("GET", "/api/v1/events?topics=allocation/{foreign[allocation_id]}", None),
    ],
)
def test_every_id_that_a_call_names_is_checked(world: World, send: Any, method: str, path: str, body: Any) -> None:
    places = {name: place.ids for name, place in world.places.items()}

    answer = send(method, path.format(**places), _filled(body, places))

    assert answer.status == 404, answer.content


def _filled(body: Any, places: dict[str, Any]) -> Any:
    if isinstance(body, dict):
        return {key: _filled(value, places) for key, value in body.items()}
    if isinstance(body, list):
        return [_filled(value, places) for value in body]
    text = body.format(**places) if isinstance(body, str) else body
    return int(text) if isinstance(text, str) and text.isdecimal() else text


def test_a_bulk_deed_reaches_only_what_its_sender_may_change(world: World, send: Any) -> None:
    own, foreign = world.places["own"].ids, world.places["foreign"].ids
    path = f"/api/v1/projects/{own['project_id']}/experiments/kill"

    answer = send("POST", path, {"experimentIds": [own["experiment_id"], foreign["experiment_id"]]})

    errors = {each["id"]: each["error"] for each in answer.json["results"]}
    assert errors[own["experiment_id"]] == ""
    assert errors[foreign["experiment_id"]] == f"experiment not found: {foreign['experiment_id']}"


def test_a_bulk_deed_by_filter_finds_nothing_foreign(world: World, send: Any) -> None:
    foreign = world.places["foreign"].ids
    path = f"/api/v1/projects/{foreign['project_id']}/experiments/kill"

    answer = send("POST", path, {"filters": {"projectId": foreign["project_id"]}})

    assert answer.json == {"results": []}
