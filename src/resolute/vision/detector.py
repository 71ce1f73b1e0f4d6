"""A loaded detector: arrays in, `Detections` out. Batches of images of any sizes, on CPU or GPU."""

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from resolute.domain.errors import InvalidInput
from resolute.imagery.preprocessing import Preprocessing
from resolute.vision.batched.batch_detector import are_equal, batch_detector
from resolute.vision.checkpoint import read_record, read_weights
from resolute.vision.detections import ClassName, Detections
from resolute.vision.zoo.build import architecture, build_model
from resolute.vision.zoo.normalization import set_normalization
from resolute.vision.zoo.thresholds import score_threshold_of, with_score_threshold

_MASK_THRESHOLD = 0.5
_LISTED = 4
_PRECISIONS = {"fp32": None, "bf16": torch.bfloat16, "fp16": torch.float16}


def load_detector(
    folder: str | Path, device: str | torch.device = "cpu", *, precision: str = "fp32", batch_size: int = 8
) -> "TorchDetector":
    """The detector of a checkpoint folder, ready to use. `precision`: fp32, or bf16 and fp16 on a GPU."""
    place = Path(folder)
    record = read_record(place)
    model = build_model(record.architecture, record.num_classes, **record.options)
    _fill(model, read_weights(place), place)
    if record.preprocessing is not None:
        set_normalization(model, record.preprocessing)
    return TorchDetector(
        model,
        record.classes,
        device=device,
        has_masks=architecture(record.architecture).has_masks,
        precision=precision,
        batch_size=batch_size,
        preprocessing=record.preprocessing,
    )


class TorchDetector:
    """A model of the zoo behind the `Detector` protocol. One call at a time; others wait."""

    def __init__(
        self,
        model: nn.Module,
        classes: Sequence[ClassName],
        *,
        device: str | torch.device = "cpu",
        has_masks: bool = False,
        precision: str = "fp32",
        batch_size: int = 8,
        preprocessing: Preprocessing | None = None,
    ) -> None:
        if precision not in _PRECISIONS:
            raise InvalidInput(f"precision is {precision!r}; use one of {', '.join(_PRECISIONS)}.")
        if batch_size < 1:
            raise InvalidInput(f"batch_size is {batch_size}; use at least 1.")
        self._device = _usable(device)
        self._model = model.eval().to(self._device)
        self._classes = tuple(classes)
        self._has_masks = has_masks
        self._dtype = _PRECISIONS[precision]
        self._batch_size = batch_size
        self._preprocessing = preprocessing
        self._lock = threading.Lock()
        self._batched = batch_detector(self._model, self._device)

    @property
    def classes(self) -> tuple[ClassName, ...]:
        return self._classes

    @property
    def has_masks(self) -> bool:
        return self._has_masks

    @property
    def preprocessing(self) -> Preprocessing | None:
        return self._preprocessing

    @property
    def device(self) -> torch.device:
        return self._device

    @property
    def model(self) -> nn.Module:
        return self._model

    @property
    def score_threshold(self) -> float:
        """Below it the model says nothing unless it is asked for more."""
        return score_threshold_of(self._model)

    def detect(self, images: Sequence[NDArray[np.uint8]], *, score_threshold: float | None = None) -> list[Detections]:
        wanted = self.score_threshold if score_threshold is None else score_threshold
        for place, image in enumerate(images):
            _check(image, place)
        found: list[Detections] = []
        with self._lock, torch.inference_mode(), with_score_threshold(self._model, wanted), self._autocast():
            for start in range(0, len(images), self._batch_size):
                found.extend(
                    as_detections(output) for output in self._outputs(images[start : start + self._batch_size])
                )
        return found

    def _outputs(self, images: Sequence[NDArray[np.uint8]]) -> list[dict[str, torch.Tensor]]:
        if self._batched is not None and are_equal(images):
            return self._batched(images)
        outputs: list[dict[str, torch.Tensor]] = self._model([self._as_tensor(image) for image in images])
        return outputs

    def _as_tensor(self, image: NDArray[np.uint8]) -> torch.Tensor:
        # Bytes travel to the device and become numbers there: a quarter of the traffic.
        pixels = torch.from_numpy(np.ascontiguousarray(image)).to(self._device)
        return pixels.permute(2, 0, 1).float().div_(255)

    def _autocast(self) -> AbstractContextManager[Any]:
        if self._dtype is None:
            return nullcontext()
        return torch.autocast(self._device.type, dtype=self._dtype)


def as_detections(output: dict[str, torch.Tensor]) -> Detections:
    """One image's output of a torchvision detector as plain arrays, best first."""
    scores = output["scores"].float()
    order = scores.argsort(descending=True, stable=True)
    masks = output.get("masks")
    return Detections(
        boxes=output["boxes"].float()[order].cpu().numpy(),
        scores=scores[order].cpu().numpy(),
        labels=output["labels"].long()[order].cpu().numpy(),
        masks=None if masks is None else (masks[order, 0] > _MASK_THRESHOLD).cpu().numpy(),
    )


def _fill(model: nn.Module, weights: dict[str, torch.Tensor], place: Path) -> None:
    try:
        model.load_state_dict(weights)
    except RuntimeError as problem:
        lines = [line.strip() for line in str(problem).splitlines()[1:]]
        raise InvalidInput(
            f"The weights in {place} do not fit the model that its record describes: {' '.join(lines)[:300]}. "
            "The record and the weights are of different models; fetch the checkpoint again."
        ) from problem


def _usable(device: str | torch.device) -> torch.device:
    try:
        chosen = torch.device(device)
    except RuntimeError as problem:
        raise InvalidInput(f"There is no device {device!r}. Use cpu, cuda or cuda:0.") from problem
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise InvalidInput(f"Device {device} was asked for, but torch sees no GPU here. Use cpu.")
    return chosen


def _check(image: NDArray[np.uint8], place: int) -> None:
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
        raise InvalidInput(
            f"Image {place} has shape {image.shape} and type {image.dtype}; "
            "give height x width x 3 in RGB, as 8-bit numbers (uint8)."
        )
    if 0 in image.shape:
        raise InvalidInput(f"Image {place} has no pixels: its shape is {image.shape}.")
