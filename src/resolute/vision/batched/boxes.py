"""Box arithmetic over whole batches, equal to torchvision's BoxCoder and clipping. Pure functions of tensors."""

import torch
from torch import Tensor

Weights = tuple[float, float, float, float]


def encode(boxes: Tensor, anchors: Tensor, weights: Weights) -> Tensor:
    """The regression targets that lead from `anchors` to `boxes`, both [..., 4] with positive sides."""
    wx, wy, ww, wh = weights
    x, y, width, height = _centred(anchors)
    box_x, box_y, box_width, box_height = _centred(boxes)
    return torch.stack(
        (
            wx * (box_x - x) / width,
            wy * (box_y - y) / height,
            ww * torch.log(box_width / width),
            wh * torch.log(box_height / height),
        ),
        dim=-1,
    )


def decode(deltas: Tensor, anchors: Tensor, weights: Weights, largest_log_scale: float) -> Tensor:
    """Boxes [..., 4] from what a head predicted for `anchors`; scales are capped so that exp stays finite."""
    wx, wy, ww, wh = weights
    x, y, width, height = _centred(anchors)
    dx, dy, dw, dh = deltas.unbind(-1)
    box_x = dx / wx * width + x
    box_y = dy / wy * height + y
    half_width = 0.5 * (torch.exp(torch.clamp(dw / ww, max=largest_log_scale)) * width)
    half_height = 0.5 * (torch.exp(torch.clamp(dh / wh, max=largest_log_scale)) * height)
    return torch.stack((box_x - half_width, box_y - half_height, box_x + half_width, box_y + half_height), dim=-1)


def clip(boxes: Tensor, size: tuple[int, int]) -> Tensor:
    """Cut to an image of (height, width)."""
    height, width = size
    x1, y1, x2, y2 = boxes.unbind(-1)
    return torch.stack((x1.clamp(0, width), y1.clamp(0, height), x2.clamp(0, width), y2.clamp(0, height)), dim=-1)


def has_sides(boxes: Tensor, least: float) -> Tensor:
    """Which boxes are at least `least` wide and high."""
    return (boxes[..., 2] - boxes[..., 0] >= least) & (boxes[..., 3] - boxes[..., 1] >= least)


def iou(first: Tensor, second: Tensor) -> Tensor:
    """[..., n, 4] with [..., m, 4] gives [..., n, m]; rounds exactly as torchvision's box_iou does."""
    area_first = (first[..., 2] - first[..., 0]) * (first[..., 3] - first[..., 1])
    area_second = (second[..., 2] - second[..., 0]) * (second[..., 3] - second[..., 1])
    top_left = torch.maximum(first[..., :, None, :2], second[..., None, :, :2])
    bottom_right = torch.minimum(first[..., :, None, 2:], second[..., None, :, 2:])
    sides = (bottom_right - top_left).clamp(min=0)
    shared = sides[..., 0] * sides[..., 1]
    return shared / (area_first[..., :, None] + area_second[..., None, :] - shared)


def _centred(boxes: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    x1, y1, x2, y2 = boxes.unbind(-1)
    width, height = x2 - x1, y2 - y1
    return x1 + 0.5 * width, y1 + 0.5 * height, width, height
