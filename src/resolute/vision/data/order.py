"""In which order an epoch shows its samples: shuffled, rare classes more often, batches of like shapes. Pure.

The order is a function of the seed and the epoch alone, so any rank, worker or resumed run finds the same one.
"""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from resolute.imagery.shards.order import grouped, shard_order
from resolute.vision.data.labels import Sample

Ints = NDArray[np.int64]
SHARDS_AT_ONCE = 4
"""Of a packed set: their samples are mixed, and they lie in the cache together."""
_GROUP_RANGE = 1.0
"""Shapes beyond 1:2 and 2:1 share the outermost groups."""


def generator(seed: int, *numbers: int) -> np.random.Generator:
    """Independent draws for every (seed, epoch, index)."""
    return np.random.default_rng([seed % 2**63, *numbers])


def repeated(samples: Sequence[Sample], threshold: float, seed: int) -> Ints:
    """Indices with images of rare classes more than once: a class in a share f of images is shown sqrt(threshold/f)
    times as often, when that is more than once. Fractions are drawn once."""
    share = Counter(label for sample in samples for label in set(sample.labels.tolist()))
    factor = {label: max(1.0, math.sqrt(threshold * len(samples) / count)) for label, count in share.items()}
    wanted = np.array([max((factor[label] for label in set(s.labels.tolist())), default=1.0) for s in samples])
    count = np.floor(wanted + generator(seed, 0).random(len(samples))).astype(np.int64)
    return np.repeat(np.arange(len(samples)), np.maximum(count, 1))


def aspect_groups(samples: Sequence[Sample], indices: Ints, factor: int) -> Ints:
    """Which shape group each index is in; `factor` groups on either side of the square. 0: all in one."""
    if factor <= 0:
        return np.zeros(len(indices), np.int64)
    edges = 2.0 ** np.linspace(-_GROUP_RANGE, _GROUP_RANGE, 2 * factor + 1)
    shapes = np.array([samples[index].width / samples[index].height for index in indices])
    found: Ints = np.searchsorted(edges, shapes, side="right").astype(np.int64)
    return found


def epoch_order(
    indices: Ints, groups: Ints, *, batch_size: int, seed: int, epoch: int, shards: Ints | None = None
) -> Ints:
    """Every index once. Whole batches are of one group; what is left of the groups comes last, mixed.

    `shards`, of each index: the order goes through a few shards at a time.
    """
    if shards is not None:
        near = shard_order(shards.tolist(), seed=seed, epoch=epoch, block=SHARDS_AT_ONCE)
        return indices[grouped(near, groups.tolist(), batch_size)]
    draw = generator(seed, 1, epoch)
    shuffled = draw.permutation(len(indices))
    batches: list[Ints] = []
    rest: list[Ints] = []
    for group in np.unique(groups):
        members = shuffled[groups[shuffled] == group]
        cut = len(members) - len(members) % batch_size
        batches.extend(np.split(members[:cut], cut // batch_size) if cut else [])
        rest.append(members[cut:])
    mixed = [batches[place] for place in draw.permutation(len(batches))]
    order: Ints = indices[np.concatenate([*mixed, *rest])]
    return order
