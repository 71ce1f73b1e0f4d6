"""Every architecture is built by name, from code alone, with settings that take effect."""

from typing import Any

import pytest
import torch
from torch import nn
from torchvision.ops import box_iou

from resolute.domain.errors import InvalidInput
from resolute.vision.zoo import build_model, model_names, rebuild_options, score_threshold_of
from resolute.vision.zoo.build import ARCHITECTURES, option_names
from resolute.vision.zoo.shared_norm import SharedBatchNorm

LITE = "ssdlite320_mobilenet_v3_large"
SEED_NAMES = [
    "fasterrcnn_resnet50_fpn", "fcos_resnet50_fpn", "ssd300_vgg16", LITE, "resnet152_fasterrcnn_model",
    "efficientnet_b4_fasterrcnn_model", "convnext_large_fasterrcnn_model", "convnext_small_fasterrcnn_model",
]  # fmt: skip
MORE_NAMES = [
    "retinanet_resnet50_fpn_v2", "fasterrcnn_resnet50_fpn_v2", "maskrcnn_resnet50_fpn",
    "fasterrcnn_mobilenet_v3_large_320_fpn", "rtdetr_r18",
]  # fmt: skip
FEW = {
    "rpn_post_nms_top_n_train": 16,
    "rpn_post_nms_top_n_test": 8,
    "box_batch_size_per_image": 8,
    "detections_per_image": 4,
}
RUN: dict[str, dict[str, Any]] = {
    LITE: {"min_size": 96},
    "fasterrcnn_mobilenet_v3_large_320_fpn": {"min_size": 64, **FEW},
    "rtdetr_r18": {"min_size": 64, "num_queries": 20},
    "maskrcnn_resnet50_fpn": {"min_size": 64, **FEW},
    "fcos_resnet50_fpn": {"min_size": 64},
    "retinanet_resnet50_fpn_v2": {"min_size": 64},
    "ssd300_vgg16": {"min_size": 300, "topk_candidates": 20},
    "fasterrcnn_resnet50_fpn": {"min_size": 64, **FEW},
    "fasterrcnn_resnet50_fpn_v2": {"min_size": 64, **FEW},
    "efficientnet_b4_fasterrcnn_model": {"min_size": 64, **FEW},
    "convnext_small_fasterrcnn_model": {"min_size": 64, **FEW},
    "resnet152_fasterrcnn_model": {"min_size": 64, **FEW},
    "convnext_large_fasterrcnn_model": {"min_size": 64, **FEW},
}


def on_meta(name: str, num_classes: int = 5, **settings: Any) -> nn.Module:
    """Shapes without memory: the largest architecture has hundreds of megabytes."""
    with torch.device("meta"):
        return build_model(name, num_classes, **settings)


def test_the_zoo_has_the_names_of_the_search_and_more() -> None:
    assert sorted(SEED_NAMES + MORE_NAMES) == model_names()
    assert sorted(RUN) == model_names()


@pytest.mark.parametrize("name", [name for name in SEED_NAMES if "ssd" not in name])
def test_each_two_stage_and_dense_model_is_built_without_weights(name: str) -> None:
    model = on_meta(name)

    assert model.training
    assert sum(parameter.numel() for parameter in model.parameters()) > 1_000_000


def test_every_model_of_the_search_tells_the_wanted_number_of_classes_apart() -> None:
    faster = on_meta("fasterrcnn_resnet50_fpn", 61)
    fcos = on_meta("fcos_resnet50_fpn", 61)

    assert faster.roi_heads.box_predictor.cls_score.out_features == 61  # type: ignore[union-attr]
    assert fcos.head.classification_head.num_classes == 61  # type: ignore[union-attr]


HEAVY = ("convnext_large_fasterrcnn_model", "resnet152_fasterrcnn_model")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in HEAVY else name for name in sorted(RUN)]
)
def test_every_model_gives_losses_in_training_and_boxes_otherwise(
    name: str, images: list[torch.Tensor], targets: list[dict[str, Any]]
) -> None:
    torch.manual_seed(0)
    model = build_model(name, 4, score_threshold=0.0, **RUN[name])

    losses = model(images, targets)
    sum(losses.values()).backward()
    model.eval()
    with torch.inference_mode():
        outputs = model(images)

    assert all(torch.isfinite(value) for value in losses.values())
    assert any(parameter.grad is not None and parameter.grad.any() for parameter in model.parameters())
    assert len(outputs) == 2
    for output, image in zip(outputs, images, strict=True):
        assert {"boxes", "scores", "labels"} <= set(output)
        assert len(output["boxes"])
        assert output["labels"].min() >= (0 if "fcos" in name or "retina" in name else 1)
        assert output["boxes"][:, 2].max() <= image.shape[-1] + 1e-3
    assert ("masks" in outputs[0]) == ARCHITECTURES[name].has_masks


@pytest.mark.parametrize("name", [LITE, "fasterrcnn_mobilenet_v3_large_320_fpn", "fcos_resnet50_fpn", "rtdetr_r18"])
def test_an_image_without_objects_can_be_learnt_from(
    name: str, images: list[torch.Tensor], targets: list[dict[str, Any]]
) -> None:
    torch.manual_seed(0)
    model = build_model(name, 4, **RUN[name])
    empty = {"boxes": torch.zeros(0, 4), "labels": torch.zeros(0, dtype=torch.int64)}

    for batch in ([targets[0], empty], [empty, empty]):
        losses = model(images, batch)
        sum(losses.values()).backward()

        assert all(torch.isfinite(value) for value in losses.values())


def test_an_unknown_name_is_answered_with_the_closest_and_all_there_are() -> None:
    with pytest.raises(InvalidInput, match=r"no model 'fasterrcnn_resnet50'. Did you mean fasterrcnn_resnet50_fpn\?"):
        build_model("fasterrcnn_resnet50", 3)
    with pytest.raises(InvalidInput, match=r"The names are: convnext_large.*ssdlite320"):
        build_model("yolo", 3)


def test_settings_of_a_two_stage_model_reach_what_reads_them() -> None:
    model: Any = on_meta(
        "fasterrcnn_resnet50_fpn",
        min_size=300,
        max_size=400,
        score_threshold=0.3,
        nms_threshold=0.4,
        detections_per_image=7,
        anchor_sizes=[8, 16, 32, 64, 128],
        aspect_ratios=[1.0, 2.0],
        rpn_pre_nms_top_n_train=50,
    )

    assert (model.transform.min_size, model.transform.max_size) == ((300,), 400)
    heads = model.roi_heads
    assert (heads.score_thresh, heads.nms_thresh, heads.detections_per_img) == (0.3, 0.4, 7)
    assert model.rpn.anchor_generator.sizes == ((8.0,), (16.0,), (32.0,), (64.0,), (128.0,))
    assert model.rpn.anchor_generator.aspect_ratios == ((1.0, 2.0),) * 5
    assert model.rpn._pre_nms_top_n["training"] == 50
    assert score_threshold_of(model) == 0.3


def test_a_single_feature_map_takes_all_anchor_sizes() -> None:
    model: Any = on_meta("convnext_small_fasterrcnn_model", anchor_sizes=[16, 32])

    assert model.rpn.anchor_generator.sizes == ((16.0, 32.0),)


def test_settings_of_a_dense_model_reach_what_reads_them() -> None:
    model: Any = on_meta("fcos_resnet50_fpn", min_size=200, score_threshold=0.11, nms_threshold=0.22, topk_candidates=9)

    assert model.transform.min_size == (200,)
    assert (model.score_thresh, model.nms_thresh, model.topk_candidates) == (0.11, 0.22, 9)


def test_the_side_and_anchors_of_a_single_shot_model_can_be_chosen() -> None:
    model: Any = build_model(LITE, 4, min_size=96, anchor_sizes=[12, 24, 36, 48, 60, 72, 84], aspect_ratios=[2])

    assert model.transform.fixed_size == (96, 96)
    assert model.anchor_generator.scales[0] == pytest.approx(12 / 96)
    assert model.anchor_generator.aspect_ratios == [[2.0]] * 6


@pytest.mark.parametrize("name", [LITE, "fasterrcnn_mobilenet_v3_large_320_fpn"])
def test_boxes_on_top_of_one_another_are_left_out_as_the_threshold_says(name: str, images: list[torch.Tensor]) -> None:
    torch.manual_seed(0)
    settings = {**RUN[name], "score_threshold": 0.0, "detections_per_image": 300}
    strict = build_model(name, 4, **settings, nms_threshold=0.0).eval()
    lenient = build_model(name, 4, **settings, nms_threshold=1.0).eval()
    lenient.load_state_dict(strict.state_dict())

    with torch.inference_mode():
        few, many = (model(images)[0] for model in (strict, lenient))

    assert 0 < len(few["boxes"]) < len(many["boxes"])
    for label in few["labels"].unique():
        overlap = box_iou(*[few["boxes"][few["labels"] == label]] * 2).fill_diagonal_(0)
        assert overlap.max() == 0


def test_anchors_decide_where_a_model_looks(images: list[torch.Tensor]) -> None:
    small = build_model(LITE, 4, min_size=96, anchor_sizes=[12, 16, 20, 24, 28, 32, 36], score_threshold=0.0).eval()
    large = build_model(LITE, 4, min_size=96, anchor_sizes=[40, 48, 56, 64, 72, 80, 88], score_threshold=0.0).eval()
    large.load_state_dict(small.state_dict())

    with torch.inference_mode():
        sides = [
            (model(images)[0]["boxes"][:, 2:] - model(images)[0]["boxes"][:, :2]).mean() for model in (small, large)
        ]

    assert sides[1] > 1.3 * sides[0]


def test_fewer_detections_come_out_when_fewer_are_asked_for(images: list[torch.Tensor]) -> None:
    torch.manual_seed(0)
    many = build_model(LITE, 4, min_size=96).eval()
    few = build_model(LITE, 4, min_size=96, detections_per_image=5).eval()
    strict = build_model(LITE, 4, min_size=96, score_threshold=0.99).eval()
    few.load_state_dict(many.state_dict())
    strict.load_state_dict(many.state_dict())

    with torch.inference_mode():
        counts = [len(model(images)[0]["boxes"]) for model in (many, few, strict)]

    assert counts[0] > 5
    assert counts[1] == 5
    assert counts[2] == 0


@pytest.mark.parametrize(
    ("name", "settings", "sentence"),
    [
        (LITE, {"rpn_nms_thresh": 0.5}, r"has no option 'rpn_nms_thresh'"),
        (LITE, {"topk_candidate": 5}, r"Did you mean topk_candidates\?"),
        (LITE, {"max_size": 500}, "sees square images only"),
        (LITE, {"anchor_sizes": [1, 2]}, "give 7 sizes"),
        (LITE, {"aspect_ratios": [[2]] * 3}, "has 3 lists"),
        (LITE, {"min_size": 31}, "use at least 32"),
        (LITE, {"norm": "layer"}, "use one of batch, frozen, sync"),
        (LITE, {"score_threshold": 1.5}, "between 0 and 1"),
        (LITE, {"detections_per_image": 0}, "at least 1"),
        (LITE, {"trainable_backbone_layers": 9}, "use 0 to 6"),
        ("ssd300_vgg16", {"min_size": 200}, "at least 300"),
        ("fcos_resnet50_fpn", {"aspect_ratios": [1.0]}, "has no aspect_ratios"),
        ("fasterrcnn_resnet50_fpn", {"anchor_sizes": [8]}, "looks at 5 feature maps"),
        ("fasterrcnn_resnet50_fpn", {"min_size": 300, "max_size": 200}, "below min_size"),
        ("rtdetr_r18", {"nms_threshold": 0.5}, "has no nms_threshold"),
        ("rtdetr_r18", {"min_size": 100}, "multiple of 32"),
    ],
)
def test_settings_that_cannot_work_are_refused_by_name(name: str, settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        build_model(name, 4, **settings)


def test_a_model_needs_the_background_and_a_class() -> None:
    with pytest.raises(InvalidInput, match="num_classes is 1"):
        build_model(LITE, 1)


def test_frozen_stages_keep_their_weights_and_the_rest_is_trained() -> None:
    whole = on_meta("fasterrcnn_resnet50_fpn")
    part: Any = on_meta("fasterrcnn_resnet50_fpn", trainable_backbone_layers=2)

    assert all(parameter.requires_grad for parameter in whole.parameters())
    body = part.backbone.body
    assert not any(parameter.requires_grad for parameter in body.layer2.parameters())
    assert all(parameter.requires_grad for parameter in body.layer3.parameters())


def test_frozen_batch_norm_is_that_of_the_backbone_alone() -> None:
    model: Any = build_model(LITE, 4, min_size=96, norm="frozen")

    kinds = {type(module).__name__ for module in model.backbone.modules()}
    head_kinds = {type(module).__name__ for module in model.head.modules()}
    assert "FrozenBatchNorm2d" in kinds
    assert "BatchNorm2d" not in kinds
    assert "BatchNorm2d" in head_kinds


def test_synchronised_batch_norm_has_the_same_weights_in_a_checkpoint() -> None:
    plain = build_model(LITE, 4, min_size=96)
    synchronised = build_model(LITE, 4, min_size=96, norm="sync")

    assert list(plain.state_dict()) == list(synchronised.state_dict())
    assert any(isinstance(module, nn.SyncBatchNorm | SharedBatchNorm) for module in synchronised.modules())


def test_what_is_kept_for_rebuilding_is_what_changes_the_model() -> None:
    kept = rebuild_options(LITE, "wide.pth", min_size=96, norm="sync", trainable_backbone_layers=3, max_size=None)

    assert kept == {"min_size": 96, "reduced_tail": False}


def test_options_of_an_architecture_can_be_listed() -> None:
    assert "topk_candidates" in option_names(LITE)
    assert "rpn_nms_thresh" in option_names("fasterrcnn_resnet50_fpn")
