"""The batched model is the given model: same parameters and names, same evaluation, and training that works."""

from collections.abc import Callable
from copy import deepcopy

import pytest
import torch
from torch import Tensor
from torchvision.models.detection import FasterRCNN, maskrcnn_resnet50_fpn

from resolute.domain.errors import InvalidInput, NotSupported
from resolute.vision.batched import TrainStep, batched, first_come, pad_targets

Batch = Callable[..., tuple[Tensor, list[dict[str, Tensor]]]]
Detector = Callable[..., FasterRCNN]


def test_parameters_and_their_names_are_the_models_own(detector: Detector) -> None:
    model = detector()

    fast = batched(model, compile=False)

    assert fast.state_dict().keys() == model.state_dict().keys()
    assert all(a is b for a, b in zip(fast.parameters(), model.parameters(), strict=True))


def test_evaluation_is_the_models_own(detector: Detector, batch: Batch) -> None:
    model = detector()
    images, _ = batch()
    fast = batched(model, compile=False).eval()

    with torch.no_grad():
        found, expected = fast(images), model(list(images))

    assert not model.training
    assert torch.equal(found[0]["boxes"], expected[0]["boxes"])


def test_steps_of_training_give_the_losses_of_torchvisions_loop(detector: Detector, batch: Batch) -> None:
    reference = detector(frozen=False)
    fast = batched(deepcopy(reference), max_targets=8, compile=False, priority=first_come)
    images, targets = batch()
    theirs = torch.optim.SGD(reference.parameters(), lr=0.01, momentum=0.9)
    step = TrainStep(fast, torch.optim.SGD(fast.parameters(), lr=0.01, momentum=0.9), amp=None)

    for _ in range(3):
        losses = step(images, pad_targets(targets, 8))
        expected = reference(list(images), targets)
        theirs.zero_grad()
        sum(expected.values()).backward()
        theirs.step()

    assert losses.keys() == expected.keys()
    for name, value in expected.items():
        assert losses[name].item() == pytest.approx(value.item(), rel=2e-2), name


def test_gradients_are_clipped_to_the_norm_asked_for(detector: Detector, batch: Batch) -> None:
    fast = batched(detector(), max_targets=8, compile=False)
    images, targets = batch()
    step = TrainStep(fast, torch.optim.SGD(fast.parameters(), lr=0.0), amp=None, max_grad_norm=0.01)

    step(images, pad_targets(targets, 8))

    norms = [p.grad.norm() for p in fast.parameters() if p.grad is not None]
    assert torch.stack(norms).norm() == pytest.approx(0.01, rel=1e-3)


def test_a_pass_for_shapes_leaves_batch_statistics_alone(detector: Detector, batch: Batch) -> None:
    fast = batched(detector(frozen=False), compile=False)
    before = fast.backbone.body.bn1.running_mean.clone()

    fast.pyramid_of(batch()[0], (64, 64))

    assert torch.equal(fast.backbone.body.bn1.running_mean, before)
    assert fast.backbone.training


def test_images_of_different_sizes_are_refused(detector: Detector) -> None:
    fast = batched(detector(), compile=False)

    with pytest.raises(InvalidInput, match=r"\(3, 32, 32\), \(3, 48, 48\)"):
        fast([torch.rand(3, 48, 48), torch.rand(3, 32, 32)], [])


def test_training_without_targets_is_refused(detector: Detector) -> None:
    with pytest.raises(InvalidInput, match="Training needs targets"):
        batched(detector(), compile=False)(torch.rand(1, 3, 48, 48))


def test_a_model_with_masks_is_refused() -> None:
    with pytest.raises(NotSupported, match="masks or keypoints"):
        batched(maskrcnn_resnet50_fpn(weights=None, weights_backbone=None))


def test_a_model_that_resizes_at_random_is_refused(detector: Detector, batch: Batch) -> None:
    model = detector()
    model.transform.min_size = (64, 80)
    images, targets = batch()

    with pytest.raises(NotSupported, match=r"one of \(64, 80\)"):
        batched(model, compile=False)(images, targets)
