"""Images to feature maps: normalising, resizing and the backbone, on one tensor of equal images.

A frozen batch norm behind a convolution is a factor and a shift per channel: both go into the convolution's weight
and bias, which leaves nothing to do on the large maps. Parameters stay the given model's own.
"""

import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torchvision.models._utils import IntermediateLayerGetter
from torchvision.models.detection.backbone_utils import BackboneWithFPN
from torchvision.models.detection.transform import GeneralizedRCNNTransform
from torchvision.models.resnet import BasicBlock, Bottleneck
from torchvision.ops import FrozenBatchNorm2d

from resolute.domain.errors import NotSupported


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
    if is_foldable(backbone):
        body = _folded_resnet(backbone.body, pixels)
        return dict(backbone.fpn(body))  # type: ignore[operator]
    features = backbone(pixels)
    return {"0": features} if isinstance(features, Tensor) else dict(features)


def is_foldable(backbone: nn.Module) -> bool:
    """A torchvision ResNet under an FPN with frozen batch norm."""
    if not isinstance(backbone, BackboneWithFPN) or not isinstance(backbone.body, IntermediateLayerGetter):
        return False
    return "layer1" in backbone.body and isinstance(backbone.body["bn1"], FrozenBatchNorm2d)


def _folded_resnet(body: IntermediateLayerGetter, pixels: Tensor) -> "OrderedDict[str, Tensor]":
    layers: Mapping[str, Any] = dict(body.items())
    x = layers["maxpool"](F.relu(convolve(layers["conv1"], layers["bn1"], pixels)))
    found: OrderedDict[str, Tensor] = OrderedDict()
    for name in (n for n in layers if n.startswith("layer")):
        for block in layers[name]:
            x = _block(block, x)
        if name in body.return_layers:
            found[body.return_layers[name]] = x
    return found


def _block(block: BasicBlock | Bottleneck, x: Tensor) -> Tensor:
    short = x if block.downsample is None else convolve(block.downsample[0], block.downsample[1], x)
    if isinstance(block, Bottleneck):
        x = F.relu(convolve(block.conv1, block.bn1, x))
        x = F.relu(convolve(block.conv2, block.bn2, x))
        return F.relu(convolve(block.conv3, block.bn3, x) + short)
    assert isinstance(block, BasicBlock), f"a ResNet has no {type(block).__name__}"
    x = F.relu(convolve(block.conv1, block.bn1, x))
    return F.relu(convolve(block.conv2, block.bn2, x) + short)


def convolve(convolution: nn.Conv2d, norm: nn.Module, x: Tensor) -> Tensor:
    """Convolution and norm, as one where the norm is frozen."""
    if not isinstance(norm, FrozenBatchNorm2d):
        normed: Tensor = norm(convolution(x))
        return normed
    scale = norm.weight * (norm.running_var + norm.eps).rsqrt()
    shift = norm.bias - norm.running_mean * scale
    return F.conv2d(
        x,
        convolution.weight * scale[:, None, None, None],
        shift,
        convolution.stride,
        convolution.padding,
        convolution.dilation,
        convolution.groups,
    )
