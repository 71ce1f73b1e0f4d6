"""A torchvision ResNet with FPN, computed the way a GPU likes it. Same parameters, same result to rounding.

Four things differ. A frozen batch norm becomes part of the convolution before it, and on a GPU that convolution adds,
shifts and rectifies in one go. The first convolution (7 x 7 over 3 channels, which no matrix unit fits) runs as 4 x 4
over the 2 x 2 blocks of the image. Doubling a map copies cells, so that its gradient is a sum and not a scatter. And
the last level is a slice.
"""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torchvision.models._utils import IntermediateLayerGetter
from torchvision.models.detection.backbone_utils import BackboneWithFPN
from torchvision.models.resnet import BasicBlock, Bottleneck
from torchvision.ops import FrozenBatchNorm2d
from torchvision.ops.feature_pyramid_network import FeaturePyramidNetwork, LastLevelMaxPool

from resolute.vision.batched.fused import convolve_and_rectify


def is_resnet_fpn(backbone: nn.Module) -> bool:
    if not isinstance(backbone, BackboneWithFPN) or not isinstance(backbone.body, IntermediateLayerGetter):
        return False
    parts = ("conv1", "bn1", "maxpool", "layer1")
    if not all(part in backbone.body for part in parts):
        return False
    return all(isinstance(block, BasicBlock | Bottleneck) for block in backbone.body["layer1"])


def resnet_maps(body: IntermediateLayerGetter, pixels: Tensor) -> "OrderedDict[str, Tensor]":
    layers: Mapping[str, Any] = dict(body.items())
    x = layers["maxpool"](_stem(layers["conv1"], layers["bn1"], pixels))
    found: OrderedDict[str, Tensor] = OrderedDict()
    for name in (n for n in layers if n.startswith("layer")):
        for block in layers[name]:
            x = _block(block, x)
        if name in body.return_layers:
            found[body.return_layers[name]] = x
    return found


def fpn_maps(fpn: FeaturePyramidNetwork, maps: Mapping[str, Tensor]) -> dict[str, Tensor]:
    names, inputs = list(maps), list(maps.values())
    inner = fpn.inner_blocks[-1](inputs[-1])
    results = [fpn.layer_blocks[-1](inner)]
    for level in range(len(inputs) - 2, -1, -1):
        lateral = fpn.inner_blocks[level](inputs[level])
        inner = lateral + _enlarged(inner, lateral)
        results.insert(0, fpn.layer_blocks[level](inner))
    if isinstance(fpn.extra_blocks, LastLevelMaxPool):
        results, names = [*results, results[-1][:, :, ::2, ::2]], [*names, "pool"]
    elif fpn.extra_blocks is not None:
        results, names = fpn.extra_blocks(results, inputs, names)
    return dict(zip(names, results, strict=True))


def _enlarged(x: Tensor, like: Tensor) -> Tensor:
    batch, channels, height, width = x.shape
    if tuple(like.shape[-2:]) != (2 * height, 2 * width):
        return F.interpolate(x, size=like.shape[-2:], mode="nearest")
    cells = x.permute(0, 2, 3, 1)[:, :, None, :, None, :].expand(batch, height, 2, width, 2, channels)
    return cells.reshape(batch, 2 * height, 2 * width, channels).permute(0, 3, 1, 2)


def _stem(convolution: nn.Conv2d, norm: nn.Module, pixels: Tensor) -> Tensor:
    usual = (convolution.kernel_size, convolution.stride, convolution.padding) == ((7, 7), (2, 2), (3, 3))
    if not usual or convolution.in_channels != 3 or pixels.shape[-1] % 2 or pixels.shape[-2] % 2:
        return _convolve(convolution, norm, pixels)
    weight, bias = _folded(convolution, norm)
    # Output o reads pixels 2o-3 .. 2o+3: with a tap of zero before them, the four blocks o-2 .. o+1. Twelve channels
    # become sixteen, the multiple of eight that tensor cores take without a copy.
    blocks = F.pad(F.pixel_unshuffle(pixels, 2), (2, 1, 2, 1, 0, 4)).contiguous(memory_format=torch.channels_last)
    taps = F.pad(weight, (1, 0, 1, 0)).reshape(-1, 3, 4, 2, 4, 2).permute(0, 1, 3, 5, 2, 4).reshape(-1, 12, 4, 4)
    taps = F.pad(taps, (0, 0, 0, 0, 0, 4)).contiguous(memory_format=torch.channels_last)
    if bias is not None:
        return convolve_and_rectify(blocks, taps, bias, None, (1, 1), (0, 0))
    return F.relu(norm(F.conv2d(blocks, taps)))


def _block(block: BasicBlock | Bottleneck, x: Tensor) -> Tensor:
    short = x if block.downsample is None else _shortcut(block.downsample[0], block.downsample[1], x)
    if isinstance(block, Bottleneck):
        x = _convolve(block.conv1, block.bn1, x)
        x = _convolve(block.conv2, block.bn2, x)
        return _convolve(block.conv3, block.bn3, x, short)
    return _convolve(block.conv2, block.bn2, _convolve(block.conv1, block.bn1, x), short)


def _shortcut(convolution: nn.Conv2d, norm: nn.Module, x: Tensor) -> Tensor:
    weight, bias = _folded(convolution, norm)
    if bias is None:
        normed: Tensor = norm(convolution(x))
        return normed
    return F.conv2d(x, weight, bias, convolution.stride, convolution.padding)


def _convolve(convolution: nn.Conv2d, norm: nn.Module, x: Tensor, addend: Tensor | None = None) -> Tensor:
    """relu(norm(convolution(x)) + addend)"""
    weight, bias = _folded(convolution, norm)
    padding = convolution.padding
    if bias is None or convolution.groups != 1 or convolution.dilation != (1, 1) or isinstance(padding, str):
        y = norm(convolution(x))
        return F.relu(y if addend is None else y + addend)
    return convolve_and_rectify(x, weight, bias, addend, convolution.stride, padding)


def _folded(convolution: nn.Conv2d, norm: nn.Module) -> tuple[Tensor, Tensor | None]:
    """Weight and bias that hold a frozen norm's factor and shift; no bias where the norm is not frozen."""
    if not isinstance(norm, FrozenBatchNorm2d):
        return convolution.weight, None
    scale = norm.weight * (norm.running_var + norm.eps).rsqrt()
    return convolution.weight * scale[:, None, None, None], norm.bias - norm.running_mean * scale
