"""A torchvision Faster R-CNN whose training step runs on whole batches with static shapes.

It owns nothing: modules, parameters and their names are the given model's, so checkpoints interchange and evaluation
is torchvision's. Only `forward` in training mode differs; its losses are the same function of the same sample.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torchvision.models.detection import FasterRCNN
from torchvision.models.detection.mask_rcnn import MaskRCNN

from resolute.domain.errors import InvalidInput, NotSupported
from resolute.vision.batched import trunk
from resolute.vision.batched.detection import RegionSample, detection_losses, head_features, sample_regions
from resolute.vision.batched.proposals import (
    AnchorSample,
    has_sparse_gradient,
    predict_densely,
    predict_sparsely,
    proposal_losses,
    propose,
    sample_anchors,
)
from resolute.vision.batched.pyramid import Pyramid, build_pyramid, level_of
from resolute.vision.batched.regions import Request, read
from resolute.vision.batched.sampling import Priority, at_random
from resolute.vision.batched.targets import PaddedTargets, pad_targets

Targets = PaddedTargets | Sequence[Mapping[str, Tensor]]


def batched(
    model: FasterRCNN,
    *,
    image_size: tuple[int, int] | None = None,
    max_targets: int = 128,
    compile: bool = True,  # torch's own word for it
    channels_last: bool = True,
    priority: Priority = at_random,
) -> "BatchedFasterRCNN":
    """`model` for training on equal images. `image_size` (height, width) fixes what images are resized to; None takes
    it from the model's own rule and the first batch. `max_targets`: most boxes in an image. `compile` uses
    torch.compile for the convolutional part. `priority` decides the sampling; `first_come` makes it repeatable."""
    if isinstance(model, MaskRCNN) or model.roi_heads.has_mask() or model.roi_heads.has_keypoint():
        raise NotSupported(
            "Batched training knows boxes only, and this model has masks or keypoints. Train it as it is."
        )
    if channels_last:
        model.to(memory_format=torch.channels_last)
    return BatchedFasterRCNN(model, image_size, max_targets, compile=compile, priority=priority)


class BatchedFasterRCNN(nn.Module):
    """In training, images [b, 3, h, w] (bytes, or floats in 0..1) and targets give torchvision's dict of losses. In
    evaluation it is the given model."""

    def __init__(
        self,
        model: FasterRCNN,
        image_size: tuple[int, int] | None,
        max_targets: int,
        *,
        compile: bool,
        priority: Priority,
    ) -> None:
        super().__init__()
        self.transform, self.backbone, self.rpn, self.roi_heads = (
            model.transform, model.backbone, model.rpn, model.roi_heads,
        )  # fmt: skip
        self.max_targets = max_targets
        self._image_size = image_size
        self._priority = priority
        self._model = (model,)  # in a tuple, so that its parameters are not listed a second time
        self._pyramid: Pyramid | None = None
        self._forward_features = (
            torch.compile(self._compute_features, dynamic=False) if compile else self._compute_features
        )

    @property
    def model(self) -> FasterRCNN:
        """The torchvision model it shares everything with."""
        return self._model[0]

    def train(self, mode: bool = True) -> "BatchedFasterRCNN":
        super().train(mode)
        self.model.training = mode
        return self

    def forward(
        self, images: Tensor | Sequence[Tensor], targets: Targets | None = None
    ) -> dict[str, Tensor] | list[dict[str, Tensor]]:
        if not self.training:
            detections: list[dict[str, Tensor]] = self.model(_listed(images))
            return detections
        if targets is None:
            raise InvalidInput("Training needs targets: give them beside the images, or call eval() first.")
        batch = _stacked(images)
        padded = targets if isinstance(targets, PaddedTargets) else pad_targets(targets, self.max_targets)
        return self._losses(batch, padded)

    def _losses(self, images: Tensor, targets: PaddedTargets) -> dict[str, Tensor]:
        before = (images.shape[-2], images.shape[-1])
        size = self._image_size or trunk.resized(self.transform, before)
        targets = _scaled(targets, before, size)
        pyramid = self.pyramid_of(images, size)
        with _Aside(images) as aside:
            anchors = sample_anchors(self.rpn, pyramid, targets, self._priority)
        maps = list(self.features(images, size).values())
        with torch.no_grad():
            objectness, deltas = predict_densely(self.rpn.head, maps)
        with torch.autocast(images.device.type, enabled=False):
            proposals = propose(self.rpn, objectness, deltas, pyramid)
            regions = sample_regions(self.roi_heads, proposals, targets, self._priority)
        aside.join()
        pooled, patches = read(maps, self._request(anchors, regions, pyramid), pyramid)
        logits, boxes = self.roi_heads.box_predictor(head_features(self.roi_heads.box_head, pooled))
        losses = detection_losses(logits, boxes, regions)
        return losses | self._proposal_losses(maps, patches, anchors, pyramid)

    def _request(self, anchors: AnchorSample, regions: RegionSample, pyramid: Pyramid) -> Request:
        pooler, index = self.roi_heads.box_roi_pool, anchors.sample.index
        sparse = has_sparse_gradient(self.rpn.head)
        return Request(
            rois=regions.boxes,
            roi_level=level_of(regions.boxes, pyramid, pooler),
            place=index // pyramid.anchors_per_cell if sparse else index[:, :0],
            size=pooler.output_size[0],
            samples=pooler.sampling_ratio,
        )

    def _proposal_losses(
        self, maps: list[Tensor], patches: Tensor, chosen: AnchorSample, pyramid: Pyramid
    ) -> dict[str, Tensor]:
        index = chosen.sample.index
        if has_sparse_gradient(self.rpn.head):
            anchor = (index % pyramid.anchors_per_cell).flatten()
            return proposal_losses(*predict_sparsely(self.rpn.head, patches, anchor), chosen)
        objectness, deltas = (torch.cat(levels, dim=1) for levels in predict_densely(self.rpn.head, maps))
        return proposal_losses(
            objectness.gather(1, index).flatten(),
            deltas.gather(1, index[..., None].expand(-1, -1, 4)).flatten(0, 1),
            chosen,
        )

    def features(self, images: Tensor, size: tuple[int, int]) -> dict[str, Tensor]:
        """The feature maps of images resized to `size`."""
        return self._forward_features(images, size)

    def _compute_features(self, images: Tensor, size: tuple[int, int]) -> dict[str, Tensor]:
        pixels = trunk.prepared(self.transform, images, size).contiguous(memory_format=torch.channels_last)
        return trunk.feature_maps(self.backbone, pixels)

    def pyramid_of(self, images: Tensor, size: tuple[int, int]) -> Pyramid:
        """Made on the first batch of a size, from the shapes that a pass without gradient gives."""
        known = self._pyramid
        if known is None or known.image_size != size or known.anchors.device != images.device:
            with torch.no_grad(), _norms_at_rest(self.backbone):
                features = self._compute_features(images[:1], size)
            self._pyramid = known = build_pyramid(
                features,
                image_size=size,
                padded_size=trunk.padded(size, self.transform.size_divisible),
                anchor_generator=self.rpn.anchor_generator,
                pooler=self.roi_heads.box_roi_pool,
            )
        return known


class _Aside:
    """Runs a block on a second stream: what it computes needs no features, so the backbone can run meanwhile.

    Its tensors are used on the first stream after `join`. They may be freed there: the second stream begins each time
    by waiting for the first, so nothing is reused too early."""

    _streams: ClassVar[dict[torch.device, torch.cuda.Stream]] = {}

    def __init__(self, like: Tensor) -> None:
        self._device = like.device
        self._guard: Any = nullcontext()

    def __enter__(self) -> "_Aside":
        if self._device.type == "cuda":
            if self._device not in self._streams:
                self._streams[self._device] = torch.cuda.Stream(self._device)  # type: ignore[no-untyped-call]
            stream = self._streams[self._device]
            stream.wait_stream(torch.cuda.current_stream())
            self._guard = torch.cuda.stream(stream)
        self._guard.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._guard.__exit__(*error)

    def join(self) -> None:
        if self._device.type == "cuda":
            torch.cuda.current_stream().wait_stream(self._streams[self._device])


@contextmanager
def _norms_at_rest(backbone: nn.Module) -> Iterator[None]:
    """Batch norms in evaluation, so that a pass for shapes leaves their statistics alone."""
    active = [m for m in backbone.modules() if m.training]
    for module in active:
        module.training = False
    try:
        yield
    finally:
        for module in active:
            module.training = True


def _stacked(images: Tensor | Sequence[Tensor]) -> Tensor:
    if isinstance(images, Tensor):
        return images
    sizes = {tuple(image.shape) for image in images}
    if len(sizes) != 1:
        raise InvalidInput(
            f"The batch has images of shapes {sorted(sizes)}; batched training needs equal ones. Tile them."
        )
    return torch.stack(list(images))


def _listed(images: Tensor | Sequence[Tensor]) -> list[Tensor]:
    return [image if image.is_floating_point() else image.float() / 255 for image in images]


def _scaled(targets: PaddedTargets, before: tuple[int, int], after: tuple[int, int]) -> PaddedTargets:
    """In pixels of the resized image; boxes without area count as padding, they would poison the regression."""
    high, wide = after[0] / before[0], after[1] / before[1]
    boxes = torch.stack(
        [side * factor for side, factor in zip(targets.boxes.unbind(-1), (wide, high) * 2, strict=True)], -1
    )
    real = targets.valid & (boxes[..., 2] > boxes[..., 0]) & (boxes[..., 3] > boxes[..., 1])
    return PaddedTargets(boxes, targets.labels, real)
