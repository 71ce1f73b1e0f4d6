"""Small detectors, and images and targets that every architecture takes."""

from typing import Any

import pytest
import torch
from torch import nn

from resolute.vision.zoo import build_model

LITE = "ssdlite320_mobilenet_v3_large"


@pytest.fixture
def lite() -> nn.Module:
    torch.manual_seed(0)
    return build_model(LITE, 4, min_size=96)


@pytest.fixture
def images() -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    return [torch.rand(3, 64, 64, generator=generator), torch.rand(3, 48, 80, generator=generator)]


@pytest.fixture
def targets(images: list[torch.Tensor]) -> list[dict[str, Any]]:
    boxes = torch.tensor([[4.0, 6.0, 30.0, 40.0], [20.0, 10.0, 45.0, 30.0]])
    return [
        {
            "boxes": boxes,
            "labels": torch.tensor([1, 3]),
            "masks": torch.ones(2, *image.shape[1:], dtype=torch.uint8),
        }
        for image in images
    ]
