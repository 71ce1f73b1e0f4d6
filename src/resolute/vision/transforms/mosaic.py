"""Four pictures as one: many small objects and odd surroundings in a single sample. Off unless asked for."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from resolute.vision.transforms import target as targets
from resolute.vision.transforms.geometric import Pair, cropped, padded
from resolute.vision.transforms.target import ROWS, Target

Partner = Callable[[np.random.Generator], Pair]


@dataclass(frozen=True, slots=True)
class Mosaic:
    """`partner` gives another sample. The result has the size of the first picture."""

    partner: Partner
    chance: float = 0.5

    def __call__(self, image: torch.Tensor, target: Target, draw: np.random.Generator) -> Pair:
        if draw.random() >= self.chance:
            return image, target
        height, width = image.shape[-2:]
        across = int(width * draw.uniform(0.3, 0.7))
        down = int(height * draw.uniform(0.3, 0.7))
        frames = (
            (0, 0, across, down),
            (across, 0, width, down),
            (0, down, across, height),
            (across, down, width, height),
        )
        pairs = [(image, target), *(self.partner(draw) for _ in range(3))]
        canvas = torch.empty_like(image)
        parts = []
        for (part, objects), (left, top, right, bottom) in zip(pairs, frames, strict=True):
            piece, kept = _piece(part, objects, right - left, bottom - top, draw)
            canvas[:, top:bottom, left:right] = piece
            parts.append(_placed(kept, left, top, height, width))
        joined = {name: torch.cat([part[name] for part in parts]) for name in ROWS if name in target}
        return canvas, {**target, **joined}


def _piece(image: torch.Tensor, target: Target, width: int, height: int, draw: np.random.Generator) -> Pair:
    """A random part of the wanted size; a smaller picture gets an edge first."""
    wide, high = max(width, image.shape[-1]), max(height, image.shape[-2])
    image, target = padded(image, target, high, wide)
    left, top = int(draw.integers(0, wide - width + 1)), int(draw.integers(0, high - height + 1))
    return cropped(image, target, left, top, left + width, top + height)


def _placed(target: Target, left: int, top: int, height: int, width: int) -> Target:
    placed = targets.shifted(target, left, top)
    if "masks" in target:
        masks = target["masks"].new_zeros((len(target["masks"]), height, width))
        masks[:, top : top + target["masks"].shape[-2], left : left + target["masks"].shape[-1]] = target["masks"]
        placed["masks"] = masks
    return placed
