"""Augmentation of whole batches where the model is: flips, light and size, with few launches and no waiting.

All images of the batch must have one size, as tiles have. Draws depend on the seed and the step alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional as F

from resolute.domain.errors import InvalidInput
from resolute.vision.transforms import target as targets
from resolute.vision.transforms.target import Target

NAMES = ("hflip", "vflip", "photometric")


@dataclass(frozen=True, slots=True)
class BatchAugmentation:
    """Numbers from 0 to 1 come out: [n, 3, side, side] when `side` is given, else the size stays."""

    names: tuple[str, ...]
    seed: int
    side: int | None = None
    chance: float = 0.5

    def __post_init__(self) -> None:
        strange = [name for name in self.names if name not in NAMES]
        if strange:
            raise InvalidInput(
                f"augment_on gpu knows {', '.join(NAMES)}, but not {strange[0]!r}. Use augment_on: cpu for it."
            )

    def __call__(
        self, images: Sequence[torch.Tensor], batch_targets: Sequence[Target], *, step: int, rank: int = 0
    ) -> tuple[torch.Tensor, list[Target]]:
        sizes = {tuple(image.shape) for image in images}
        if len(sizes) > 1:
            raise InvalidInput(
                f"augment_on gpu needs images of one size, but a batch has {len(sizes)}. Tile them, or use the CPU."
            )
        draw = np.random.default_rng([self.seed, 3, step, rank])
        pixels = torch.stack(list(images)).float().div_(255)
        found = list(batch_targets)
        if "hflip" in self.names:
            pixels, found = self._flip(pixels, found, draw, -1)
        if "vflip" in self.names:
            pixels, found = self._flip(pixels, found, draw, -2)
        if "photometric" in self.names:
            pixels = _lit(pixels, draw)
        return self._sized(pixels, found)

    def _flip(
        self, pixels: torch.Tensor, found: list[Target], draw: np.random.Generator, axis: int
    ) -> tuple[torch.Tensor, list[Target]]:
        chosen = draw.random(len(pixels)) < self.chance
        rows = torch.from_numpy(chosen).to(pixels.device, non_blocking=True)
        turn = targets.flipped if axis == -1 else targets.turned_over
        turned = [turn(each, pixels.shape[axis]) if flip else each for each, flip in zip(found, chosen, strict=True)]
        return torch.where(rows.view(-1, 1, 1, 1), pixels.flip(axis), pixels), turned

    def _sized(self, pixels: torch.Tensor, found: list[Target]) -> tuple[torch.Tensor, list[Target]]:
        height, width = pixels.shape[-2:]
        if self.side is None or (height, width) == (self.side, self.side):
            return pixels, found
        sized = F.interpolate(pixels, size=(self.side, self.side), mode="bilinear", align_corners=False)
        return sized, [targets.scaled(each, self.side / width, self.side / height) for each in found]


def _lit(pixels: torch.Tensor, draw: np.random.Generator) -> torch.Tensor:
    """Brightness, contrast and saturation of each image by its own factors, in one pass."""
    factors = draw.uniform([0.875, 0.5, 0.5], [1.125, 1.5, 1.5], (len(pixels), 3)).astype(np.float32)
    factors[draw.random((len(pixels), 3)) < 0.5] = 1.0
    on_device = torch.from_numpy(factors).to(pixels.device, non_blocking=True)
    brightness, contrast, saturation = on_device.view(len(pixels), 3, 1, 1, 1).unbind(1)
    pixels = pixels * brightness
    grey = (pixels * pixels.new_tensor([0.299, 0.587, 0.114]).view(1, 3, 1, 1)).sum(dim=1, keepdim=True)
    pixels = grey + (pixels - grey) * saturation
    mean = grey.mean(dim=(-2, -1), keepdim=True)
    return (mean + (pixels - mean) * contrast).clamp(0, 1)
