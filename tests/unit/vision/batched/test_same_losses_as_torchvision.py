"""With the same sample, losses and gradients are torchvision's to rounding."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from torch import Tensor
from torchvision.models.detection import FasterRCNN

from resolute.vision.batched import batched, first_come, pad_targets

Batch = Callable[..., tuple[Tensor, list[dict[str, Tensor]]]]
Detector = Callable[..., FasterRCNN]


def losses_and_gradients(model: Any, images: Any, targets: Any) -> tuple[dict[str, float], dict[str, Tensor]]:
    losses = model(images, targets)
    sum(losses.values()).backward()
    gradients = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    return {name: loss.item() for name, loss in losses.items()}, gradients


def assert_same(ours: Any, theirs: Any) -> None:
    assert ours[0] == pytest.approx(theirs[0], rel=2e-4, abs=1e-6)
    assert ours[1].keys() == theirs[1].keys()
    for name, gradient in theirs[1].items():
        difference = (ours[1][name] - gradient).norm() / gradient.norm().clamp(min=1e-6)
        assert difference < 2e-3, f"{name}: relative difference {difference}"


@pytest.mark.parametrize("frozen", [True, False], ids=["frozen batch norm", "trainable batch norm"])
def test_losses_and_gradients_are_those_of_torchvision(detector: Detector, batch: Batch, frozen: bool) -> None:
    reference = detector(frozen=frozen)
    model = batched(deepcopy(reference), max_targets=9, compile=False, priority=first_come)
    images, targets = batch()

    ours = losses_and_gradients(model, images, pad_targets(targets, 9))
    theirs = losses_and_gradients(reference, list(images), targets)

    assert_same(ours, theirs)
