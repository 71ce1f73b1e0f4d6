"""Augmentations by name, alone or joined. `hflip`, `ssd` and `ssdlite` are the presets of torchvision's scripts."""

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from resolute.domain.errors import InvalidInput
from resolute.vision.transforms.geometric import (
    HorizontalFlip,
    IouCrop,
    Pair,
    QuarterTurns,
    ScaleJitter,
    VerticalFlip,
    ZoomOut,
)
from resolute.vision.transforms.mosaic import Mosaic, Partner
from resolute.vision.transforms.photometric import Photometric
from resolute.vision.transforms.target import Target

Transform = Callable[[torch.Tensor, Target, np.random.Generator], Pair]
_STEPS: dict[str, Callable[[], list[Transform]]] = {
    "none": list,
    "hflip": lambda: [HorizontalFlip()],
    "vflip": lambda: [VerticalFlip()],
    "rot90": lambda: [QuarterTurns()],
    "photometric": lambda: [Photometric()],
    "iou_crop": lambda: [IouCrop()],
    "zoom_out": lambda: [ZoomOut()],
    "scale_jitter": lambda: [ScaleJitter()],
    "ssd": lambda: [Photometric(), ZoomOut(), IouCrop(), HorizontalFlip()],
    "ssdlite": lambda: [IouCrop(), HorizontalFlip()],
    "aerial": lambda: [QuarterTurns(), HorizontalFlip(), Photometric(shuffles_channels=False)],
}


@dataclass(frozen=True, slots=True)
class Chain:
    """One after the other, all drawing from the sample's generator."""

    steps: tuple[Transform, ...]

    def __call__(self, image: torch.Tensor, target: Target, draw: np.random.Generator) -> Pair:
        for step in self.steps:
            image, target = step(image, target, draw)
        return image.contiguous(), target


def augmentation_names() -> list[str]:
    return sorted([*_STEPS, "mosaic"])


def augmentation_list(value: Any) -> list[str]:
    """`hflip`, `[hflip, rot90]` or `hflip,rot90`. Raises InvalidInput for a name that there is not."""
    if value is None:
        return []
    names = value.split(",") if isinstance(value, str) else list(value)
    for name in (str(each).strip() for each in names):
        if name not in augmentation_names():
            close = difflib.get_close_matches(name, augmentation_names(), 1, 0.5)
            hint = f" Did you mean {close[0]}?" if close else ""
            raise InvalidInput(
                f"data_augmentation {name!r} is not known.{hint} The names are: {', '.join(augmentation_names())}."
            )
    return [str(each).strip() for each in names]


def make_transform(names: Sequence[str], partner: Partner | None = None) -> Transform:
    """`partner` gives other samples, which only `mosaic` needs."""
    steps: list[Transform] = []
    for name in names:
        if name == "mosaic":
            if partner is None:
                raise InvalidInput("mosaic joins samples and needs a dataset to take them from.")
            steps.append(Mosaic(partner))
        else:
            steps.extend(_STEPS[name]())
    return Chain(tuple(steps))
