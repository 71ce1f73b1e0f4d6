"""`object_detector`: boxes as [{"<class>": [x1, y1, x2, y2], "score": s}, ...], best first as the model gives them."""

from typing import Any

import torch
from torch import Tensor
from torchvision import transforms

from resolute.serving.detections import labelled
from resolute.serving.handlers.labels import label_of
from resolute.serving.handlers.vision import VisionHandler


class ObjectDetector(VisionHandler):
    image_processing = transforms.Compose([transforms.ToTensor()])
    threshold = 0.5

    def inference(self, data: Any, *args: Any, **kwargs: Any) -> Any:
        """Detection models take a list of pictures, whose sizes may differ."""
        images = [image.to(self.device) for image in data]
        with torch.inference_mode():
            if isinstance(self.model, torch.jit.ScriptModule):
                return [found for image in images for found in _detections(self.model(image[None]))]
            return _detections(self.model(images, *args, **kwargs))

    def postprocess(self, data: Any) -> Any:
        return [self._objects(found) for found in data]

    def _objects(self, found: dict[str, Tensor]) -> list[dict[str, Any]]:
        keep = found["scores"] >= self.threshold
        rows = zip(*(found[key][keep].tolist() for key in ("labels", "boxes", "scores")), strict=True)
        return [labelled(label_of(label, self.mapping), box, score) for label, box, score in rows]


def _detections(answer: Any) -> Any:
    """Scripted detection models answer (losses, detections)."""
    return answer[1] if isinstance(answer, tuple) else answer
