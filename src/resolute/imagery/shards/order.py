"""The order in which a packed set is read: random, the same for everybody, and kind to the cache. Pure.

Shards are shuffled, taken a few at a time, and the samples of those few are shuffled together. So at any moment all
ranks and workers read from the same few shards. It depends on the seed and the epoch alone: not on ranks or workers.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Order = NDArray[np.int64]


def shard_order(shards: Sequence[int], *, seed: int, epoch: int, block: int) -> Order:
    """`shards[i]` is the shard of sample i. Samples of `block` shards are mixed."""
    owners = np.asarray(shards, dtype=np.int64)
    rng = np.random.default_rng([seed % 2**63, epoch])
    shuffled = rng.permutation(np.unique(owners))
    place = np.empty(int(owners.max(initial=-1)) + 1, dtype=np.int64)
    place[shuffled] = np.arange(len(shuffled))
    keys = rng.random(len(owners))
    return np.lexsort((keys, place[owners] // max(1, block)))


def grouped(order: Order, groups: Sequence[int], batch: int) -> Order:
    """The same samples so that each batch has samples of one group, moved as little as possible.

    What is left of the groups at the end makes the last batches, which may mix them: none is dropped or repeated.
    """
    waiting: dict[int, list[int]] = {}
    done: list[int] = []
    for index in order.tolist():
        held = waiting.setdefault(groups[index], [])
        held.append(index)
        if len(held) == batch:
            done += held
            held.clear()
    for group in sorted(waiting):
        done += waiting[group]
    return np.asarray(done, dtype=np.int64)
