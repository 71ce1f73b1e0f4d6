"""Single-shot detectors: every image is resized to one square, whose side is `min_size`.

`anchor_sizes` are pixels of that square, one for each of the six feature maps and one beyond the last.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import nn
from torchvision import models
from torchvision.models.detection.anchor_utils import DefaultBoxGenerator
from torchvision.models.detection.ssd import SSD, SSDFeatureExtractorVGG
from torchvision.models.detection.ssdlite import SSDLiteFeatureExtractorMobileNet, SSDLiteHead

from resolute.domain.errors import InvalidInput
from resolute.vision.zoo.backbones import mobilenet_stage_starts, mobilenet_stages, trainable_layers
from resolute.vision.zoo.freezing import freeze_stages
from resolute.vision.zoo.registry import Architecture, options_of
from resolute.vision.zoo.settings import ModelSettings
from resolute.vision.zoo.weights import load_trunk

_MAPS = 6
_VGG_SIDE = 300
_LITE_SIDE = 320
_VGG_STEPS = [8, 16, 32, 64, 100, 300]
_VGG_SCALES = [0.07, 0.15, 0.33, 0.51, 0.69, 0.87, 1.05]
_VGG_RATIOS: list[list[float]] = [[2], [2, 3], [2, 3], [2, 3], [2], [2]]


def ssd300_vgg16(settings: ModelSettings) -> nn.Module:
    side = _side(settings, _VGG_SIDE)
    if side < _VGG_SIDE:
        raise InvalidInput(
            f"Model {settings.name}: min_size is {side}, but its last feature map needs at least {_VGG_SIDE} pixels. "
            "Use ssdlite320_mobilenet_v3_large for smaller images."
        )
    features = load_trunk(models.vgg16(weights=None), settings).features
    freeze_stages(_vgg_stages(features), trainable_layers(settings, 5), settings.name)
    anchors = DefaultBoxGenerator(
        _ratios(settings, _VGG_RATIOS),
        scales=_scales(settings, side) or _VGG_SCALES,
        steps=_VGG_STEPS if side == _VGG_SIDE else None,
    )
    picture = {"image_mean": [0.48235, 0.45882, 0.40784], "image_std": [1.0 / 255.0] * 3}
    backbone = SSDFeatureExtractorVGG(features, highres=False)
    model: nn.Module = SSD(backbone, anchors, (side, side), settings.num_classes, **{**picture, **_limits(settings)})
    return model


def ssdlite320_mobilenet_v3_large(settings: ModelSettings) -> nn.Module:
    side = _side(settings, _LITE_SIDE)
    options = dict(settings.options)
    norm = partial(nn.BatchNorm2d, eps=0.001, momentum=0.03)
    # The published detector has a narrower tail than the classifier, so only weights of the latter need the wide one.
    narrow = bool(options.pop("reduced_tail", settings.backbone_weights is None))
    network = models.mobilenet_v3_large(weights=None, norm_layer=norm, reduced_tail=narrow)
    if settings.backbone_weights is None:
        _draw_normal(network)
    features = load_trunk(network, settings).features
    freeze_stages(mobilenet_stages(features), trainable_layers(settings, 6), settings.name)
    backbone = SSDLiteFeatureExtractorMobileNet(features, mobilenet_stage_starts(features)[-2], norm)
    ratios = _ratios(settings, [[2, 3]] * _MAPS)
    anchors = DefaultBoxGenerator(ratios, min_ratio=0.2, max_ratio=0.95, scales=_scales(settings, side))
    channels = _channels(backbone, side)
    head = SSDLiteHead(channels, anchors.num_anchors_per_location(), settings.num_classes, norm)
    own: dict[str, Any] = {
        "score_thresh": 0.001, "nms_thresh": 0.55, "detections_per_img": 300, "topk_candidates": 300,
        "image_mean": [0.5] * 3, "image_std": [0.5] * 3,
    }  # fmt: skip
    settings_left = {**own, **_limits(settings, options)}
    model: nn.Module = SSD(backbone, anchors, (side, side), settings.num_classes, head=head, **settings_left)
    return model


def _side(settings: ModelSettings, default: int) -> int:
    if settings.max_size is not None and settings.max_size != settings.min_size:
        raise InvalidInput(
            f"Model {settings.name}: max_size is {settings.max_size}, but it sees square images only. "
            "Give their side as min_size and leave max_size out."
        )
    return settings.min_size or default


def _limits(settings: ModelSettings, options: dict[str, Any] | None = None) -> dict[str, Any]:
    given = settings.given(
        score_threshold="score_thresh", nms_threshold="nms_thresh", detections_per_image="detections_per_img"
    )
    return {**given, **(settings.options if options is None else options)}


def _scales(settings: ModelSettings, side: int) -> list[float] | None:
    if settings.anchor_sizes is None:
        return None
    sizes = [float(size) for size in settings.anchor_sizes]
    if len(sizes) != _MAPS + 1:
        raise InvalidInput(
            f"Model {settings.name}: anchor_sizes has {len(sizes)} entries; give {_MAPS + 1} sizes in pixels, one for "
            f"each of its {_MAPS} feature maps and one beyond the last."
        )
    return [size / side for size in sizes]


def _ratios(settings: ModelSettings, default: list[list[float]]) -> list[list[float]]:
    given = settings.aspect_ratios
    if given is None:
        return default
    if given and not isinstance(given[0], Sequence):
        return [[float(ratio) for ratio in given]] * _MAPS
    if len(given) != _MAPS:
        raise InvalidInput(
            f"Model {settings.name}: aspect_ratios has {len(given)} lists; it has {_MAPS} feature maps. "
            f"Give one list for all, or {_MAPS} lists."
        )
    return [[float(ratio) for ratio in row] for row in given]


def _channels(backbone: nn.Module, side: int) -> list[int]:
    backbone.eval()
    with torch.no_grad():
        maps = backbone(torch.zeros(1, 3, side, side))
    backbone.train()
    return [level.shape[1] for level in maps.values()]


def _vgg_stages(features: nn.Sequential) -> list[list[nn.Module]]:
    pools = [index for index, layer in enumerate(features) if isinstance(layer, nn.MaxPool2d)][:-1]
    starts, blocks = [0, *pools], list(features)
    return [blocks[start:end] for start, end in zip(starts, [*starts[1:], len(blocks)], strict=True)]


def _draw_normal(network: nn.Module) -> None:
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.normal_(layer.weight, mean=0.0, std=0.03)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)


ARCHITECTURES = (
    Architecture(name="ssd300_vgg16", build=ssd300_vgg16, stages=5, trainable_default=4, options=options_of(SSD)),
    Architecture(
        name="ssdlite320_mobilenet_v3_large",
        build=ssdlite320_mobilenet_v3_large,
        stages=6,
        trainable_default=6,
        options=options_of(SSD, "reduced_tail"),
        smallest_batch=2,
    ),
)
