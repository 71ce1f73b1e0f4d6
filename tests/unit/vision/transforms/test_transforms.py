"""Boxes and masks follow their pictures through every augmentation, and the same draw gives the same result."""

from typing import Any

import numpy as np
import pytest
import torch
from torchvision.ops import masks_to_boxes

from resolute.domain.errors import InvalidInput
from resolute.vision.transforms import augmentation_names, make_transform
from resolute.vision.transforms.geometric import HorizontalFlip, QuarterTurns, ScaleJitter, VerticalFlip, ZoomOut
from resolute.vision.transforms.mosaic import Mosaic
from resolute.vision.transforms.on_device import BatchAugmentation
from resolute.vision.transforms.presets import augmentation_list

BOX = [10, 20, 30, 28]


def marked(height: int = 60, width: int = 80) -> tuple[torch.Tensor, dict[str, Any]]:
    """A dark picture with one bright rectangle, its box and its mask."""
    image = torch.full((3, height, width), 20, dtype=torch.uint8)
    x1, y1, x2, y2 = BOX
    image[:, y1:y2, x1:x2] = 240
    mask = torch.zeros(1, height, width, dtype=torch.uint8)
    mask[:, y1:y2, x1:x2] = 1
    target = {
        "boxes": torch.tensor([BOX], dtype=torch.float32),
        "labels": torch.tensor([2]),
        "area": torch.tensor([160.0]),
        "iscrowd": torch.tensor([0]),
        "image_id": 5,
        "masks": mask,
    }
    return image, target


def draw(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def bright_box(image: torch.Tensor) -> list[float]:
    (x1, y1, x2, y2) = masks_to_boxes(image.float().mean(dim=0, keepdim=True) > 180)[0].tolist()
    return [x1, y1, x2 + 1, y2 + 1]


@pytest.mark.parametrize("step", [HorizontalFlip(1.0), VerticalFlip(1.0), QuarterTurns(), ZoomOut(1.0)])
@pytest.mark.parametrize("seed", range(4))
def test_the_box_and_the_mask_stay_on_the_object(step: Any, seed: int) -> None:
    image, target = step(*marked(), draw(seed))

    assert target["boxes"][0].tolist() == bright_box(image)
    assert target["masks"].shape[-2:] == image.shape[-2:]
    assert target["boxes"][0].tolist() == bright_box(target["masks"].repeat(3, 1, 1) * 255)


@pytest.mark.parametrize("seed", range(6))
def test_scaling_keeps_the_frame_and_moves_the_box(seed: int) -> None:
    image, target = ScaleJitter()(*marked(), draw(seed))

    assert image.shape == (3, 60, 80)
    if len(target["boxes"]):
        np.testing.assert_allclose(target["boxes"][0], bright_box(image), atol=1.5)


@pytest.mark.parametrize("name", [name for name in augmentation_names() if name != "mosaic"])
@pytest.mark.parametrize("seed", range(8))
def test_every_augmentation_leaves_boxes_inside_and_repeats_by_its_draw(name: str, seed: int) -> None:
    transform = make_transform([name])

    image, target = transform(*marked(), draw(seed))
    again, same = transform(*marked(), draw(seed))

    height, width = image.shape[-2:]
    assert image.dtype == torch.uint8
    assert torch.equal(image, again)
    assert torch.equal(target["boxes"], same["boxes"])
    rows = {len(target[key]) for key in ("boxes", "labels", "area", "iscrowd", "masks")}
    assert len(rows) == 1
    for x1, y1, x2, y2 in target["boxes"].tolist():
        assert 0 <= x1 < x2 <= width
        assert 0 <= y1 < y2 <= height


def test_none_leaves_everything_as_it_is() -> None:
    image, target = make_transform(["none"])(*marked(), draw())

    assert torch.equal(image, marked()[0])
    assert target["boxes"].tolist() == [BOX]


def test_an_augmentation_does_not_change_what_it_was_given() -> None:
    image, target = marked()

    make_transform(["ssd", "rot90", "vflip"])(image, target, draw(3))

    assert torch.equal(image, marked()[0])
    assert target["boxes"].tolist() == [BOX]


def test_a_mosaic_joins_the_objects_of_four_pictures() -> None:
    mosaic = Mosaic(lambda _: marked(), chance=1.0)

    joined = [mosaic(*marked(), draw(seed)) for seed in range(20)]

    assert all(image.shape == (3, 60, 80) for image, _ in joined)
    counts = [len(target["boxes"]) for _, target in joined]
    assert max(counts) > 1
    for image, target in joined:
        assert len(target["labels"]) == len(target["boxes"]) == len(target["masks"])
        for x1, y1, x2, y2 in target["boxes"].int().tolist():
            assert image[0, y1:y2, x1:x2].float().mean() > 200


def test_a_mosaic_needs_samples_to_join() -> None:
    with pytest.raises(InvalidInput, match="needs a dataset"):
        make_transform(["mosaic"])


@pytest.mark.parametrize(
    ("given", "names"), [("hflip", ["hflip"]), ("hflip, rot90", ["hflip", "rot90"]), (["ssd"], ["ssd"]), (None, [])]
)
def test_augmentations_are_named_alone_in_a_list_or_with_commas(given: Any, names: list[str]) -> None:
    assert augmentation_list(given) == names


def test_an_unknown_augmentation_is_refused_with_the_closest() -> None:
    with pytest.raises(InvalidInput, match=r"'hflp' is not known. Did you mean hflip\?"):
        augmentation_list(["hflp"])


# ---------------------------------------------------------------------------------------------- whole batches


def batch(count: int = 6) -> tuple[list[torch.Tensor], list[dict[str, Any]]]:
    pairs = [marked() for _ in range(count)]
    return [image for image, _ in pairs], [{k: v for k, v in t.items() if k != "masks"} for _, t in pairs]


def test_a_batch_is_flipped_image_by_image_with_its_boxes() -> None:
    augment = BatchAugmentation(("hflip", "vflip"), seed=1)

    pixels, targets = augment(*batch(), step=0)

    assert pixels.shape == (6, 3, 60, 80)
    assert float(pixels.max()) <= 1
    boxes = [tuple(each["boxes"][0].tolist()) for each in targets]
    assert len(set(boxes)) > 1
    for image, box in zip(pixels, boxes, strict=True):
        assert list(box) == bright_box(image * 255)


def test_a_batch_is_brought_to_the_models_size_with_its_boxes() -> None:
    pixels, targets = BatchAugmentation((), seed=0, side=120)(*batch(2), step=0)

    assert pixels.shape == (2, 3, 120, 120)
    assert targets[0]["boxes"][0].tolist() == [15, 40, 45, 56]


def test_steps_and_ranks_draw_apart_and_repeat() -> None:
    augment = BatchAugmentation(("photometric",), seed=5)

    first, again, later, other = (
        augment(*batch(), step=step, rank=rank)[0] for step, rank in ((0, 0), (0, 0), (1, 0), (0, 1))
    )

    assert torch.equal(first, again)
    assert not torch.equal(first, later)
    assert not torch.equal(first, other)


def test_batches_of_mixed_sizes_and_unknown_names_are_refused() -> None:
    images, targets = batch(2)
    images[1] = images[1][:, :30]

    with pytest.raises(InvalidInput, match="images of one size"):
        BatchAugmentation((), seed=0)(images, targets, step=0)
    with pytest.raises(InvalidInput, match="not 'mosaic'"):
        BatchAugmentation(("mosaic",), seed=0)
