"""Boxes and masks that follow what happens to their picture. Targets go in and new ones come out."""

from typing import Any

import torch

Target = dict[str, Any]
ROWS = ("boxes", "labels", "area", "iscrowd", "masks")
"""What has one entry for each object."""


def picked(target: Target, rows: torch.Tensor) -> Target:
    """Only the objects of `rows`: indices, or a mask."""
    return {name: value[rows] if name in ROWS else value for name, value in target.items()}


def moved(target: Target, boxes: torch.Tensor, masks: torch.Tensor | None = None) -> Target:
    changed = {**target, "boxes": boxes}
    if masks is not None:
        changed["masks"] = masks
    return changed


def flipped(target: Target, width: int) -> Target:
    boxes = target["boxes"].clone()
    boxes[:, [0, 2]] = width - boxes[:, [2, 0]]
    return moved(target, boxes, target["masks"].flip(-1) if "masks" in target else None)


def turned_over(target: Target, height: int) -> Target:
    boxes = target["boxes"].clone()
    boxes[:, [1, 3]] = height - boxes[:, [3, 1]]
    return moved(target, boxes, target["masks"].flip(-2) if "masks" in target else None)


def quarter_turned(target: Target, width: int) -> Target:
    """By 90 degrees against the clock; `width` is that of the picture before."""
    x1, y1, x2, y2 = target["boxes"].unbind(1)
    boxes = torch.stack([y1, width - x2, y2, width - x1], dim=1)
    return moved(target, boxes, target["masks"].rot90(1, (-2, -1)) if "masks" in target else None)


def shifted(target: Target, x: float, y: float) -> Target:
    """Boxes only: whoever shifts masks knows the new frame."""
    boxes: torch.Tensor = target["boxes"]
    return moved(target, boxes + boxes.new_tensor([x, y, x, y]))


def scaled(target: Target, x: float, y: float) -> Target:
    boxes: torch.Tensor = target["boxes"]
    changed = moved(target, boxes * boxes.new_tensor([x, y, x, y]))
    if "area" in target:
        changed["area"] = target["area"] * (x * y)
    return changed


def within(target: Target, width: int, height: int, *, smallest: float = 1.0) -> Target:
    """Boxes cut to the frame; those with a side below `smallest` pixels are left out."""
    boxes: torch.Tensor = target["boxes"].clone()
    boxes[:, 0::2] = boxes[:, 0::2].clamp(0, width)
    boxes[:, 1::2] = boxes[:, 1::2].clamp(0, height)
    sides = boxes[:, 2:] - boxes[:, :2]
    return picked(moved(target, boxes), (sides >= smallest).all(dim=1))
