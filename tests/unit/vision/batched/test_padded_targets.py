"""Targets become tensors of one size, and what does not fit is refused with the place and the remedy."""

import pytest
import torch

from resolute.domain.errors import InvalidInput
from resolute.vision.batched import PaddedTargets, pad_targets

BOX = [1.0, 2.0, 5.0, 8.0]


def target(*boxes: list[float]) -> dict[str, torch.Tensor]:
    return {"boxes": torch.tensor(boxes).reshape(-1, 4), "labels": torch.ones(len(boxes), dtype=torch.int64)}


def test_rows_beyond_an_images_boxes_are_marked_as_padding() -> None:
    padded = pad_targets([target(BOX, BOX), target()], max_targets=3)

    assert padded.valid.tolist() == [[True, True, False], [False, False, False]]
    assert padded.boxes[0, 1].tolist() == BOX
    assert padded.labels.tolist() == [[1, 1, 0], [0, 0, 0]]


def test_copying_overwrites_in_place() -> None:
    held, other = pad_targets([target()], 2), pad_targets([target(BOX)], 2)
    boxes = held.boxes

    held.copy_(other)

    assert held.boxes is boxes
    assert held.valid.tolist() == [[True, False]]
    assert isinstance(held.to("cpu"), PaddedTargets)


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ([], "no images"),
        ([target(), target(BOX, BOX, BOX)], r"targets\[1\]: 3 boxes, but at most 2 fit"),
        ([target([4.0, 4.0, 4.0, 9.0])], r"targets\[0\]: box \[4.0, 4.0, 4.0, 9.0\] has no area"),
        ([target() | {"labels": torch.ones(2)}], r"targets\[0\]: boxes of shape \(0, 4\) with 2 labels"),
    ],
)
def test_targets_that_do_not_fit_are_refused(targets: list[dict[str, torch.Tensor]], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        pad_targets(targets, max_targets=2)
