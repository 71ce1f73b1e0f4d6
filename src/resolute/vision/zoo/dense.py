"""One-stage detectors over a pyramid: FCOS (a point per place, no anchors) and RetinaNet."""

from functools import partial

from torch import nn
from torchvision.models.detection import FCOS, RetinaNet
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.retinanet import RetinaNetHead
from torchvision.ops.feature_pyramid_network import LastLevelP6P7

from resolute.vision.zoo.backbones import PYRAMID_CHANNELS, resnet_pyramid
from resolute.vision.zoo.registry import Architecture, options_of
from resolute.vision.zoo.settings import ModelSettings, per_level, ratios_per_level

_LEVELS = 5
_UPPER_STAGES = (2, 3, 4)
_FCOS_SIZES = (8, 16, 32, 64, 128)
_OCTAVES = tuple((base, int(base * 2 ** (1 / 3)), int(base * 2 ** (2 / 3))) for base in (32, 64, 128, 256, 512))
_COMMON = {
    "min_size": "min_size",
    "max_size": "max_size",
    "score_threshold": "score_thresh",
    "nms_threshold": "nms_thresh",
    "detections_per_image": "detections_per_img",
}


def fcos_resnet50_fpn(settings: ModelSettings) -> nn.Module:
    extra = LastLevelP6P7(PYRAMID_CHANNELS, PYRAMID_CHANNELS)
    sizes = per_level(settings.anchor_sizes or _FCOS_SIZES, _LEVELS, "anchor_sizes", settings.name)
    model: nn.Module = FCOS(
        resnet_pyramid(settings, levels=_UPPER_STAGES, extra=extra),
        settings.num_classes,
        anchor_generator=AnchorGenerator(sizes, ((1.0,),) * _LEVELS),
        **_sizes_and_limits(settings),
        **settings.options,
    )
    return model


def retinanet_resnet50_fpn_v2(settings: ModelSettings) -> nn.Module:
    """Group norm in the heads and a generalised IoU loss for boxes."""
    sizes = per_level(settings.anchor_sizes or _OCTAVES, _LEVELS, "anchor_sizes", settings.name)
    anchors = AnchorGenerator(
        sizes, ratios_per_level(settings.aspect_ratios or (0.5, 1.0, 2.0), _LEVELS, settings.name)
    )
    per_place = anchors.num_anchors_per_location()[0]
    norm = partial(nn.GroupNorm, 32)
    head = RetinaNetHead(PYRAMID_CHANNELS, per_place, settings.num_classes, norm_layer=norm)
    head.regression_head._loss_type = "giou"
    extra = LastLevelP6P7(2048, PYRAMID_CHANNELS)
    model: nn.Module = RetinaNet(
        resnet_pyramid(settings, levels=_UPPER_STAGES, extra=extra),
        settings.num_classes,
        anchor_generator=anchors,
        head=head,
        **_sizes_and_limits(settings),
        **settings.options,
    )
    return model


def _sizes_and_limits(settings: ModelSettings) -> dict[str, object]:
    given = settings.given(**_COMMON)
    if settings.min_size is not None:
        given.setdefault("max_size", round(settings.min_size * 5 / 3))
    return given


ARCHITECTURES = (
    Architecture(
        name="fcos_resnet50_fpn",
        build=fcos_resnet50_fpn,
        stages=5,
        trainable_default=3,
        options=options_of(FCOS),
        not_taken=frozenset({"aspect_ratios"}),
    ),
    Architecture(
        name="retinanet_resnet50_fpn_v2",
        build=retinanet_resnet50_fpn_v2,
        stages=5,
        trainable_default=3,
        options=options_of(RetinaNet),
    ),
)
