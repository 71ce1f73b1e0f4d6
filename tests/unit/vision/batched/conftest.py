"""Small torchvision detectors and batches for them."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torchvision.models import resnet18
from torchvision.models.detection import FasterRCNN
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.backbone_utils import _resnet_fpn_extractor
from torchvision.models.detection.faster_rcnn import FastRCNNPredictor, TwoMLPHead
from torchvision.ops import FrozenBatchNorm2d

CLASSES = 5


class FirstCome:
    """torchvision's sampler with the lowest indices in place of random ones."""

    def __init__(self, batch_size_per_image: int, positive_fraction: float) -> None:
        self.batch_size_per_image = batch_size_per_image
        self.positive_fraction = positive_fraction

    def __call__(self, matched: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        positives, negatives = [], []
        for labels in matched:
            positive, negative = torch.where(labels >= 1)[0], torch.where(labels == 0)[0]
            count = min(len(positive), int(self.batch_size_per_image * self.positive_fraction))
            positives.append(_mask(labels, positive[:count]))
            negatives.append(_mask(labels, negative[: self.batch_size_per_image - count]))
        return positives, negatives


def _mask(labels: Tensor, index: Tensor) -> Tensor:
    mask = torch.zeros_like(labels, dtype=torch.uint8)
    mask[index] = 1
    return mask


@pytest.fixture
def detector() -> Callable[..., FasterRCNN]:
    def build(*, frozen: bool = True, size: int = 64, **options: object) -> FasterRCNN:
        torch.manual_seed(0)
        norm: Callable[..., nn.Module] = FrozenBatchNorm2d if frozen else nn.BatchNorm2d
        body = resnet18(weights=None, norm_layer=norm)
        if frozen:
            _randomise(body)
        model = FasterRCNN(
            _resnet_fpn_extractor(body, trainable_layers=3 if frozen else 5),
            box_head=TwoMLPHead(256 * 49, 32),
            box_predictor=FastRCNNPredictor(32, CLASSES),
            rpn_pre_nms_top_n_train=200,
            rpn_post_nms_top_n_train=150,
            rpn_batch_size_per_image=64,
            box_batch_size_per_image=32,
            min_size=size,
            max_size=2 * size,
            rpn_anchor_generator=AnchorGenerator(((8,), (16,), (32,), (64,), (96,)), ((0.5, 1.0, 2.0),) * 5),
            **options,
        )
        # Untrained predictors say nearly nothing; wider ones make proposals that differ.
        nn.init.normal_(model.rpn.head.bbox_pred.weight, std=0.05)
        nn.init.normal_(model.rpn.head.cls_logits.weight, std=0.05)
        for stage in (model.rpn, model.roi_heads):
            sampler = stage.fg_bg_sampler
            stage.fg_bg_sampler = FirstCome(sampler.batch_size_per_image, sampler.positive_fraction)
        return model.train()

    return build


def _randomise(body: nn.Module) -> None:
    for module in body.modules():
        if isinstance(module, FrozenBatchNorm2d):
            module.weight.uniform_(0.5, 1.0)
            module.bias.normal_(std=0.1)
            module.running_mean.normal_(std=0.1)
            module.running_var.uniform_(0.5, 1.5)


@pytest.fixture
def batch() -> Callable[..., tuple[Tensor, list[dict[str, Tensor]]]]:
    def build(counts: tuple[int, ...] = (3, 7, 0), size: int = 48) -> tuple[Tensor, list[dict[str, Tensor]]]:
        torch.manual_seed(1)
        images = torch.rand(len(counts), 3, size, size)
        targets = []
        for count in counts:
            corner = torch.rand(count, 2) * size * 0.7
            sides = torch.rand(count, 2) * size * 0.25 + 3
            labels = torch.randint(1, CLASSES, (count,))
            targets.append({"boxes": torch.cat((corner, corner + sides), dim=1), "labels": labels})
        return images, targets

    return build
