"""Nodes and slots: who uses them, and which an operator has taken out of service."""

from typing import Any

import pytest

from resolute.domain.allocation import AllocationState
from resolute.domain.errors import NotFound
from resolute.domain.node import DeviceType, Node, Slot
from resolute.engine.jobs.cluster import (
    cluster_nodes,
    resource_pools,
    set_node_enabled,
    set_slot_enabled,
    usable_nodes,
)

CONFIG = """
name: test
entrypoint: python3 train.py
searcher: {name: single, metric: loss}
resources: {slots_per_trial: %d}
max_restarts: 0
"""


def started(world: Any, slots: int = 1) -> Any:
    experiment = world.create(CONFIG % slots)
    world.tick()
    return world.trials(experiment.id)[0]


def usable(world: Any) -> dict[str, Node]:
    with world.platform.store.read() as tx:
        return {node.id: node for node in usable_nodes(world.platform, tx)}


def two_nodes(world: Any) -> None:
    world.runner.set_nodes([Node(id=name, slots=(Slot(id=0), Slot(id=1))) for name in ("n1", "n2")])


# ------------------------------------------------------------------------------------------------------------- looking


def test_a_slot_knows_what_holds_it(world: Any) -> None:
    trial = started(world)

    (view,) = cluster_nodes(world.platform)

    assert {slot: allocation.trial_id for slot, allocation in view.used.items()} == {0: trial.id}
    assert view.zero_slot == ()


def test_what_needs_no_slot_is_on_the_node_too(world: Any) -> None:
    started(world, slots=0)

    (view,) = cluster_nodes(world.platform)

    assert view.used == {}
    assert len(view.zero_slot) == 1


def test_what_waits_or_has_ended_is_nowhere(world: Any) -> None:
    trial = started(world)
    world.finish(trial)
    world.create(CONFIG % 2)

    (view,) = cluster_nodes(world.platform)

    assert (view.used, view.zero_slot) == ({}, ())


def test_pools_count_their_slots_and_those_in_use(world: Any) -> None:
    two_nodes(world)
    started(world, slots=2)

    (pool,) = resource_pools(world.platform)

    assert (pool.pool.name, pool.slots, pool.used, pool.is_default) == ("default", 4, 2, True)
    assert pool.pool.device is DeviceType.CPU


# ------------------------------------------------------------------------------------------------------ out of service


def test_a_disabled_node_gets_nothing_new_and_what_runs_there_goes_elsewhere(world: Any) -> None:
    two_nodes(world)
    trial = started(world)
    with world.platform.store.read() as tx:
        (allocation,) = tx.allocations.live()
    node = allocation.shares[0].node_id

    set_node_enabled(world.platform, node, False)
    world.leave(trial)
    world.tick()

    with world.platform.store.read() as tx:
        (moved,) = tx.allocations.live()
    assert not usable(world)[node].is_enabled
    assert moved.shares[0].node_id != node
    assert world.states(trial) == [AllocationState.TERMINATED, AllocationState.RUNNING]


def test_a_drained_node_lets_what_runs_there_finish(world: Any) -> None:
    trial = started(world)

    set_node_enabled(world.platform, "fake", False, drain=True)
    world.tick(2)

    node = usable(world)["fake"]
    assert (node.is_enabled, node.is_draining) == (False, True)
    with world.platform.store.read() as tx:
        assert [a.preempt_requested_at for a in tx.allocations.of_task(trial.task_id)] == [None]


def test_a_node_that_is_back_serves_what_waited(world: Any) -> None:
    set_node_enabled(world.platform, "fake", False)
    trial = started(world)
    before = world.states(trial)

    set_node_enabled(world.platform, "fake", True)
    world.tick()

    assert before == [AllocationState.QUEUED]
    assert world.states(trial) == [AllocationState.RUNNING]
    assert usable(world)["fake"].is_draining is False


def test_a_disabled_slot_asks_only_whoever_holds_it_to_leave(world: Any) -> None:
    first, second = started(world), started(world)
    with world.platform.store.read() as tx:
        held = {a.trial_id: a.shares[0].slot_ids[0] for a in tx.allocations.live()}

    set_slot_enabled(world.platform, "fake", held[first.id], False)

    with world.platform.store.read() as tx:
        asked = {a.trial_id: a.preempt_requested_at is not None for a in tx.allocations.live()}
    assert asked == {first.id: True, second.id: False}


def test_slots_are_disabled_and_enabled_one_by_one(world: Any) -> None:
    for slot in (0, 1):
        set_slot_enabled(world.platform, "fake", slot, False)
    set_slot_enabled(world.platform, "fake", 0, True)

    assert {slot.id: slot.is_enabled for slot in usable(world)["fake"].slots} == {0: True, 1: False}


def test_a_node_that_is_enabled_keeps_its_disabled_slots(world: Any) -> None:
    set_slot_enabled(world.platform, "fake", 1, False)
    set_node_enabled(world.platform, "fake", False)

    set_node_enabled(world.platform, "fake", True)

    node = usable(world)["fake"]
    assert node.is_enabled
    assert [slot.is_enabled for slot in node.slots] == [True, False]


def test_a_disabled_slot_holds_nothing_new(world: Any) -> None:
    set_slot_enabled(world.platform, "fake", 0, False)

    first, second = started(world), started(world)

    (view,) = cluster_nodes(world.platform)
    assert set(view.used) == {1}
    assert world.states(first) == [AllocationState.RUNNING]
    assert world.states(second) == [AllocationState.QUEUED]


def test_what_was_decided_about_a_node_outlives_its_absence(world: Any) -> None:
    set_node_enabled(world.platform, "fake", False)
    nodes = world.runner.nodes()
    world.runner.set_nodes([])
    gone = usable(world)

    world.runner.set_nodes(nodes)

    assert gone == {}
    assert not usable(world)["fake"].is_enabled


@pytest.mark.parametrize("enabled", [True, False])
def test_a_node_or_slot_that_is_not_there_is_not_found(world: Any, enabled: bool) -> None:
    with pytest.raises(NotFound, match=r"agent not found: n9\. There are: fake"):
        set_node_enabled(world.platform, "n9", enabled)
    with pytest.raises(NotFound, match=r"agent not found: n9\. There are: fake"):
        set_slot_enabled(world.platform, "n9", 0, enabled)
    with pytest.raises(NotFound, match="slot not found: 7 on agent fake; it has 2 slots from 0"):
        set_slot_enabled(world.platform, "fake", 7, enabled)


def test_whoever_watches_the_queue_is_told(world: Any) -> None:
    told: list[str] = []
    for topic in ("queue", "engine"):
        world.platform.bus.subscribe(topic, lambda topic=topic: told.append(topic))

    set_node_enabled(world.platform, "fake", False, drain=True)

    assert set(told) == {"queue", "engine"}
