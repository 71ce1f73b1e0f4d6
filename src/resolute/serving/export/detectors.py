"""Detectors in the shape that leaves the platform: one picture of bytes in, boxes, scores and labels out.

TorchScript and archives are made from the model's own code; ONNX and torch.export by watching it run.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torchvision.models.detection.generalized_rcnn import GeneralizedRCNN
from torchvision.models.detection.ssd import SSD
from torchvision.ops import boxes as box_operators

OUTPUTS = ("boxes", "scores", "labels")


class TracedDetector(nn.Module):
    """UINT8 [height, width, 3] to boxes, scores and labels, for exporters that watch a run."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        found = self.model([image.permute(2, 0, 1).to(torch.float32) / 255])[0]
        return found["boxes"], found["scores"], found["labels"]


class ScriptedDetector(nn.Module):
    """The same for TorchScript, in which detection models answer (losses, detections)."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        found = self.model([image.permute(2, 0, 1).to(torch.float32) / 255])[1][0]
        return found["boxes"], found["scores"], found["labels"]


class ArchivedDetector(nn.Module):
    """FP32 [n, 3, height, width] from 0 to 1 to a list of dicts: what the handler `object_detector` calls."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, images: Tensor) -> list[dict[str, Tensor]]:
        found: list[dict[str, Tensor]] = self.model(torch.unbind(images))[1]
        return found


def is_two_stage(model: nn.Module) -> bool:
    return isinstance(model, GeneralizedRCNN)


def takes_any_size(model: nn.Module) -> bool:
    """As a torch.export program: SSD resizes every picture to one size, the others' grids grow with the picture."""
    return isinstance(model, SSD)


@contextmanager
def traceable_suppression() -> Iterator[None]:
    """torchvision picks one of two ways to suppress boxes by how many there are, which no trace can follow.

    Within, it takes the way that has no such question: boxes of each class are moved apart, then suppressed together.
    """
    before = box_operators.batched_nms
    box_operators.batched_nms = _suppress
    try:
        yield
    finally:
        box_operators.batched_nms = before


def _suppress(boxes: Tensor, scores: Tensor, idxs: Tensor, iou_threshold: float) -> Tensor:
    # The zero keeps the maximum defined where there are no boxes at all.
    farthest = torch.cat([boxes.reshape(-1), boxes.new_zeros(1)]).max()
    apart = idxs.to(boxes) * (farthest + 1)
    kept: Tensor = torch.ops.torchvision.nms(boxes + apart[:, None], scores, iou_threshold)
    return kept
