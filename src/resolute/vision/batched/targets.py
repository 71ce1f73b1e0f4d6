"""Ground truth of a batch in tensors of one fixed size: padded rows carry `valid` False. No model knowledge here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from resolute.domain.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class PaddedTargets:
    """Boxes are x1, y1, x2, y2 in pixels of the images as given (before resizing)."""

    boxes: Tensor
    """[batch, max_targets, 4], float32"""
    labels: Tensor
    """[batch, max_targets], int64; 0 is background and never a target."""
    valid: Tensor
    """[batch, max_targets], bool"""

    def to(self, device: torch.device | str) -> "PaddedTargets":
        return PaddedTargets(
            self.boxes.to(device, non_blocking=True),
            self.labels.to(device, non_blocking=True),
            self.valid.to(device, non_blocking=True),
        )

    def copy_(self, other: "PaddedTargets") -> None:
        """Overwrite in place: what a captured graph reads must stay where it is."""
        self.boxes.copy_(other.boxes, non_blocking=True)
        self.labels.copy_(other.labels, non_blocking=True)
        self.valid.copy_(other.valid, non_blocking=True)


def pad_targets(targets: Sequence[Mapping[str, Tensor]], max_targets: int) -> PaddedTargets:
    """From torchvision's list of {"boxes": [n, 4], "labels": [n]}. Refuses more than `max_targets` in an image and,
    where it costs no wait for a device, boxes without area."""
    if not targets:
        raise InvalidInput("The batch has no images: targets is an empty list. Give one dict per image.")
    device = targets[0]["boxes"].device
    boxes = torch.zeros(len(targets), max_targets, 4, device=device)
    labels = torch.zeros(len(targets), max_targets, dtype=torch.int64, device=device)
    valid = torch.zeros(len(targets), max_targets, dtype=torch.bool, device=device)
    for row, target in enumerate(targets):
        count = _checked(row, target, max_targets)
        boxes[row, :count] = target["boxes"]
        labels[row, :count] = target["labels"]
        valid[row, :count] = True
    return PaddedTargets(boxes, labels, valid)


def _checked(row: int, target: Mapping[str, Tensor], max_targets: int) -> int:
    boxes, labels = target["boxes"], target["labels"]
    if boxes.ndim != 2 or boxes.shape[-1] != 4 or len(boxes) != len(labels):
        raise InvalidInput(
            f"targets[{row}]: boxes of shape {tuple(boxes.shape)} with {len(labels)} labels; "
            "give boxes as [n, 4] and one label for each."
        )
    if len(boxes) > max_targets:
        raise InvalidInput(
            f"targets[{row}]: {len(boxes)} boxes, but at most {max_targets} fit. "
            f"Build the model with max_targets={len(boxes)} or more."
        )
    if boxes.device.type == "cpu" and bool((boxes[:, 2:] <= boxes[:, :2]).any()):
        bad = boxes[(boxes[:, 2:] <= boxes[:, :2]).any(dim=1)][0].tolist()
        raise InvalidInput(f"targets[{row}]: box {bad} has no area; x2 > x1 and y2 > y1 are needed. Drop or mend it.")
    return len(boxes)
