"""What a deployment looks like to those who ask: its state, its shares, its replicas."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from resolute.domain.deployment import Deployment, Revision, RevisionState, Serving
from resolute.domain.replica import Replica, ReplicaState
from resolute.server.shapes.deployments import DeploymentView, deployment_message, deployment_state
from resolute.spec.wire.deployments import DeploymentState

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
S, R, D = RevisionState, ReplicaState, DeploymentState


def view(
    revisions: list[tuple[int, RevisionState, int]], replicas: list[tuple[int, ReplicaState]], **fields: object
) -> DeploymentView:
    deployment = Deployment(
        id=1, name="echo", namespace="lab", user_id=1, workspace_id=1, created_at=NOON, updated_at=NOON
    )
    return DeploymentView(
        deployment=replace(deployment, **fields),  # type: ignore[arg-type]
        revisions=[
            Revision(
                id=number,
                deployment_id=1,
                number=number,
                source="model:digits/2",
                model_version_id=20 + number,
                checkpoint_uuid="u",
                serving=Serving(slots=1),
                created_at=NOON,
                state=state,
                replicas_wanted=wanted,
            )
            for number, state, wanted in revisions
        ],
        replicas=[
            Replica(task_id=f"t{n}", revision=number, state=state, since=NOON, allocation_id=f"t{n}.1", address="a:1")
            for n, (number, state) in enumerate(replicas)
        ],
        router_url="http://r",
        models={22: ("digits", 2)},
    )


@pytest.mark.parametrize(
    ("seen", "state"),
    [
        (view([(1, S.STARTING, 1)], []), D.STARTING),
        (view([(1, S.STARTING, 1)], [(1, R.STARTING)]), D.STARTING),
        (view([(1, S.FAILED, 0)], []), D.FAILED),
        (view([(2, S.STARTING, 1), (1, S.FAILED, 0)], []), D.STARTING),
        (view([(1, S.READY, 1)], [(1, R.READY)], stable=1), D.READY),
        (view([(1, S.READY, 2)], [(1, R.READY), (1, R.STARTING)], stable=1), D.READY),
        (view([(1, S.READY, 2)], [(1, R.READY), (1, R.RESTARTING)], stable=1), D.DEGRADED),
        (view([(1, S.READY, 1)], [(1, R.RESTARTING)], stable=1), D.DEGRADED),
        (view([(1, S.READY, 1)], [(1, R.STARTING)], stable=1), D.DEGRADED),
        (view([(1, S.READY, 0)], [], stable=1), D.SCALED_TO_ZERO),
        (view([(1, S.READY, 0)], [(1, R.DRAINING)], stable=1), D.SCALED_TO_ZERO),
        (view([(2, S.FAILED, 0), (1, S.READY, 1)], [(1, R.READY)], stable=1), D.READY),
        (view([(1, S.READY, 1)], [(1, R.READY)], stable=1, is_deleted=True), D.DELETING),
    ],
)
def test_the_state_sums_up_what_clients_can_expect(seen: DeploymentView, state: DeploymentState) -> None:
    assert deployment_state(seen) is state


def test_shares_are_those_of_the_moment() -> None:
    seen = view([(2, S.READY, 1), (1, S.READY, 1)], [(1, R.READY), (2, R.READY)], stable=1, canary=2, canary_percent=30)
    crashed = replace(seen, replicas=[r for r in seen.replicas if r.revision == 1])

    now = {r.number: r.traffic_percent for r in deployment_message(seen).revisions}
    then = {r.number: r.traffic_percent for r in deployment_message(crashed).revisions}

    assert now == {2: 30.0, 1: 70.0}
    assert then == {2: 0.0, 1: 100.0}


def test_nobody_answers_while_the_stable_revision_has_no_ready_replica() -> None:
    seen = view([(1, S.READY, 1)], [(1, R.RESTARTING)], stable=1)

    assert deployment_message(seen).revisions[0].traffic_percent == 0.0


def test_addresses_and_models_are_named() -> None:
    message = deployment_message(view([(2, S.READY, 1)], [(2, R.READY)], stable=2))

    assert message.url == "http://r/serving/echo"
    assert message.host == "echo.lab.resolute.local"
    assert (message.revisions[0].model_name, message.revisions[0].model_version) == ("digits", 2)
    assert message.revisions[0].serving.slots == 1
    assert (message.revisions[0].replicas[0].allocation_id, message.revisions[0].replicas[0].address) == ("t0.1", "a:1")


def test_a_revision_whose_model_is_gone_still_says_where_it_came_from() -> None:
    message = deployment_message(view([(3, S.READY, 1)], [(3, R.READY)], stable=3))

    assert (message.revisions[0].model_name, message.revisions[0].model_version) == ("", None)
    assert message.revisions[0].source == "model:digits/2"


def test_before_the_router_has_started_there_is_no_address() -> None:
    seen = replace(view([(1, S.STARTING, 1)], []), router_url="")

    assert deployment_message(seen).url == ""
