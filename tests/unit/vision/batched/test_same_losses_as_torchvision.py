"""With the same sample, losses and gradients are torchvision's to rounding."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
import torch
from torch import Tensor
from torchvision.models.detection import FasterRCNN
from torchvision.models.detection.rpn import RPNHead

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


def test_a_head_of_two_convolutions_trains_through_its_dense_pass(detector: Detector, batch: Batch) -> None:
    torch.manual_seed(4)
    reference = detector(rpn_head=RPNHead(256, 3, conv_depth=2))
    model = batched(deepcopy(reference), max_targets=9, compile=False, priority=first_come)
    images, targets = batch()

    assert_same(losses_and_gradients(model, images, targets), losses_and_gradients(reference, list(images), targets))


def test_tiles_that_are_not_square_are_resized_and_padded_alike(detector: Detector, batch: Batch) -> None:
    reference = detector()
    model = batched(deepcopy(reference), max_targets=9, compile=False, priority=first_come)
    images, targets = batch()
    images = torch.nn.functional.pad(images, (0, 22, 0, 0))

    assert_same(losses_and_gradients(model, images, targets), losses_and_gradients(reference, list(images), targets))
