"""What a batch is told in one go is what torchvision says image by image."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torchvision.models.detection import FasterRCNN

from resolute.vision.batched import batched, batched_detect
from resolute.vision.batched.batch_detector import BatchDetector, batch_detector

Batch = Callable[..., tuple[Tensor, list[dict[str, Tensor]]]]
Detector = Callable[..., FasterRCNN]


@pytest.fixture
def model(detector: Detector) -> FasterRCNN:
    model = detector(
        rpn_pre_nms_top_n_test=100, rpn_post_nms_top_n_test=40, box_score_thresh=0.2, box_detections_per_img=20
    )
    torch.nn.init.normal_(model.roi_heads.box_predictor.cls_score.weight, std=0.5)
    return model.eval()


def test_detections_are_those_of_torchvision(model: FasterRCNN, batch: Batch) -> None:
    images, _ = batch()
    with torch.no_grad():
        expected = model(list(images))

    found = batched_detect(batched(model, compile=False).eval(), images).listed()

    assert sum(len(e["scores"]) for e in expected) > 10
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours["scores"], theirs["scores"], rtol=1e-3, atol=1e-5)
        torch.testing.assert_close(ours["boxes"], theirs["boxes"], rtol=1e-3, atol=1e-2)
        assert torch.equal(ours["labels"], theirs["labels"])


def test_bytes_and_floats_of_one_image_are_the_same_image(model: FasterRCNN, batch: Batch) -> None:
    pixels = (batch()[0] * 255).to(torch.uint8)
    fast = batched(model, compile=False).eval()

    from_bytes, from_floats = batched_detect(fast, pixels), batched_detect(fast, pixels.float() / 255)

    torch.testing.assert_close(from_bytes.scores, from_floats.scores)


def test_an_image_without_detections_has_none_that_are_valid(model: FasterRCNN, batch: Batch) -> None:
    model.roi_heads.score_thresh = 0.999
    images, _ = batch()

    found = batched_detect(batched(model, compile=False).eval(), images)

    assert not found.valid.any()
    assert [len(f["boxes"]) for f in found.listed()] == [0, 0, 0]


def test_pictures_looked_at_together_give_the_detections_of_each_alone(model: FasterRCNN, batch: Batch) -> None:
    pictures = [image.permute(1, 2, 0).numpy() for image in (batch()[0] * 255).to(torch.uint8)]
    with torch.no_grad():
        expected = model([torch.from_numpy(picture).permute(2, 0, 1) / 255 for picture in pictures])

    found = BatchDetector(model, torch.device("cpu"))(pictures)

    assert sum(len(e["scores"]) for e in expected) > 10
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours["boxes"], theirs["boxes"], rtol=1e-3, atol=1e-2)
        torch.testing.assert_close(ours["scores"], theirs["scores"], rtol=1e-3, atol=1e-5)
        assert torch.equal(ours["labels"], theirs["labels"])


def test_models_of_another_kind_are_left_as_they_are() -> None:
    other = torch.nn.Linear(1, 1)

    assert batch_detector(other, torch.device("cuda")) is None


def test_on_a_processor_nothing_changes(model: FasterRCNN) -> None:
    assert batch_detector(model, torch.device("cpu")) is None
