"""Backbones with a feature pyramid, and trunks with a single feature map. Weights come from files or not at all."""

from collections.abc import Callable, Sequence

from torch import nn
from torchvision import models
from torchvision.models.detection.backbone_utils import BackboneWithFPN
from torchvision.ops.feature_pyramid_network import ExtraFPNBlock, LastLevelMaxPool

from resolute.vision.zoo.freezing import freeze_stages
from resolute.vision.zoo.settings import ModelSettings
from resolute.vision.zoo.weights import load_trunk

_RESNET_LEVELS = (1, 2, 3, 4)
RESNET_STAGES = 5
MOBILENET_STAGES = 6
PYRAMID_CHANNELS = 256


def trainable_layers(settings: ModelSettings, stages: int) -> int:
    return stages if settings.trainable_backbone_layers is None else settings.trainable_backbone_layers


def resnet_pyramid(
    settings: ModelSettings,
    *,
    levels: Sequence[int] = _RESNET_LEVELS,
    extra: ExtraFPNBlock | None = None,
    norm_in_pyramid: Callable[..., nn.Module] | None = None,
) -> nn.Module:
    trunk = load_trunk(models.resnet50(weights=None), settings)
    freeze_stages(_resnet_stages(trunk), trainable_layers(settings, RESNET_STAGES), settings.name)
    width = trunk.inplanes // 8
    pyramid: nn.Module = BackboneWithFPN(
        trunk,
        {f"layer{level}": str(place) for place, level in enumerate(levels)},
        [width * 2 ** (level - 1) for level in levels],
        PYRAMID_CHANNELS,
        extra_blocks=extra or LastLevelMaxPool(),
        norm_layer=norm_in_pyramid,
    )
    return pyramid


def mobilenet_pyramid(settings: ModelSettings) -> nn.Module:
    features = load_trunk(models.mobilenet_v3_large(weights=None), settings).features
    starts = mobilenet_stage_starts(features)
    freeze_stages(_cut(features, starts), trainable_layers(settings, MOBILENET_STAGES), settings.name)
    returned = starts[-2:]
    pyramid: nn.Module = BackboneWithFPN(
        features,
        {str(index): str(place) for place, index in enumerate(returned)},
        [features[index].out_channels for index in returned],
        PYRAMID_CHANNELS,
        extra_blocks=LastLevelMaxPool(),
    )
    return pyramid


def mobilenet_stage_starts(features: nn.Sequential) -> list[int]:
    """Where the resolution halves; the first and the last block are stages of their own."""
    strided = [index for index, block in enumerate(features) if getattr(block, "_is_cn", False)]
    return [0, *strided, len(features) - 1]


def mobilenet_stages(features: nn.Sequential) -> list[list[nn.Module]]:
    return _cut(features, mobilenet_stage_starts(features))


def resnet152_trunk(settings: ModelSettings) -> nn.Module:
    trunk = load_trunk(models.resnet152(weights=None), settings)
    freeze_stages(_resnet_stages(trunk), trainable_layers(settings, RESNET_STAGES), settings.name)
    return _single_level(nn.Sequential(*list(trunk.children())[:-2]), 2048)


def efficientnet_b4_trunk(settings: ModelSettings) -> nn.Module:
    return _features(models.efficientnet_b4(weights=None), settings, 1792)


def convnext_large_trunk(settings: ModelSettings) -> nn.Module:
    return _features(models.convnext_large(weights=None), settings, 1536)


def convnext_small_trunk(settings: ModelSettings) -> nn.Module:
    return _features(models.convnext_small(weights=None), settings, 768)


def _features(network: nn.Module, settings: ModelSettings, channels: int) -> nn.Module:
    features = load_trunk(network, settings).features
    assert isinstance(features, nn.Sequential)
    freeze_stages([[stage] for stage in features], trainable_layers(settings, len(features)), settings.name)
    return _single_level(features, channels)


def _single_level(trunk: nn.Sequential, channels: int) -> nn.Module:
    trunk.out_channels = channels  # type: ignore[assignment]  # torchvision's detectors ask for it
    return trunk


def _resnet_stages(trunk: nn.Module) -> list[list[nn.Module]]:
    children = dict(trunk.named_children())
    return [[children["conv1"], children["bn1"]], *([children[f"layer{level}"]] for level in _RESNET_LEVELS)]


def _cut(features: nn.Sequential, starts: list[int]) -> list[list[nn.Module]]:
    blocks = list(features)
    return [blocks[start:end] for start, end in zip(starts, [*starts[1:], len(blocks)], strict=True)]
