"""Pools are those that the runner declares, whether or not they have a node at the moment."""

from typing import Any

import pytest

from resolute.domain.errors import InvalidConfig, InvalidInput
from resolute.domain.node import DeviceType, Node, Pool, Slot
from resolute.domain.task import TaskType
from resolute.engine.jobs.cluster import resource_pools
from resolute.engine.jobs.tasks import TaskRequest, submit_task

CONFIG = """
name: test
entrypoint: python3 train.py
searcher: {name: single, metric: loss}
resources: {resource_pool: %s, slots_per_trial: %d}
"""


@pytest.fixture(autouse=True)
def two_pools(world: Any) -> None:
    world.runner.set_nodes([Node("here", (Slot(0), Slot(1)))])
    world.runner.set_pools([Pool("default"), Pool("cloud", DeviceType.CUDA, can_grow=True)])


def test_an_experiment_in_an_unknown_pool_is_refused_before_anything_is_stored(world: Any) -> None:
    with pytest.raises(InvalidConfig, match="no resource pool 'clouds'; did you mean cloud"):
        world.create(CONFIG % ("clouds", 1))

    with world.platform.store.read() as tx:
        assert tx.jobs.in_queue() == []


def test_a_pool_without_a_node_takes_work_when_it_can_grow(world: Any) -> None:
    experiment = world.create(CONFIG % ("cloud", 64))

    assert experiment.warnings == ()


def test_a_trial_larger_than_a_fixed_pool_is_warned_of(world: Any) -> None:
    experiment = world.create(CONFIG % ("default", 3))

    assert "pool default has at most 2 slots" in experiment.warnings[0]


def test_a_task_in_an_unknown_pool_is_refused(world: Any) -> None:
    request = TaskRequest(type=TaskType.COMMAND, name="c", workspace_id=1, resource_pool="clod")

    with pytest.raises(InvalidInput, match="did you mean cloud"):
        submit_task(world.platform, request, user=world.user)


def test_who_names_no_pool_gets_the_first_that_the_runner_declares(world: Any) -> None:
    world.runner.set_nodes([])
    world.runner.set_pools([Pool("cloud", can_grow=True)])

    experiment = world.create()

    assert experiment.config["resources"]["resource_pool"] == "cloud"


def test_the_cluster_shows_every_declared_pool_and_what_it_holds(world: Any) -> None:
    default, cloud = resource_pools(world.platform)

    assert (default.pool.name, default.slots, default.used, default.is_default) == ("default", 2, 0, True)
    assert (cloud.pool.name, cloud.slots, cloud.pool.device, cloud.is_default) == ("cloud", 0, DeviceType.CUDA, False)
