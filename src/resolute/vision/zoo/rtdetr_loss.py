"""The loss of RT-DETR: one-to-one matching, then IoU-aware classification, box distance and generalised IoU.

Every decoder layer, the encoder's proposals and the denoising queries count the same; they come summed up by kind.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torchvision.ops import box_convert, box_iou, generalized_box_iou

from resolute.vision.zoo.assignment import assign

_CLASS_COST, _BOX_COST, _GIOU_COST = 2.0, 5.0, 2.0
_MATCH_ALPHA, _MATCH_GAMMA = 0.25, 2.0
Labels = list[dict[str, Tensor]]
Pairs = list[tuple[Tensor, Tensor]]
"""For each image: which queries, and which of its objects they stand for."""


def detection_losses(
    logits: Tensor,
    labels: Labels,
    device: torch.device,
    pred_boxes: Tensor,
    config: Any,
    outputs_class: Tensor,
    outputs_coord: Tensor,
    *,
    enc_topk_logits: Tensor,
    enc_topk_bboxes: Tensor,
    denoising_meta_values: dict[str, Any] | None = None,
    **_: Any,
) -> tuple[Tensor, dict[str, Tensor], None]:
    """In the place of the library's own loss, which needs one more package; the signature is its."""
    count = max(sum(len(each["class_labels"]) for each in labels), 1)
    total = _Sum(config)
    if denoising_meta_values is not None:
        split = denoising_meta_values["dn_num_split"]
        noisy_class, outputs_class = torch.split(outputs_class, split, dim=2)
        noisy_boxes, outputs_coord = torch.split(outputs_coord, split, dim=2)
        pairs = _denoising_pairs(denoising_meta_values, labels)
        for layer in range(noisy_class.shape[1]):
            groups = int(denoising_meta_values["dn_num_group"])
            total.add(noisy_class[:, layer], noisy_boxes[:, layer], labels, pairs, count * groups)
    layers = [(outputs_class[:, layer], outputs_coord[:, layer]) for layer in range(outputs_class.shape[1])]
    for scores, boxes in [*layers, (enc_topk_logits, enc_topk_bboxes)]:
        total.add(scores, boxes, labels, _match(scores, boxes, labels), count)
    return sum(total.losses.values(), start=logits.new_zeros(())), total.losses, None


class _Sum:
    def __init__(self, config: Any) -> None:
        self._config = config
        self.losses: dict[str, Tensor] = {}

    def add(self, logits: Tensor, boxes: Tensor, labels: Labels, pairs: Pairs, count: float) -> None:
        config = self._config
        image = torch.cat([torch.full_like(query, index) for index, (query, _) in enumerate(pairs)])
        query = torch.cat([query for query, _ in pairs])
        wanted = torch.cat([each["boxes"][place] for each, (_, place) in zip(labels, pairs, strict=True)])
        classes = torch.cat([each["class_labels"][place] for each, (_, place) in zip(labels, pairs, strict=True)])
        found = boxes[image, query].float()
        corners, wanted_corners = box_convert(found, "cxcywh", "xyxy"), box_convert(wanted, "cxcywh", "xyxy")
        quality = box_iou(corners.detach(), wanted_corners).diagonal()
        self._keep(
            "loss_classification",
            config.weight_loss_vfl * self._varifocal(logits, image, query, classes, quality) / count,
        )
        self._keep("loss_bbox", config.weight_loss_bbox * F.l1_loss(found, wanted, reduction="sum") / count)
        overlap = generalized_box_iou(corners, wanted_corners).diagonal()
        self._keep("loss_giou", config.weight_loss_giou * (1 - overlap).sum() / count)

    def _varifocal(self, logits: Tensor, image: Tensor, query: Tensor, classes: Tensor, quality: Tensor) -> Tensor:
        """A right class is asked to say how well its box fits; a wrong one to be silent, the more the louder it is."""
        logits = logits.float()
        target = torch.zeros_like(logits)
        target[image, query, classes] = quality
        is_right = torch.zeros_like(logits)
        is_right[image, query, classes] = 1.0
        loud = logits.detach().sigmoid().pow(self._config.focal_loss_gamma)
        weight = self._config.focal_loss_alpha * loud * (1 - is_right) + target
        return F.binary_cross_entropy_with_logits(logits, target, weight=weight, reduction="sum")

    def _keep(self, name: str, value: Tensor) -> None:
        self.losses[name] = self.losses[name] + value if name in self.losses else value


@torch.no_grad()
def _match(logits: Tensor, boxes: Tensor, labels: Labels) -> Pairs:
    return [
        _match_one(scores, found, each)
        for scores, found, each in zip(logits.float(), boxes.float(), labels, strict=True)
    ]


def _match_one(logits: Tensor, boxes: Tensor, label: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
    chance = logits.sigmoid()[:, label["class_labels"]]
    silent = (1 - _MATCH_ALPHA) * chance**_MATCH_GAMMA * -(1 - chance + 1e-8).log()
    heard = _MATCH_ALPHA * (1 - chance) ** _MATCH_GAMMA * -(chance + 1e-8).log()
    overlap = generalized_box_iou(box_convert(boxes, "cxcywh", "xyxy"), box_convert(label["boxes"], "cxcywh", "xyxy"))
    distance = torch.cdist(boxes, label["boxes"], p=1)
    cost = _CLASS_COST * (heard - silent) + _BOX_COST * distance - _GIOU_COST * overlap
    query, place = assign(cost.nan_to_num(1e6, 1e6, 1e6).cpu().numpy())
    return torch.as_tensor(query, device=boxes.device), torch.as_tensor(place, device=boxes.device)


def _denoising_pairs(meta: dict[str, Any], labels: Labels) -> Pairs:
    groups = int(meta["dn_num_group"])
    pairs = []
    for positive, label in zip(meta["dn_positive_idx"], labels, strict=True):
        count = len(label["class_labels"])
        device = label["class_labels"].device
        places = torch.arange(count, device=device).tile(groups)
        pairs.append((positive.to(device) if count else places, places))
    return pairs
