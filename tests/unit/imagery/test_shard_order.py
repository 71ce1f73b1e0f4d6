"""The order of a packed set: complete, repeatable, and close together."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from resolute.imagery.shards.order import grouped, shard_order

SHARDS = st.lists(st.integers(0, 9), min_size=1, max_size=200).map(sorted)


@given(shards=SHARDS, seed=st.integers(0, 2**40), epoch=st.integers(0, 50), block=st.integers(1, 12))
def test_every_sample_comes_once_and_the_same_seed_gives_the_same_order(
    shards: list[int], seed: int, epoch: int, block: int
) -> None:
    order = shard_order(shards, seed=seed, epoch=epoch, block=block)

    assert sorted(order.tolist()) == list(range(len(shards)))
    assert order.tolist() == shard_order(shards, seed=seed, epoch=epoch, block=block).tolist()


@given(shards=SHARDS, block=st.integers(1, 12))
def test_only_a_few_shards_are_read_at_a_time(shards: list[int], block: int) -> None:
    order = shard_order(shards, seed=3, epoch=1, block=block)

    visited = [shards[index] for index in order.tolist()]
    for shard in set(shards):
        first, last = visited.index(shard), len(visited) - 1 - visited[::-1].index(shard)
        assert len(set(visited[first : last + 1])) <= block


def test_epochs_and_seeds_differ() -> None:
    shards = [index // 50 for index in range(400)]

    orders = {tuple(shard_order(shards, seed=s, epoch=e, block=2).tolist()) for s in (1, 2) for e in (0, 1)}

    assert len(orders) == 4


@given(groups=st.lists(st.integers(0, 3), min_size=1, max_size=150), batch=st.integers(1, 12))
def test_batches_have_one_group_and_no_sample_is_lost(groups: list[int], batch: int) -> None:
    order = np.arange(len(groups))[::-1].copy()

    found = grouped(order, groups, batch).tolist()

    assert sorted(found) == sorted(order.tolist())
    whole = sum(groups.count(group) // batch for group in set(groups))
    for number in range(whole):
        assert len({groups[index] for index in found[number * batch : (number + 1) * batch]}) == 1
