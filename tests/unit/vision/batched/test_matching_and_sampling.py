"""Matching and balanced sampling decide as torchvision's Matcher and sampler do, for all images at once."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torchvision.models.detection._utils import Matcher
from torchvision.ops import box_iou

from resolute.vision.batched.matching import BACKGROUND, MATCHED, UNDECIDED, Thresholds, match
from resolute.vision.batched.sampling import at_random, balanced_sample, first_come


def some_boxes(count: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    corner = torch.randint(0, 40, (count, 2), generator=generator).float()
    return torch.cat((corner, corner + torch.randint(2, 25, (count, 2), generator=generator)), dim=1)


@pytest.mark.parametrize("claims", [True, False])
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), targets=st.integers(1, 6))
def test_each_box_gets_the_verdict_of_torchvisions_matcher(claims: bool, seed: int, targets: int) -> None:
    boxes, goals = some_boxes(60, seed), some_boxes(targets, seed + 1)
    reference = Matcher(0.5, 0.3, allow_low_quality_matches=claims)(box_iou(goals, boxes))

    padded = torch.cat((goals, torch.zeros(2, 4)))[None]
    found = match(boxes, padded, torch.tensor([[True] * targets + [False] * 2]), Thresholds(0.5, 0.3, claims))

    expected = torch.where(reference >= 0, MATCHED, torch.where(reference == -1, BACKGROUND, UNDECIDED))
    assert torch.equal(found.verdict[0], expected)
    assert torch.equal(found.target[0][reference >= 0], reference[reference >= 0])


def test_an_image_without_targets_is_all_background() -> None:
    boxes = some_boxes(20, 3)

    found = match(boxes, torch.zeros(2, 4, 4), torch.zeros(2, 4, dtype=torch.bool), Thresholds(0.7, 0.3, True))

    assert (found.verdict == BACKGROUND).all()


@settings(max_examples=40, deadline=None)
@given(positives=st.integers(0, 30), negatives=st.integers(0, 60), fraction=st.sampled_from([0.25, 0.5]))
def test_a_sample_holds_as_many_of_each_kind_as_torchvisions(positives: int, negatives: int, fraction: float) -> None:
    kinds = torch.cat((torch.ones(positives), torch.zeros(negatives), torch.full((7,), -1.0)))
    kinds = kinds[torch.randperm(len(kinds))][None]
    from_positives = min(positives, int(16 * fraction))
    from_negatives = min(negatives, 16 - from_positives)

    sample = balanced_sample(kinds == 1, kinds == 0, size=16, positive_fraction=fraction, priority=at_random)

    taken = sample.index[0][sample.taken[0]]
    assert sample.positive.sum() == from_positives
    assert len(taken) == from_positives + from_negatives == len(set(taken.tolist()))
    assert (kinds[0][sample.index[0][sample.positive[0]]] == 1).all()
    assert (kinds[0][sample.index[0][sample.taken[0] & ~sample.positive[0]]] == 0).all()


def test_every_candidate_is_drawn_equally_often() -> None:
    torch.manual_seed(3)
    positive = torch.zeros(4000, 12, dtype=torch.bool)
    positive[:, :4] = True

    sample = balanced_sample(positive, ~positive, size=6, positive_fraction=0.5, priority=at_random)

    counts = torch.bincount(sample.index.flatten(), minlength=12) / 4000
    torch.testing.assert_close(counts[:4], torch.full((4,), 3 / 4), atol=0.05, rtol=0)
    torch.testing.assert_close(counts[4:], torch.full((8,), 3 / 8), atol=0.05, rtol=0)


def test_first_come_takes_the_lowest_indices() -> None:
    positive = torch.tensor([[False, True, False, True, True, False, False]])

    sample = balanced_sample(positive, ~positive, size=4, positive_fraction=0.5, priority=first_come)

    assert sample.index.tolist() == [[1, 3, 0, 2]]
