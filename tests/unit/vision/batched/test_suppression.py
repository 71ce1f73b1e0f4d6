"""Suppression of many problems at once keeps what torchvision keeps in each."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torchvision.ops import batched_nms

from resolute.vision.batched.nms import kept_best_first


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), threshold=st.sampled_from([0.3, 0.5, 0.7]), groups=st.integers(1, 3))
def test_what_stays_is_what_torchvision_keeps(seed: int, threshold: float, groups: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    corner = torch.rand(3, 50, 2, generator=generator) * 30
    boxes = torch.cat((corner, corner + 3 + torch.rand(3, 50, 2, generator=generator) * 25), dim=-1)
    valid = torch.rand(3, 50, generator=generator) > 0.2
    group = torch.randint(0, groups, (3, 50), generator=generator)
    scores = torch.linspace(1, 0, 50)

    kept = kept_best_first(boxes, valid, threshold, group)

    for row in range(3):
        real = torch.where(valid[row])[0]
        expected = batched_nms(boxes[row][real], scores[real], group[row][real], threshold)
        assert torch.equal(torch.where(kept[row])[0], real[expected].sort().values)


def test_boxes_that_are_not_valid_neither_stay_nor_suppress() -> None:
    boxes = torch.tensor([[[0.0, 0, 10, 10], [0.0, 0, 10, 10], [0.0, 0, 10, 11]]])

    kept = kept_best_first(boxes, torch.tensor([[False, True, True]]), 0.5)

    assert kept.tolist() == [[False, True, False]]
