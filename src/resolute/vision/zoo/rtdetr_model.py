"""RT-DETR with a ResNet-18 backbone, built from a configuration alone, in the form torchvision's detectors have.

Images of any size are resized to one square; losses come as a dict, detections as boxes, scores and labels.
"""

from typing import Any, NamedTuple

import torch
from torch import nn
from torchvision.ops import box_convert
from torchvision.transforms.v2.functional import resize
from transformers import RTDetrConfig, RTDetrForObjectDetection, RTDetrResNetConfig

from resolute.domain.errors import InvalidInput
from resolute.vision.zoo.backbones import trainable_layers
from resolute.vision.zoo.freezing import freeze_stages
from resolute.vision.zoo.rtdetr_loss import detection_losses
from resolute.vision.zoo.settings import ModelSettings
from resolute.vision.zoo.weights import load_trunk

_SIDE = 640
_SCORE = 0.05
_DETECTIONS = 100
_STRIDE = 32
_STAGES = 5
Target = dict[str, torch.Tensor]


class Resizing(NamedTuple):
    """Read back like torchvision's `transform.min_size`."""

    min_size: tuple[int, ...]
    max_size: int


class RTDetr(nn.Module):
    image_mean: torch.Tensor
    image_std: torch.Tensor

    def __init__(self, config: RTDetrConfig, *, side: int, score: float, detections: int, **picture: list[float]):
        super().__init__()
        self.network = RTDetrForObjectDetection(config)
        self.network.loss_function = detection_losses
        self.transform = Resizing((side,), side)
        self.score_thresh = score
        self.detections_per_img = detections
        self.register_buffer("image_mean", torch.tensor(picture["image_mean"]).view(3, 1, 1), persistent=False)
        self.register_buffer("image_std", torch.tensor(picture["image_std"]).view(3, 1, 1), persistent=False)

    @property
    def backbone(self) -> Any:
        return self.network.model.backbone

    def forward(self, images: list[torch.Tensor], targets: list[Target] | None = None) -> Any:
        pixels = torch.stack([self._prepared(image) for image in images])
        sizes = [(int(image.shape[-2]), int(image.shape[-1])) for image in images]
        if not self.training:
            return self._detections(self.network(pixels), sizes)
        if targets is None:
            raise InvalidInput("RT-DETR is in training mode and needs targets. Call eval() to detect.")
        labels = [_relative(target, size) for target, size in zip(targets, sizes, strict=True)]
        return self.network(pixels, labels=labels).loss_dict

    def _prepared(self, image: torch.Tensor) -> torch.Tensor:
        side = self.transform.max_size
        sized: torch.Tensor = resize(image, [side, side], antialias=True)
        return (sized - self.image_mean) / self.image_std

    def _detections(self, output: Any, sizes: list[tuple[int, int]]) -> list[Target]:
        scores = output.logits.float().sigmoid()
        return [self._best(s, b, size) for s, b, size in zip(scores, output.pred_boxes.float(), sizes, strict=True)]

    def _best(self, scores: torch.Tensor, boxes: torch.Tensor, size: tuple[int, int]) -> Target:
        height, width = size
        count = min(self.detections_per_img, scores.numel())
        best, flat = scores.flatten().topk(count)
        query, label = flat // scores.shape[1], flat % scores.shape[1]
        corners = box_convert(boxes, "cxcywh", "xyxy").clamp(0, 1)[query]
        corners = corners * corners.new_tensor([width, height, width, height])
        sides = corners[:, 2:] - corners[:, :2]
        kept = (best > self.score_thresh) & (sides > 0).all(dim=1)
        return {"boxes": corners[kept], "scores": best[kept], "labels": label[kept] + 1}


def build(settings: ModelSettings) -> nn.Module:
    side = settings.min_size or _SIDE
    if side % _STRIDE or settings.max_size not in (None, side):
        raise InvalidInput(
            f"Model {settings.name}: min_size is {side} and max_size {settings.max_size}; it sees squares whose side "
            f"is a multiple of {_STRIDE}. Give the side as min_size and leave max_size out."
        )
    options = dict(settings.options)
    picture = {"image_mean": options.pop("image_mean", [0.0] * 3), "image_std": options.pop("image_std", [1.0] * 3)}
    model = RTDetr(
        _config(settings, options),
        side=side,
        score=_SCORE if settings.score_threshold is None else settings.score_threshold,
        detections=settings.detections_per_image or _DETECTIONS,
        **picture,
    )
    load_trunk(model.backbone, settings)
    freeze_stages(_stages(model.backbone), trainable_layers(settings, _STAGES), settings.name)
    return model


def _config(settings: ModelSettings, options: dict[str, Any]) -> RTDetrConfig:
    backbone = RTDetrResNetConfig(
        embedding_size=64,
        hidden_sizes=[64, 128, 256, 512],
        depths=[2, 2, 2, 2],
        layer_type="basic",
        out_features=["stage2", "stage3", "stage4"],  # type: ignore[call-arg]  # taken by name, not declared
    )
    width = int(options.get("d_model", 256))
    given = {"decoder_layers": 3, "hidden_expansion": 0.5, **options}
    return RTDetrConfig(
        backbone_config=backbone,
        num_labels=settings.num_classes - 1,  # type: ignore[call-arg]  # taken by name, not declared
        encoder_in_channels=[128, 256, 512],
        encoder_hidden_dim=width,
        decoder_in_channels=[width] * 3,
        freeze_backbone_batch_norms=settings.norm == "frozen",
        initializer_bias_prior_prob=0.01,  # Nearly all queries see nothing: a quiet start.
        **given,
    )


def _stages(backbone: Any) -> list[list[nn.Module]]:
    network = backbone.model
    return [[network.embedder], *([stage] for stage in network.encoder.stages)]


def _relative(target: Target, size: tuple[int, int]) -> Target:
    height, width = size
    boxes = box_convert(target["boxes"].float(), "xyxy", "cxcywh")
    return {
        "boxes": boxes / boxes.new_tensor([width, height, width, height]),
        "class_labels": target["labels"] - 1,
    }
