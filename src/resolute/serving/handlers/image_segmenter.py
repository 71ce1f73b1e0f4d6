"""`image_segmenter`: for each pixel of the 224 x 224 centre its class and that class's probability."""

from typing import Any

import torch

from resolute.serving.handlers.image_classifier import IMAGENET
from resolute.serving.handlers.vision import VisionHandler


class ImageSegmenter(VisionHandler):
    image_processing = IMAGENET

    def postprocess(self, data: Any) -> Any:
        """[height][width][class, probability] per picture. Models answer {"out": ...} or the tensor itself."""
        logits = data["out"] if isinstance(data, dict) else data
        return [self._classes(each).tolist() for each in logits]

    def _classes(self, logits: torch.Tensor) -> torch.Tensor:
        best = torch.softmax(logits, dim=0).max(dim=0)
        return torch.stack([best.indices.to(best.values.dtype), best.values], dim=-1)
