"""`image_classifier`: the five likeliest classes of a picture, as {name: probability}."""

from typing import Any

import torch
from torch import Tensor
from torchvision import transforms

from resolute.serving.handlers.labels import map_class_to_label
from resolute.serving.handlers.vision import ImageBatch, VisionHandler

IMAGENET = transforms.Compose(
    [
        transforms.Resize(256),
        transforms.CenterCrop(224),
        transforms.ToTensor(),
        transforms.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
    ]
)


class ImageClassifier(VisionHandler):
    topk = 5
    image_processing = IMAGENET

    def set_max_result_classes(self, topk: int) -> None:
        self.topk = topk

    def get_max_result_classes(self) -> int:
        return self.topk

    def postprocess(self, data: Any) -> Any:
        rows = data if isinstance(data, ImageBatch) else list(data)
        return [self._best(row) for row in rows]

    def _best(self, logits: Tensor) -> dict[str, float]:
        shares = torch.softmax(logits.reshape(-1), dim=0)
        best, classes = torch.topk(shares, min(self.topk, shares.numel()))
        answer: dict[str, float] = map_class_to_label([best.tolist()], self.mapping, [classes.tolist()])[0]
        return answer
