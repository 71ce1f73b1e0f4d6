"""What the heads read from the feature maps: pooled regions (RoIAlign) and 3 x 3 neighbourhoods of sampled cells.

Both come from one flat map over all levels, and their gradients go back into one float32 buffer, so that each level
is written once on the way back. The kernels do a region only on its own level; nothing here waits for the device.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torchvision.ops import roi_align

from resolute.vision.batched import backend
from resolute.vision.batched.pyramid import Pyramid


@dataclass(frozen=True, slots=True)
class Request:
    """What to read, for each image: `rois` [b, k, 4] from `roi_level` [b, k], patches around cells `place` [b, m]."""

    rois: Tensor
    roi_level: Tensor
    place: Tensor
    size: int
    """Bins of a pooled region, on each side."""
    samples: int
    """Sample points of a bin, on each side."""


def read(features: Sequence[Tensor], request: Request, pyramid: Pyramid) -> tuple[Tensor, Tensor]:
    """Pooled regions [b * k, size * size, c] and patches [b * m, 9, c], differentiable in `features`."""
    if backend.has_kernels(features[0]) and request.samples == 2:
        pooled, patches = _Read.apply(request, pyramid, *features)
        return pooled, patches
    return _pooled_plain(features, request, pyramid), _patches_plain(features, request.place, pyramid)


class _Read(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, request: Request, pyramid: Pyramid, *features: Tensor) -> tuple[Tensor, Tensor]:
        flat = _flat(features)
        rois, roi_level = request.rois.contiguous(), request.roi_level.contiguous()
        place, place_level = _with_level(request.place, pyramid)
        ctx.save_for_backward(rois, roi_level, place, place_level)
        ctx.pyramid, ctx.size, ctx.shape, ctx.dtype = pyramid, request.size, flat.shape, features[0].dtype
        kernels = backend.kernels()
        pooled = kernels.pool(flat, rois, roi_level, pyramid.geometry, request.size)
        return pooled, kernels.patches(flat, place, place_level, pyramid.geometry)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        rois, roi_level, place, place_level = ctx.saved_tensors
        grad = torch.zeros(ctx.shape, device=rois.device)
        kernels, pyramid = backend.kernels(), ctx.pyramid
        kernels.unpool_into(grad, gradients[0], rois, roi_level, pyramid.geometry, ctx.size)
        kernels.unpatch_into(grad, gradients[1], place, place_level, pyramid.geometry)
        levels = zip(torch.split(grad, pyramid.cells, dim=1), pyramid.sizes, strict=True)
        return None, None, *(_unflat(level, size, ctx.dtype) for level, size in levels)


def _flat(features: Sequence[Tensor]) -> Tensor:
    return torch.cat([f.permute(0, 2, 3, 1).flatten(1, 2) for f in features], dim=1)


def _unflat(level: Tensor, size: tuple[int, int], dtype: torch.dtype) -> Tensor:
    # to() makes the slice contiguous, so the view below is channels-last and the convolution takes it as it is.
    return level.to(dtype).contiguous().view(len(level), *size, -1).permute(0, 3, 1, 2)


def _with_level(place: Tensor, pyramid: Pyramid) -> tuple[Tensor, Tensor]:
    return place.to(torch.int32).contiguous(), pyramid.level_of_cell[place].contiguous()


def _pooled_plain(features: Sequence[Tensor], request: Request, pyramid: Pyramid) -> Tensor:
    batch, count = request.rois.shape[:2]
    image = torch.arange(batch, device=request.rois.device).repeat_interleave(count)
    level = request.roi_level.flatten()
    total: Tensor | None = None
    for index in pyramid.pooled:
        rois = torch.cat((image[:, None].to(request.rois), request.rois.flatten(0, 1)), dim=1)
        pooled = roi_align(features[index], rois, request.size, pyramid.scales[index], request.samples)
        mine = torch.where((level == index)[:, None, None, None], pooled, 0.0)
        total = mine if total is None else total + mine
    assert total is not None, "a pyramid pools from one level at least"
    return total.flatten(2).transpose(1, 2)


def _patches_plain(features: Sequence[Tensor], place: Tensor, pyramid: Pyramid) -> Tensor:
    flat = _flat(features)
    flat = torch.cat((flat, flat.new_zeros(len(flat), 1, flat.shape[2])), dim=1)
    first, height, width = pyramid.geometry[pyramid.level_of_cell[place].long(), :3].long().unbind(-1)
    y, x = (place - first) // width, (place - first) % width
    taps = []
    for dy, dx in ((i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)):
        inside = (y + dy >= 0) & (y + dy < height) & (x + dx >= 0) & (x + dx < width)
        taps.append(torch.where(inside, first + (y + dy) * width + x + dx, flat.shape[1] - 1))
    index = torch.stack(taps, dim=2).flatten(1)
    rows = torch.arange(len(flat), device=flat.device)[:, None]
    return flat[rows, index].reshape(-1, 9, flat.shape[2])
