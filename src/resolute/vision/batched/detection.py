"""The second stage on whole batches: which regions are trained on, and the losses of the box head."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torchvision.models.detection.faster_rcnn import TwoMLPHead
from torchvision.models.detection.roi_heads import RoIHeads

from resolute.vision.batched.boxes import encode
from resolute.vision.batched.matching import BACKGROUND, MATCHED, Thresholds, match
from resolute.vision.batched.proposals import Proposals
from resolute.vision.batched.sampling import Priority, balanced_sample
from resolute.vision.batched.targets import PaddedTargets


@dataclass(frozen=True, slots=True)
class RegionSample:
    """[batch, size] each; slots that are not `taken` carry no weight."""

    boxes: Tensor
    """[batch, size, 4]"""
    labels: Tensor
    regression: Tensor
    """[batch, size, 4]"""
    taken: Tensor


@torch.no_grad()
def sample_regions(heads: RoIHeads, proposals: Proposals, targets: PaddedTargets, priority: Priority) -> RegionSample:
    """Proposals and the targets themselves, labelled and sampled; targets in pixels of the resized image."""
    boxes = torch.cat((proposals.boxes, targets.boxes), dim=1)
    real = torch.cat((proposals.valid, targets.valid), dim=1)
    matcher, sampler = heads.proposal_matcher, heads.fg_bg_sampler
    thresholds = Thresholds(matcher.high_threshold, matcher.low_threshold, matcher.allow_low_quality_matches)
    matches = match(boxes, targets.boxes, targets.valid, thresholds)
    sample = balanced_sample(
        real & (matches.verdict == MATCHED),
        real & (matches.verdict == BACKGROUND),
        size=sampler.batch_size_per_image,
        positive_fraction=sampler.positive_fraction,
        priority=priority,
    )
    matched = matches.target.gather(1, sample.index)
    chosen = torch.where(sample.taken[..., None], boxes.gather(1, _rows(sample.index)), _unit_box(boxes))
    goal = torch.where(sample.positive[..., None], targets.boxes.gather(1, _rows(matched)), chosen)
    return RegionSample(
        boxes=chosen,
        labels=torch.where(sample.positive, targets.labels.gather(1, matched), 0),
        regression=encode(goal, chosen, heads.box_coder.weights),
        taken=sample.taken,
    )


def head_features(head: nn.Module, pooled: Tensor) -> Tensor:
    """The box head on pooled regions [n, bins, c] (channels last)."""
    _, bins, channels = pooled.shape
    if isinstance(head, TwoMLPHead):
        # The weight is reordered rather than the far larger regions.
        weight = head.fc6.weight.view(-1, channels, bins).transpose(1, 2).flatten(1)
        return F.relu(head.fc7(F.relu(F.linear(pooled.flatten(1), weight, head.fc6.bias))))
    side = int(bins**0.5)
    features: Tensor = head(pooled.view(-1, side, side, channels).permute(0, 3, 1, 2))
    return features


def detection_losses(logits: Tensor, deltas: Tensor, regions: RegionSample) -> dict[str, Tensor]:
    """From the predictor's [n, classes] and [n, classes * 4] for the sampled regions, in their order."""
    labels, taken = regions.labels.flatten(), regions.taken.flatten()
    count = taken.sum().clamp(min=1)
    wrong = F.cross_entropy(logits.float(), labels, reduction="none")
    own = labels[:, None, None].expand(-1, 1, 4)
    chosen = deltas.view(len(deltas), -1, 4).gather(1, own).squeeze(1).float()
    distance = F.smooth_l1_loss(chosen, regions.regression.flatten(0, 1), beta=1 / 9, reduction="none").sum(dim=1)
    return {
        "loss_classifier": (wrong * taken).sum() / count,
        "loss_box_reg": (distance * (labels > 0)).sum() / count,
    }


def _rows(index: Tensor) -> Tensor:
    return index[..., None].expand(-1, -1, 4)


def _unit_box(boxes: Tensor) -> Tensor:
    """Made on the device: copying four numbers from the host would wait for it."""
    return (torch.arange(4, device=boxes.device) >= 2).to(boxes.dtype)
