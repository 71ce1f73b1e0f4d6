"""Pictures of one size, looked at together on a GPU: one copy there, one pass, one copy back.

Results are the model's own up to rounding; `batched_detect` says what bounds them.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torchvision.models.detection import FasterRCNN

from resolute.domain.errors import NotSupported
from resolute.vision.batched.inference import batched_detect
from resolute.vision.batched.model import batched

Pictures = Sequence[NDArray[np.uint8]]


class BatchDetector:
    """A detector for pictures of equal shape; its outputs are torchvision's, on the host."""

    def __init__(self, model: FasterRCNN, device: torch.device) -> None:
        # Compiling takes longer than most callers live.
        self._model = batched(model, compile=False).eval()
        self._device = device

    def __call__(self, pictures: Pictures) -> list[dict[str, Tensor]]:
        pixels = torch.from_numpy(np.stack(pictures)).to(self._device).permute(0, 3, 1, 2)
        found = batched_detect(self._model, pixels)
        boxes, scores, labels = found.boxes.cpu(), found.scores.cpu(), found.labels.cpu()
        counts = found.valid.sum(dim=1).tolist()
        rows = zip(boxes, scores, labels, counts, strict=True)
        # Best first: the valid ones come before the others.
        return [{"boxes": box[:n], "scores": score[:n], "labels": label[:n]} for box, score, label, n in rows]


def batch_detector(model: nn.Module, device: torch.device) -> BatchDetector | None:
    """None where it gains nothing (a processor) or the model is of another kind."""
    is_known = isinstance(model, FasterRCNN) and len(model.transform.min_size) == 1
    if not is_known or device.type != "cuda":
        return None
    try:
        return BatchDetector(model, device)
    except NotSupported:  # masks
        return None


def are_equal(pictures: Pictures) -> bool:
    return len({picture.shape for picture in pictures}) == 1
