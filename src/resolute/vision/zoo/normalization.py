"""The mean and spread by which a model shifts its pictures, which belong to how it was trained."""

from typing import Any

import msgspec
import torch
from torch import nn

from resolute.imagery.preprocessing import Preprocessing


def with_normalization(preprocessing: Preprocessing, model: nn.Module) -> Preprocessing:
    """What is known of the pictures, and what this model does to them first."""
    place = _place(model)
    if place is None:
        return preprocessing
    return msgspec.structs.replace(preprocessing, mean=_numbers(place.image_mean), spread=_numbers(place.image_std))


def set_normalization(model: nn.Module, preprocessing: Preprocessing) -> None:
    """As in training, whatever the defaults of the installed packages have become."""
    place = _place(model)
    for name, wanted in (("image_mean", preprocessing.mean), ("image_std", preprocessing.spread)):
        if place is None or wanted is None:
            continue
        held = getattr(place, name)
        is_tensor = isinstance(held, torch.Tensor)
        setattr(place, name, torch.tensor(wanted).view_as(held).to(held) if is_tensor else list(wanted))


def _place(model: nn.Module) -> Any:
    """Where a model keeps them: torchvision in its transform, others in themselves."""
    for each in (getattr(model, "transform", None), model):
        if hasattr(each, "image_mean"):
            return each
    return None


def _numbers(values: Any) -> tuple[float, ...]:
    plain = values.flatten().tolist() if isinstance(values, torch.Tensor) else values
    return tuple(round(float(value), 9) for value in plain)
