"""Flips, quarter turns, crops and zooms. Each is called with a picture, its target and a generator of its own."""

from dataclasses import dataclass

import numpy as np
import torch
from torchvision.ops import box_iou
from torchvision.transforms.v2 import functional as F

from resolute.vision.transforms import target as targets
from resolute.vision.transforms.target import Target

Pair = tuple[torch.Tensor, Target]
_CROP_OVERLAPS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
_KEEP_ALL = 1.0
_FILL = (123, 117, 104)
"""The mean colour of common photographs."""


@dataclass(frozen=True, slots=True)
class HorizontalFlip:
    chance: float = 0.5

    def __call__(self, image: torch.Tensor, target: Target, draw: np.random.Generator) -> Pair:
        if draw.random() >= self.chance:
            return image, target
        return image.flip(-1), targets.flipped(target, image.shape[-1])


@dataclass(frozen=True, slots=True)
class VerticalFlip:
    chance: float = 0.5

    def __call__(self, image: torch.Tensor, target: Target, draw: np.random.Generator) -> Pair:
        if draw.random() >= self.chance:
            return image, target
        return image.flip(-2), targets.turned_over(target, image.shape[-2])


@dataclass(frozen=True, slots=True)
class QuarterTurns:
    """None, one, two or three: seen from above, no direction is special."""

    def __call__(self, image: torch.Tensor, target: Target, draw: np.random.Generator) -> Pair:
        for _ in range(int(draw.integers(4))):
            target = targets.quarter_turned(target, image.shape[-1])
            image = image.rot90(1, (-2, -1))
        return image, target


@dataclass(frozen=True, slots=True)
class ZoomOut:
    """The picture somewhere on a larger canvas, so that its objects become small."""

    chance: float = 0.5
    largest: float = 4.0

    def __call__(self, image: torch.Tensor, target: Target, draw: np.random.Generator) -> Pair:
        if draw.random() >= self.chance:
            return image, target
        height, width = image.shape[-2:]
        ratio = draw.uniform(1.0, self.largest)
        canvas_width, canvas_height = int(width * ratio), int(height * ratio)
        left = int(draw.uniform(0, canvas_width - width + 1))
        top = int(draw.uniform(0, canvas_height - height + 1))
        canvas = image.new_tensor(_FILL).view(3, 1, 1).repeat(1, canvas_height, canvas_width)
        canvas[:, top : top + height, left : left + width] = image
        placed = targets.shifted(target, left, top)
        if "masks" in target:
            masks = target["masks"].new_zeros((len(target["masks"]), canvas_height, canvas_width))
            masks[:, top : top + height, left : left + width] = target["masks"]
            placed["masks"] = masks
        return canvas, placed


@dataclass(frozen=True, slots=True)
class IouCrop:
    """A part of the picture that overlaps some object by at least a drawn share; objects centred in it stay."""

    smallest: float = 0.3
    tries: int = 40
    attempts: int = 20

    def __call__(self, image: torch.Tensor, target: Target, draw: np.random.Generator) -> Pair:
        for _ in range(self.attempts):
            overlap = float(draw.choice(_CROP_OVERLAPS))
            if overlap >= _KEEP_ALL or not len(target["boxes"]):
                return image, target
            frame = self._frame(image, target["boxes"], overlap, draw)
            if frame is not None:
                return cropped(image, target, *frame)
        return image, target

    def _frame(
        self, image: torch.Tensor, boxes: torch.Tensor, overlap: float, draw: np.random.Generator
    ) -> tuple[int, int, int, int] | None:
        height, width = image.shape[-2:]
        for _ in range(self.tries):
            crop_width, crop_height = (max(1, int(side * draw.uniform(self.smallest, 1.0))) for side in (width, height))
            if not 0.5 <= crop_width / crop_height <= 2.0:
                continue
            left = int(draw.uniform(0, width - crop_width + 1))
            top = int(draw.uniform(0, height - crop_height + 1))
            right, bottom = left + crop_width, top + crop_height
            centres = (boxes[:, :2] + boxes[:, 2:]) / 2
            is_inside = (centres > centres.new_tensor([left, top])) & (centres < centres.new_tensor([right, bottom]))
            inside = boxes[is_inside.all(dim=1)]
            if not len(inside):
                continue
            frame = inside.new_tensor([[left, top, right, bottom]])
            if float(box_iou(inside, frame).max()) >= overlap:
                return left, top, right, bottom
        return None


@dataclass(frozen=True, slots=True)
class ScaleJitter:
    """The picture larger or smaller; what grows beyond the old frame is cut off, what shrinks gets an edge."""

    smallest: float = 0.5
    largest: float = 1.5

    def __call__(self, image: torch.Tensor, target: Target, draw: np.random.Generator) -> Pair:
        height, width = image.shape[-2:]
        ratio = draw.uniform(self.smallest, self.largest)
        new_height, new_width = max(1, round(height * ratio)), max(1, round(width * ratio))
        image, target = resized(image, target, new_height, new_width)
        left, top = (
            int(draw.integers(0, max(new - old, 0) + 1)) for new, old in ((new_width, width), (new_height, height))
        )
        image, target = cropped(image, target, left, top, left + min(width, new_width), top + min(height, new_height))
        return padded(image, target, height, width)


def cropped(image: torch.Tensor, target: Target, left: int, top: int, right: int, bottom: int) -> Pair:
    """Objects whose centre lies in the frame, cut to it."""
    boxes = target["boxes"]
    centres = (boxes[:, :2] + boxes[:, 2:]) / 2
    is_inside = (centres >= centres.new_tensor([left, top])) & (centres <= centres.new_tensor([right, bottom]))
    kept = targets.picked(target, is_inside.all(dim=1))
    if "masks" in kept:
        kept["masks"] = kept["masks"][:, top:bottom, left:right]
    kept = targets.within(targets.shifted(kept, -left, -top), right - left, bottom - top)
    return image[:, top:bottom, left:right], kept


def resized(image: torch.Tensor, target: Target, height: int, width: int) -> Pair:
    old_height, old_width = image.shape[-2:]
    changed = targets.scaled(target, width / old_width, height / old_height)
    if "masks" in target:
        changed["masks"] = F.resize(target["masks"], [height, width], interpolation=F.InterpolationMode.NEAREST)
    return F.resize(image, [height, width], antialias=True), changed


def padded(image: torch.Tensor, target: Target, height: int, width: int) -> Pair:
    """At the right and the bottom, up to the given size."""
    down, right = height - image.shape[-2], width - image.shape[-1]
    if not (down or right):
        return image, target
    canvas = image.new_tensor(_FILL).view(3, 1, 1).repeat(1, height, width)
    canvas[:, : image.shape[-2], : image.shape[-1]] = image
    if "masks" in target:
        target = {**target, "masks": F.pad(target["masks"], [0, 0, right, down])}
    return canvas, target
