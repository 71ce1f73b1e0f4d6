"""`VisionHandler`: pictures to tensors, in batches of mixed sizes; integrated gradients as explanation."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import torch
from PIL import Image
from torch import Tensor

from resolute.domain.errors import InvalidInput
from resolute.imagery.preprocessing import read_record
from resolute.serving.handlers.base import BaseHandler
from resolute.serving.handlers.context import Context
from resolute.serving.images import MAX_PIXELS, picture_of
from resolute.serving.trained_decoder import TrainedDecoder

_STEPS = 15
_NO_LIMIT = 1 << 62


class ImageBatch(list[Tensor]):
    """Pictures of different sizes. Has `to`, so that code written for one stacked tensor can move it."""

    def to(self, *args: Any, **kwargs: Any) -> "ImageBatch":
        return ImageBatch(image.to(*args, **kwargs) for image in self)


class VisionHandler(BaseHandler):
    image_processing: Any = None
    """PIL picture (RGB) to tensor. Set by subclasses."""
    max_pixels = MAX_PIXELS
    _decoder: TrainedDecoder | None = None
    _is_grey = False
    """The model takes one channel: pictures are grey, whatever their file holds."""

    def initialize(self, context: Context) -> None:
        super().initialize(context)
        if not context.system_properties.get("limit_max_image_pixels", True):
            self.max_pixels = _NO_LIMIT
        made = read_record(Path(context.system_properties["model_dir"]))
        self._decoder = TrainedDecoder(made) if made is not None else None
        self._is_grey = _channels(self.model) == 1

    def preprocess(self, data: Any) -> Any:
        """One tensor where all pictures come out alike, an `ImageBatch` otherwise. Lists of numbers count as given."""
        return stacked([self._tensor(row, f"instance {index}") for index, row in enumerate(data)]).to(self.device)

    def inference(self, data: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(data, ImageBatch):
            return super().inference(data, *args, **kwargs)
        answers = [super(VisionHandler, self).inference(image[None], *args, **kwargs) for image in data]
        return joined(answers)

    def get_insights(self, tensor_data: Any, raw_data: Any, target: int = 0) -> Any:
        """Integrated gradients against black: how much each value speaks for class `target`."""
        images = tensor_data if isinstance(tensor_data, ImageBatch) else list(tensor_data)
        return [self._attribution(image, target).tolist() for image in images]

    def _attribution(self, image: Tensor, target: int) -> Tensor:
        image = image.detach().clone()  # Out of inference mode, so that gradients can flow.
        shares = (torch.arange(_STEPS, device=image.device) + 0.5) / _STEPS
        path = (shares.view(-1, *[1] * image.ndim) * image).requires_grad_()
        with torch.enable_grad():
            score = self.model(path)[:, target].sum()
            gradient = torch.autograd.grad(score, path)[0]
        return gradient.mean(dim=0) * image

    def _tensor(self, row: Any, where: str) -> Tensor:
        value = row
        if isinstance(row, dict):
            value = next((row[key] for key in ("data", "body") if row.get(key) is not None), row)
        if isinstance(value, list):
            return _numbers(value, where)
        pixels = picture_of(value, where, max_pixels=self.max_pixels, decoder=self._decoder)
        picture = Image.fromarray(pixels)
        return cast(Tensor, self.image_processing(picture.convert("L") if self._is_grey else picture))


def _channels(model: Any) -> int | None:
    """Of the first convolution, as its weights say; None where there is none."""
    if not isinstance(model, torch.nn.Module):
        return None
    return next((int(weights.shape[1]) for weights in model.parameters() if weights.ndim == 4), None)


def stacked(images: list[Tensor]) -> Any:
    return torch.stack(images) if len({image.shape for image in images}) == 1 else ImageBatch(images)


def joined(answers: Iterable[Any]) -> Any:
    """Answers of one-picture batches as one answer."""
    rows = list(answers)
    if isinstance(rows[0], dict):
        return {key: stacked([row[key][0] for row in rows]) for key in rows[0]}
    if isinstance(rows[0], Tensor):
        return stacked([row[0] for row in rows])
    return [row[0] for row in rows]


def _numbers(value: list[Any], where: str) -> Tensor:
    try:
        return torch.tensor(value, dtype=torch.float32)
    except (ValueError, TypeError, RuntimeError) as error:
        raise InvalidInput(f"{where} is not a rectangular block of numbers: {error}.") from None
