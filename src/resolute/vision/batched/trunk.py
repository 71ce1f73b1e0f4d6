"""Images to feature maps: normalising, resizing, padding and the backbone, on one tensor of equal images."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torchvision.models.detection.transform import GeneralizedRCNNTransform

from resolute.domain.errors import NotSupported
from resolute.vision.batched.resnet import fpn_maps, is_resnet_fpn, resnet_maps


def resized(transform: GeneralizedRCNNTransform, size: tuple[int, int]) -> tuple[int, int]:
    """Height and width that images of `size` are trained at."""
    if transform.fixed_size is not None:
        width, height = transform.fixed_size
        return height, width
    if len(transform.min_size) > 1:
        raise NotSupported(
            f"The model resizes to one of {tuple(transform.min_size)} at random; batched training needs one size. "
            "Build it with a single min_size."
        )
    scale = min(transform.min_size[0] / min(size), transform.max_size / max(size))
    return math.floor(size[0] * scale), math.floor(size[1] * scale)


def prepared(transform: GeneralizedRCNNTransform, images: Tensor, size: tuple[int, int]) -> Tensor:
    """Normalised, resized to `size` and padded as torchvision does it. Bytes are taken as 0..255, floats as 0..1."""
    pixels = images.float() if images.is_floating_point() else images.float() / 255
    mean, std = _per_channel(transform.image_mean, pixels), _per_channel(transform.image_std, pixels)
    pixels = F.interpolate((pixels - mean) / std, size=size, mode="bilinear", align_corners=False)
    height, width = padded(size, transform.size_divisible)
    return F.pad(pixels, (0, width - size[1], 0, height - size[0]))


def _per_channel(values: Sequence[float], like: Tensor) -> Tensor:
    """Filled in on the device: a copy from the host could not be captured."""
    return torch.cat([torch.full((1, 1, 1, 1), value, device=like.device) for value in values], dim=1)


def padded(size: tuple[int, int], divisible: int) -> tuple[int, int]:
    return math.ceil(size[0] / divisible) * divisible, math.ceil(size[1] / divisible) * divisible


def feature_maps(backbone: nn.Module, pixels: Tensor) -> dict[str, Tensor]:
    if is_resnet_fpn(backbone):
        return fpn_maps(backbone.fpn, resnet_maps(backbone.body, pixels))
    features = backbone(pixels)
    return {"0": features} if isinstance(features, Tensor) else dict(features)
