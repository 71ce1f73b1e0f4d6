"""The region proposal network on whole batches: dense predictions, the best boxes of all images, the losses.

The dense forward pass carries no gradient. Proposals are detached in Faster R-CNN anyway, and the losses look at 256
anchors an image: those are predicted once more from their 3 x 3 neighbourhoods, with gradient. The backward pass of
the head then costs hundreds of cells in place of fifty thousand, and its result is the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torchvision.models.detection.rpn import RegionProposalNetwork, RPNHead

from resolute.vision.batched.boxes import clip, decode, encode, has_sides
from resolute.vision.batched.fused import convolve_and_rectify
from resolute.vision.batched.matching import BACKGROUND, MATCHED, Thresholds, match
from resolute.vision.batched.nms import kept_best_first
from resolute.vision.batched.pyramid import Pyramid
from resolute.vision.batched.sampling import Priority, Sample, balanced_sample
from resolute.vision.batched.targets import PaddedTargets


@dataclass(frozen=True, slots=True)
class Proposals:
    boxes: Tensor
    """[batch, n, 4], best first"""
    valid: Tensor
    """[batch, n]"""


@dataclass(frozen=True, slots=True)
class AnchorSample:
    sample: Sample
    regression: Tensor
    """[batch, size, 4]: where each sampled anchor should go (meaningless where not positive)."""


def has_sparse_gradient(head: nn.Module) -> bool:
    """One 3 x 3 convolution before the two predictors: what a neighbourhood of nine cells can repeat."""
    return isinstance(head, RPNHead) and len(head.conv) == 1 and head.conv[0][0].kernel_size == (3, 3)


def predict_densely(head: RPNHead, features: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """Objectness [b, anchors] and deltas [b, anchors, 4] of each level."""
    if not has_sparse_gradient(head):
        objectness, deltas = head(list(features))
        return [_per_anchor(o, 1).squeeze(-1) for o in objectness], [_per_anchor(d, 4) for d in deltas]
    logits, regression = head.cls_logits, head.bbox_pred
    # Both predictors in one convolution: the large map between is read once.
    # Outputs are filled up to a multiple of eight, as tensor cores want them.
    missing = -(logits.out_channels + regression.out_channels) % 8
    weight = F.pad(torch.cat((logits.weight, regression.weight)), (0, 0, 0, 0, 0, 0, 0, missing))
    bias = F.pad(torch.cat((logits.bias, regression.bias)), (0, missing))
    count = logits.out_channels
    both = [F.conv2d(_hidden(head, f), weight.to(f.dtype), bias.to(f.dtype)) for f in features]
    return (
        [_per_anchor(b[:, :count], 1).squeeze(-1) for b in both],
        [_per_anchor(b[:, count : 5 * count], 4) for b in both],
    )


def _hidden(head: RPNHead, feature: Tensor) -> Tensor:
    convolution = head.conv[0][0]
    return convolve_and_rectify(feature, convolution.weight, convolution.bias, None, (1, 1), convolution.padding)


def predict_sparsely(head: RPNHead, patches: Tensor, anchor: Tensor) -> tuple[Tensor, Tensor]:
    """Objectness [n] and deltas [n, 4] of anchor number `anchor` [n] of the cells whose `patches` [n, 9, c] are."""
    convolution = head.conv[0][0]
    weight = convolution.weight.permute(0, 2, 3, 1).flatten(1)
    hidden = F.relu(F.linear(patches.flatten(1), weight, convolution.bias))
    objectness = F.linear(hidden, head.cls_logits.weight.flatten(1), head.cls_logits.bias)
    deltas = F.linear(hidden, head.bbox_pred.weight.flatten(1), head.bbox_pred.bias).view(len(hidden), -1, 4)
    chosen = anchor[:, None]
    return objectness.gather(1, chosen).squeeze(1), deltas.gather(1, chosen[..., None].expand(-1, 1, 4)).squeeze(1)


@torch.no_grad()
def propose(
    rpn: RegionProposalNetwork, objectness: Sequence[Tensor], deltas: Sequence[Tensor], pyramid: Pyramid
) -> Proposals:
    """The best of each level, then the best of all that survive suppression within their level."""
    most = rpn.pre_nms_top_n()
    width = min(most, max(o.shape[1] for o in objectness))
    boxes, scores = [], []
    levels = zip(objectness, deltas, torch.split(pyramid.anchors, [o.shape[1] for o in objectness]), strict=True)
    for level_objectness, level_deltas, anchors in levels:
        best, index = level_objectness.float().topk(min(most, level_objectness.shape[1]), dim=1)
        chosen = level_deltas.gather(1, index[..., None].expand(-1, -1, 4)).float()
        found = decode(chosen, anchors[index], rpn.box_coder.weights, rpn.box_coder.bbox_xform_clip)
        boxes.append(F.pad(found, (0, 0, 0, width - index.shape[1])))
        scores.append(F.pad(best, (0, width - index.shape[1]), value=-torch.inf))
    return _best_of_all(rpn, clip(torch.stack(boxes, 1), pyramid.image_size), torch.stack(scores, 1))


def _best_of_all(rpn: RegionProposalNetwork, boxes: Tensor, scores: Tensor) -> Proposals:
    """From [b, levels, n, 4] and [b, levels, n], best first in each level."""
    real = has_sides(boxes, rpn.min_size) & (scores.sigmoid() >= rpn.score_thresh) & (scores > -torch.inf)
    kept = kept_best_first(boxes.flatten(0, 1), real.flatten(0, 1), rpn.nms_thresh).view_as(real)
    ranked = torch.where(kept, scores, -torch.inf).flatten(1)
    best, index = ranked.topk(min(rpn.post_nms_top_n(), ranked.shape[1]), dim=1)
    return Proposals(boxes.flatten(1, 2).gather(1, index[..., None].expand(-1, -1, 4)), best > -torch.inf)


@torch.no_grad()
def sample_anchors(
    rpn: RegionProposalNetwork, pyramid: Pyramid, targets: PaddedTargets, priority: Priority
) -> AnchorSample:
    """Which anchors the losses look at; targets in pixels of the resized image."""
    matcher, sampler = rpn.proposal_matcher, rpn.fg_bg_sampler
    thresholds = Thresholds(matcher.high_threshold, matcher.low_threshold, matcher.allow_low_quality_matches)
    matches = match(pyramid.anchors, targets.boxes, targets.valid, thresholds)
    sample = balanced_sample(
        matches.verdict == MATCHED,
        matches.verdict == BACKGROUND,
        size=sampler.batch_size_per_image,
        positive_fraction=sampler.positive_fraction,
        priority=priority,
    )
    matched = matches.target.gather(1, sample.index)
    boxes = targets.boxes.gather(1, matched[..., None].expand(-1, -1, 4))
    anchors = pyramid.anchors[sample.index]
    # Slots without a target get their anchor: finite numbers, whose weight is zero.
    boxes = torch.where(sample.positive[..., None], boxes, anchors)
    return AnchorSample(sample, encode(boxes, anchors, rpn.box_coder.weights))


def proposal_losses(objectness: Tensor, deltas: Tensor, chosen: AnchorSample) -> dict[str, Tensor]:
    """From predictions [b * size] and [b * size, 4] for the sampled anchors, in their order."""
    positive, taken = chosen.sample.positive.flatten(), chosen.sample.taken.flatten()
    count = taken.sum().clamp(min=1)
    weights = taken.float()
    logits = F.binary_cross_entropy_with_logits(objectness.float(), positive.float(), weights, reduction="sum")
    distance = F.smooth_l1_loss(deltas.float(), chosen.regression.flatten(0, 1), beta=1 / 9, reduction="none")
    return {
        "loss_objectness": logits / count,
        "loss_rpn_box_reg": (distance.sum(dim=1) * positive).sum() / count,
    }


def _per_anchor(predicted: Tensor, width: int) -> Tensor:
    """[b, anchors_per_cell * width, h, w] to [b, h * w * anchors_per_cell, width]."""
    batch = predicted.shape[0]
    return predicted.permute(0, 2, 3, 1).reshape(batch, -1, width)
