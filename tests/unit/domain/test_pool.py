"""Which resource pool was meant, and how much it can ever give."""

import pytest

from resolute.domain.node import Node, Pool, Slot
from resolute.domain.pool import most_slots, pool_named, unknown_pool

NODES = [Node("a", (Slot(0), Slot(1))), Node("b", (Slot(0),)), Node("c", (Slot(0),), resource_pool="other")]


def test_a_pool_is_found_by_its_name_alone() -> None:
    pools = [Pool("default"), Pool("gpu")]

    assert pool_named("gpu", pools) is pools[1]
    assert pool_named("GPU", pools) is None


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("gpus", "there is no resource pool 'gpus'; did you mean gpu? There are: default, gpu."),
        ("GPU", "there is no resource pool 'GPU'; did you mean gpu? There are: default, gpu."),
        ("zzz", "there is no resource pool 'zzz'. There are: default, gpu."),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest_one(name: str, sentence: str) -> None:
    assert unknown_pool(name, ["default", "gpu"]) == sentence


def test_a_fixed_pool_has_the_slots_of_its_nodes_and_a_growing_one_no_limit() -> None:
    assert most_slots(Pool("default"), NODES) == 3
    assert most_slots(Pool("empty"), NODES) == 0
    assert most_slots(Pool("default", can_grow=True), NODES) is None
    assert most_slots(Pool("default", is_delegating=True), NODES) is None
