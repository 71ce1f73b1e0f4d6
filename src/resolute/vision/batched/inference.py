"""Detection on whole batches of equal images, with outputs of one fixed size and no wait for the device inside.

The steps and thresholds are the model's own. One bound is new: of an image's candidates (region x class above the score
threshold) the best `most_candidates` enter suppression, where torchvision lets all of them.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torchvision.models.detection.roi_heads import RoIHeads

from resolute.vision.batched import trunk
from resolute.vision.batched.boxes import clip, decode, has_sides
from resolute.vision.batched.detection import head_features
from resolute.vision.batched.model import BatchedFasterRCNN
from resolute.vision.batched.nms import kept_best_first
from resolute.vision.batched.proposals import Proposals, predict_densely, propose
from resolute.vision.batched.pyramid import Pyramid, level_of
from resolute.vision.batched.regions import Request, read


@dataclass(frozen=True, slots=True)
class BatchedDetections:
    """[batch, detections_per_img] each, best first; boxes in pixels of the images as given."""

    boxes: Tensor
    scores: Tensor
    labels: Tensor
    valid: Tensor

    def listed(self) -> list[dict[str, Tensor]]:
        """As torchvision returns them; this waits for the device."""
        rows = zip(self.boxes, self.scores, self.labels, self.valid, strict=True)
        return [{"boxes": b[v], "scores": s[v], "labels": label[v]} for b, s, label, v in rows]


@torch.no_grad()
def batched_detect(model: BatchedFasterRCNN, images: Tensor, *, most_candidates: int = 2048) -> BatchedDetections:
    """`model` must be in evaluation mode; images are [b, 3, h, w], bytes or floats in 0..1. Under autocast the heavy
    parts run in its type."""
    before = (images.shape[-2], images.shape[-1])
    size = trunk.resized(model.transform, before)
    pyramid = model.pyramid_of(images, size)
    maps = list(model.features(images, size).values())
    objectness, deltas = predict_densely(model.rpn.head, maps)
    with torch.autocast(images.device.type, enabled=False):
        proposals = propose(model.rpn, objectness, deltas, pyramid)
    logits, regression = _predict(model.roi_heads, maps, proposals, pyramid)
    with torch.autocast(images.device.type, enabled=False):
        found = _detections(model.roi_heads, logits, regression, proposals, size, most_candidates)
    scale = [before[1] / size[1], before[0] / size[0]] * 2
    boxes = torch.stack([side * factor for side, factor in zip(found.boxes.unbind(-1), scale, strict=True)], dim=-1)
    return BatchedDetections(boxes, found.scores, found.labels, found.valid)


def _predict(heads: RoIHeads, maps: list[Tensor], proposals: Proposals, pyramid: Pyramid) -> tuple[Tensor, Tensor]:
    """Logits [b, n, classes] and deltas [b, n, classes, 4]."""
    pooler: nn.Module = heads.box_roi_pool
    batch, count = proposals.valid.shape
    boxes = torch.where(proposals.valid[..., None], proposals.boxes, torch.ones_like(proposals.boxes).cumsum(-1))
    nowhere = torch.zeros(batch, 0, dtype=torch.int64, device=boxes.device)
    level = level_of(boxes, pyramid, pooler)
    request = Request(boxes, level, nowhere, pooler.output_size[0], pooler.sampling_ratio)  # type: ignore[arg-type,index]
    pooled, _ = read(maps, request, pyramid)
    logits, deltas = heads.box_predictor(head_features(heads.box_head, pooled))
    return logits.view(batch, count, -1).float(), deltas.view(batch, count, -1, 4).float()


def _detections(
    heads: RoIHeads,
    logits: Tensor,
    deltas: Tensor,
    proposals: Proposals,
    size: tuple[int, int],
    most_candidates: int,
) -> BatchedDetections:
    scores = F.softmax(logits, dim=-1)[..., 1:]
    usable = (scores > heads.score_thresh) & proposals.valid[..., None]
    ranked = torch.where(usable, scores, -1.0).flatten(1)
    best, index = ranked.topk(min(most_candidates, ranked.shape[1]), dim=1)
    classes = scores.shape[-1]
    region, label = index // classes, index % classes + 1
    rows = torch.arange(len(index), device=index.device)[:, None]
    coder = heads.box_coder
    boxes = decode(deltas[rows, region, label], proposals.boxes[rows, region], coder.weights, coder.bbox_xform_clip)
    boxes = clip(boxes, size)
    kept = kept_best_first(boxes, (best > 0) & has_sides(boxes, 1e-2), heads.nms_thresh, group=label)
    final, chosen = torch.where(kept, best, -1.0).topk(min(heads.detections_per_img, best.shape[1]), dim=1)
    return BatchedDetections(boxes[rows, chosen], final, label.gather(1, chosen), final > 0)
