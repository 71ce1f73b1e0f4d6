"""Which target each anchor or proposal belongs to, for all images at once, as torchvision's Matcher decides it."""

from dataclasses import dataclass

import torch
from torch import Tensor

from resolute.vision.batched import backend
from resolute.vision.batched.boxes import iou

MATCHED, BACKGROUND, UNDECIDED = 1, 0, -1


@dataclass(frozen=True, slots=True)
class Thresholds:
    matched: float
    """IoU from which a box is matched."""
    background: float
    """IoU below which it is background; in between it is left out of training."""
    claims: bool
    """A target also gets the boxes it overlaps best (ties included), however little that is."""


@dataclass(frozen=True, slots=True)
class Matches:
    target: Tensor
    """[batch, n], int64: index of the target with the largest IoU; 0 where there is none."""
    verdict: Tensor
    """[batch, n], int64: MATCHED, BACKGROUND or UNDECIDED."""


def match(boxes: Tensor, targets: Tensor, valid: Tensor, thresholds: Thresholds) -> Matches:
    """`boxes` are [n, 4], shared by all images, or [batch, n, 4]; targets [batch, t, 4] count where `valid`."""
    if backend.has_kernels(boxes):
        best, target, claimed = backend.kernels().match(boxes, targets, valid, claims=thresholds.claims)
    else:
        best, target, claimed = _match_plain(boxes, targets, valid, claims=thresholds.claims)
    verdict = torch.where(best >= thresholds.matched, MATCHED, UNDECIDED)
    verdict = torch.where(best < thresholds.background, BACKGROUND, verdict)
    if claimed is not None:
        verdict = torch.where(claimed, MATCHED, verdict)
    return Matches(target, verdict)


def _match_plain(
    boxes: Tensor, targets: Tensor, valid: Tensor, *, claims: bool
) -> tuple[Tensor, Tensor, Tensor | None]:
    overlap = iou(targets, boxes.expand(len(targets), *boxes.shape[-2:]))
    overlap = torch.where(valid[..., None], overlap, -1.0)
    best, target = overlap.max(dim=1)
    if not claims:
        return best, target, None
    highest = overlap.max(dim=2, keepdim=True).values
    return best, target, ((overlap == highest) & valid[..., None]).any(dim=1)
