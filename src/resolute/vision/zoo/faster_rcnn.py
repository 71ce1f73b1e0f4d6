"""Two-stage detectors: Faster R-CNN over pyramids and single maps, and Mask R-CNN."""

from collections.abc import Callable, Sequence
from typing import Any

from torch import nn
from torchvision.models.detection import FasterRCNN, MaskRCNN
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.faster_rcnn import FastRCNNConvFCHead
from torchvision.models.detection.rpn import RPNHead
from torchvision.ops import MultiScaleRoIAlign

from resolute.vision.zoo import backbones
from resolute.vision.zoo.registry import Architecture, options_of
from resolute.vision.zoo.settings import ModelSettings, per_level, ratios_per_level

_SIZES = (32, 64, 128, 256, 512)
_RATIOS = (0.5, 1.0, 2.0)
_PYRAMID_LEVELS = 5


def fasterrcnn_resnet50_fpn(settings: ModelSettings) -> nn.Module:
    return _two_stage(FasterRCNN, backbones.resnet_pyramid(settings), settings, _anchors(settings, _PYRAMID_LEVELS))


def maskrcnn_resnet50_fpn(settings: ModelSettings) -> nn.Module:
    return _two_stage(MaskRCNN, backbones.resnet_pyramid(settings), settings, _anchors(settings, _PYRAMID_LEVELS))


def fasterrcnn_resnet50_fpn_v2(settings: ModelSettings) -> nn.Module:
    """Batch norm in the pyramid, two convolutions before proposals, four before boxes."""
    backbone = backbones.resnet_pyramid(settings, norm_in_pyramid=nn.BatchNorm2d)
    anchors = _anchors(settings, _PYRAMID_LEVELS)
    channels = backbones.PYRAMID_CHANNELS
    return _two_stage(
        FasterRCNN,
        backbone,
        settings,
        anchors,
        rpn_head=RPNHead(channels, anchors.num_anchors_per_location()[0], conv_depth=2),
        box_head=FastRCNNConvFCHead((channels, 7, 7), [channels] * 4, [1024], norm_layer=nn.BatchNorm2d),
    )


def fasterrcnn_mobilenet_v3_large_320_fpn(settings: ModelSettings) -> nn.Module:
    fast = {
        "min_size": 320, "max_size": 640, "rpn_pre_nms_top_n_test": 150, "rpn_post_nms_top_n_test": 150,
        "rpn_score_thresh": 0.05,
    }  # fmt: skip
    anchors = _anchors(settings, 3, sizes=(_SIZES,) * 3)
    return _two_stage(FasterRCNN, backbones.mobilenet_pyramid(settings), settings, anchors, **fast)


def single_level(trunk: Callable[[ModelSettings], nn.Module]) -> Callable[[ModelSettings], nn.Module]:
    """The seed's way: one feature map of stride 32 with all anchor sizes, RoIAlign of 7 x 7 with two samples."""

    def build(settings: ModelSettings) -> nn.Module:
        pool = MultiScaleRoIAlign(featmap_names=["0"], output_size=7, sampling_ratio=2)
        anchors = _anchors(settings, 1, sizes=(_SIZES,))
        return _two_stage(FasterRCNN, trunk(settings), settings, anchors, box_roi_pool=pool)

    return build


def _two_stage(
    kind: type[Any], backbone: nn.Module, settings: ModelSettings, anchors: AnchorGenerator, **parts: Any
) -> nn.Module:
    given = settings.given(
        min_size="min_size",
        max_size="max_size",
        score_threshold="box_score_thresh",
        nms_threshold="box_nms_thresh",
        detections_per_image="box_detections_per_img",
    )
    if "min_size" in given:
        # A larger side than the smaller one is the caller's wish only when it was said.
        given.setdefault("max_size", max(settings.min_size or 0, round((settings.min_size or 0) * 5 / 3)))
    model: nn.Module = kind(
        backbone, settings.num_classes, rpn_anchor_generator=anchors, **{**parts, **given, **settings.options}
    )
    return model


def _anchors(settings: ModelSettings, levels: int, sizes: Sequence[Any] = _SIZES) -> AnchorGenerator:
    chosen = settings.anchor_sizes or sizes
    if levels == 1 and not isinstance(chosen[0], Sequence):
        chosen = (chosen,)  # With one feature map a plain list is all its sizes.
    rows = per_level(chosen, levels, "anchor_sizes", settings.name)
    return AnchorGenerator(rows, ratios_per_level(settings.aspect_ratios or _RATIOS, levels, settings.name))


_OPTIONS = options_of(FasterRCNN)


def _entry(name: str, build: Callable[[ModelSettings], nn.Module], stages: int, trainable: int) -> Architecture:
    return Architecture(name=name, build=build, stages=stages, trainable_default=trainable, options=_OPTIONS)


ARCHITECTURES = (
    _entry("fasterrcnn_resnet50_fpn", fasterrcnn_resnet50_fpn, 5, 3),
    _entry("fasterrcnn_resnet50_fpn_v2", fasterrcnn_resnet50_fpn_v2, 5, 3),
    _entry("fasterrcnn_mobilenet_v3_large_320_fpn", fasterrcnn_mobilenet_v3_large_320_fpn, 6, 3),
    _entry("resnet152_fasterrcnn_model", single_level(backbones.resnet152_trunk), 5, 5),
    _entry("efficientnet_b4_fasterrcnn_model", single_level(backbones.efficientnet_b4_trunk), 9, 9),
    _entry("convnext_large_fasterrcnn_model", single_level(backbones.convnext_large_trunk), 8, 8),
    _entry("convnext_small_fasterrcnn_model", single_level(backbones.convnext_small_trunk), 8, 8),
    Architecture(
        name="maskrcnn_resnet50_fpn",
        build=maskrcnn_resnet50_fpn,
        stages=5,
        trainable_default=3,
        options=_OPTIONS,
        has_masks=True,
    ),
)
