"""Greedy non-maximum suppression of many problems at once, with a mask of fixed size as the answer and no host wait."""

import torch
from torch import Tensor

from resolute.vision.batched import backend
from resolute.vision.batched.boxes import iou


def kept_best_first(boxes: Tensor, valid: Tensor, threshold: float, group: Tensor | None = None) -> Tensor:
    """Which of [problems, n, 4] survive, [problems, n]. Rows must come best first; rows not `valid` are neither kept
    nor suppress. With `group` [problems, n], only boxes of one group suppress one another."""
    if backend.has_kernels(boxes):
        kept: Tensor = backend.kernels().suppress(boxes, valid, threshold, group)
        return kept
    return torch.stack(
        [
            _kept_plain(problem, mask, threshold, None if group is None else group[row])
            for row, (problem, mask) in enumerate(zip(boxes, valid, strict=True))
        ]
    )


def _kept_plain(boxes: Tensor, valid: Tensor, threshold: float, group: Tensor | None) -> Tensor:
    rivals = (iou(boxes, boxes) > threshold).triu(diagonal=1) & valid[:, None]
    if group is not None:
        rivals &= group[:, None] == group[None, :]
    kept = valid
    while True:
        # "Kept unless a kept one before me overlaps": repeated until it stands, this is the greedy answer.
        following = valid & ~(rivals & kept[:, None]).any(dim=0)
        if torch.equal(following, kept):
            return kept
        kept = following
