"""The fixed geometry of a feature pyramid: where each level lies in the flat map, and all anchors, computed once."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torchvision.models.detection.image_list import ImageList
from torchvision.ops import MultiScaleRoIAlign

from resolute.domain.errors import NotSupported


@dataclass(frozen=True, slots=True)
class Pyramid:
    """All levels of all cells of one image in one row: level after level, each row by row."""

    image_size: tuple[int, int]
    """Height and width that boxes are clipped to, before padding."""
    sizes: tuple[tuple[int, int], ...]
    """Height and width of each level."""
    anchors: Tensor
    """[cells * anchors_per_cell, 4], float32"""
    anchors_per_cell: int
    geometry: Tensor
    """[levels, 4], float32: first cell, height, width, cells per pixel."""
    level_of_cell: Tensor
    """[cells], int32"""
    pooled: tuple[int, ...]
    """The levels that regions are pooled from."""

    @property
    def cells(self) -> tuple[int, ...]:
        return tuple(height * width for height, width in self.sizes)

    @property
    def scales(self) -> tuple[float, ...]:
        """Cells per pixel of each level, a power of two."""
        return tuple(_cells_per_pixel(size, self.image_size) for size in self.sizes)


def build_pyramid(
    features: Mapping[str, Tensor],
    *,
    image_size: tuple[int, int],
    padded_size: tuple[int, int],
    anchor_generator: nn.Module,
    pooler: MultiScaleRoIAlign,
) -> Pyramid:
    sizes = tuple((int(f.shape[-2]), int(f.shape[-1])) for f in features.values())
    device = next(iter(features.values())).device
    # Float32 whatever the features are: in bfloat16, anchors beyond pixel 256 would be rounded to even numbers.
    maps = [torch.empty(1, 1, *size, device=device) for size in sizes]
    anchors = anchor_generator(ImageList(torch.empty(1, 1, *padded_size, device=device), [image_size]), maps)[0]
    per_cell = set(anchor_generator.num_anchors_per_location())  # type: ignore[operator]
    if len(per_cell) != 1:
        raise NotSupported(f"The anchor generator has {sorted(per_cell)} anchors per cell; one number is needed.")
    return Pyramid(
        image_size=image_size,
        sizes=sizes,
        anchors=anchors,
        anchors_per_cell=per_cell.pop(),
        geometry=_geometry(sizes, image_size, device),
        level_of_cell=torch.repeat_interleave(
            torch.arange(len(sizes), dtype=torch.int32), torch.tensor([h * w for h, w in sizes])
        ).to(device),
        pooled=tuple(i for i, name in enumerate(features) if name in pooler.featmap_names),
    )


def level_of(boxes: Tensor, pyramid: Pyramid, pooler: MultiScaleRoIAlign) -> Tensor:
    """The level each box [..., 4] is pooled from, int32: the rule of the FPN paper, as torchvision rounds it."""
    first = pyramid.pooled[0]
    if len(pyramid.pooled) == 1:
        return torch.full(boxes.shape[:-1], first, dtype=torch.int32, device=boxes.device)
    scales = [pyramid.scales[i] for i in pyramid.pooled]
    lowest, highest = int(-math.log2(scales[0])), int(-math.log2(scales[-1]))
    side = torch.sqrt((boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1]))
    level = torch.floor(pooler.canonical_level + torch.log2(side / pooler.canonical_scale) + 1e-6)
    return level.clamp(lowest, highest).to(torch.int32) - lowest + first


def _geometry(sizes: Sequence[tuple[int, int]], image_size: tuple[int, int], device: torch.device) -> Tensor:
    rows, first = [], 0
    for height, width in sizes:
        rows.append((float(first), float(height), float(width), _cells_per_pixel((height, width), image_size)))
        first += height * width
    return torch.tensor(rows, device=device)


def _cells_per_pixel(size: tuple[int, int], image_size: tuple[int, int]) -> float:
    return float(2.0 ** round(math.log2(size[0] / image_size[0])))
