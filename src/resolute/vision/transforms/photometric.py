"""Light and colour: brightness, contrast, saturation, hue, and the order of the channels. Boxes stay as they are."""

from dataclasses import dataclass

import numpy as np
import torch
from torchvision.transforms.v2 import functional as F

from resolute.vision.transforms.target import Target


@dataclass(frozen=True, slots=True)
class Photometric:
    """Each part happens with its own chance; contrast comes before or after colour."""

    chance: float = 0.5
    brightness: tuple[float, float] = (0.875, 1.125)
    contrast: tuple[float, float] = (0.5, 1.5)
    saturation: tuple[float, float] = (0.5, 1.5)
    hue: tuple[float, float] = (-0.05, 0.05)
    shuffles_channels: bool = True

    def __call__(self, image: torch.Tensor, target: Target, draw: np.random.Generator) -> tuple[torch.Tensor, Target]:
        happens = draw.random(6) < self.chance
        brightness, contrast = draw.uniform(*self.brightness), draw.uniform(*self.contrast)
        saturation, hue = draw.uniform(*self.saturation), draw.uniform(*self.hue)
        order = draw.permutation(3)
        if happens[0]:
            image = F.adjust_brightness(image, brightness)
        is_first = bool(draw.random() < 0.5)
        if happens[1] and is_first:
            image = F.adjust_contrast(image, contrast)
        if happens[2]:
            image = F.adjust_saturation(image, saturation)
        if happens[3]:
            image = F.adjust_hue(image, hue)
        if happens[1] and not is_first:
            image = F.adjust_contrast(image, contrast)
        if happens[4] and happens[5] and self.shuffles_channels:
            image = image[torch.from_numpy(order)]
        return image, target
