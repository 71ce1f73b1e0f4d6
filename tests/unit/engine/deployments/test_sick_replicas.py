"""What the router finds of a replica is what the platform shows, and what hangs is replaced."""

from typing import Any

import pytest

from resolute.domain.deployment import Scaling, Serving
from resolute.domain.replica_health import HUNG_AFTER_S, Health
from resolute.engine.deployments.replicas import seen_by_router

TWO = Scaling(min_replicas=2, max_replicas=2)


def states(stage: Any) -> list[str]:
    return [str(seen_by_router(stage.platform, each).state) for each in stage.replicas()]


@pytest.mark.parametrize("health", [Health.UNREADY, Health.EJECTED])
def test_one_that_the_router_sends_nothing_is_not_ready_and_stays_in_its_table(stage: Any, health: Health) -> None:
    stage.create(scaling=TWO)
    stage.settle()
    ill = stage.replicas()[0].allocation_id

    stage.router.find_sick(ill, health)
    stage.turn(3)

    assert states(stage) == ["UNHEALTHY", "READY"]
    assert ill in [each.id for each in stage.router.routed("echo").revisions[0].replicas]
    assert len(stage.world.runner.started) == 2
    stage.router.find_well()
    stage.turn()
    assert states(stage) == ["READY", "READY"]


def test_one_that_hangs_is_replaced_and_its_place_in_the_table_taken(stage: Any) -> None:
    stage.create(scaling=TWO)
    stage.settle()
    hung = stage.replicas()[0].allocation_id

    stage.router.find_sick(hung, Health.HUNG)
    stage.settle()

    assert len(stage.world.runner.started) == 3
    assert states(stage) == ["READY", "READY"]
    assert hung not in [each.id for each in stage.router.routed("echo").revisions[0].replicas]


def test_old_news_say_nothing(stage: Any) -> None:
    stage.create()
    stage.settle()
    stage.router.find_sick(stage.replicas()[0].allocation_id, Health.HUNG)
    stage.turn()
    stage.router.find_well()
    assert states(stage) != ["READY"]

    stage.world.clock.forward(6)

    assert states(stage) == ["READY"]


@pytest.mark.parametrize(
    ("serving", "hung_after_s", "busy_s"),
    [
        (Serving(), HUNG_AFTER_S, 0.0),
        (Serving(command=["own"], timeout_s=30.0), HUNG_AFTER_S, 30.0),
        (Serving(command=["own"], hung_after_s=7.0), 7.0, 0.0),
    ],
)
def test_the_router_is_told_what_to_ask_and_how_long_to_wait(
    stage: Any, serving: Serving, hung_after_s: float, busy_s: float
) -> None:
    stage.create(serving=serving)
    stage.settle()

    routed = stage.router.routed("echo").revisions[0]

    assert (routed.health_path, routed.idempotent) == ("/v2/health/ready", False)
    assert (routed.hung_after_s, routed.busy_s) == (hung_after_s, busy_s)
