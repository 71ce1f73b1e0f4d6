"""Balanced sampling of positives and negatives for all images at once, with outputs of one fixed size.

Same choice as torchvision's BalancedPositiveNegativeSampler (at most `positive_fraction` positives, the rest filled
with negatives, each drawn uniformly without replacement), but by random keys and top-k: no host ever waits.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

Priority = Callable[[Tensor], Tensor]
"""Gives every candidate (a tensor of their shape) a float key; among equals of a kind the largest keys are taken."""


def at_random(candidates: Tensor) -> Tensor:
    return torch.rand(candidates.shape, device=candidates.device)


def first_come(candidates: Tensor) -> Tensor:
    """Lowest index first: for runs that must be repeatable to the last digit."""
    count = candidates.shape[-1]
    return torch.arange(count, 0, -1, device=candidates.device, dtype=torch.float32).expand(candidates.shape)


@dataclass(frozen=True, slots=True)
class Sample:
    """[batch, size] each: positives first, then negatives, then padding."""

    index: Tensor
    positive: Tensor
    taken: Tensor
    """False where there were too few candidates; such a slot points at some candidate and must get no weight."""


def balanced_sample(
    positive: Tensor, negative: Tensor, *, size: int, positive_fraction: float, priority: Priority
) -> Sample:
    """`positive` and `negative` are disjoint masks [batch, candidates]."""
    keys = priority(positive)
    most_positive = int(size * positive_fraction)
    positive_index, positive_count = _chosen(positive, keys, most_positive)
    negative_index, negative_count = _chosen(negative, keys, size)
    slot = torch.arange(size, device=positive.device).expand(len(positive), size)
    is_positive = slot < positive_count
    index = torch.where(
        is_positive,
        positive_index.gather(1, slot.clamp(max=positive_index.shape[1] - 1)),
        negative_index.gather(1, (slot - positive_count).clamp(0, negative_index.shape[1] - 1)),
    )
    return Sample(index, is_positive, is_positive | (slot - positive_count < negative_count))


def _chosen(mask: Tensor, keys: Tensor, most: int) -> tuple[Tensor, Tensor]:
    """Indices [batch, <= most], chosen ones first, and how many were chosen [batch, 1]."""
    index = torch.where(mask, keys, -1.0).topk(max(1, min(most, mask.shape[1])), dim=1).indices
    return index, mask.sum(dim=1, keepdim=True).clamp(max=most)
