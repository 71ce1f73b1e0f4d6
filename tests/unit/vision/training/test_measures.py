"""Metrics over ranks: every image once, pace over all."""

import pytest
import torch

from resolute.vision.data.fake import fake_labels
from resolute.vision.data.labels import LabelTable
from resolute.vision.measures import CocoMetrics, Pace


@pytest.fixture
def table() -> LabelTable:
    return fake_labels("val", images=4, classes=2, side=64, seed=3)


def truth(table: LabelTable, index: int) -> dict[str, torch.Tensor]:
    """What a perfect model says."""
    sample = table.samples[index]
    boxes = torch.from_numpy(sample.boxes)
    return {"boxes": boxes, "labels": torch.from_numpy(sample.labels), "scores": torch.full((len(boxes),), 0.9)}


def nothing() -> dict[str, torch.Tensor]:
    return {"boxes": torch.zeros(0, 4), "labels": torch.zeros(0, dtype=torch.int64), "scores": torch.zeros(0)}


def test_a_perfect_model_split_over_two_ranks_scores_one(table: LabelTable) -> None:
    ranks = [CocoMetrics(table, has_masks=False) for _ in range(2)]
    for index, sample in enumerate(table.samples):
        ranks[index % 2].update([sample.image_id], [truth(table, index)])

    states = [rank.per_slot_reduce() for rank in ranks]
    numbers = [rank.cross_slot_reduce(states) for rank in ranks]

    assert numbers[0] == numbers[1]
    assert numbers[0]["mAP"] == pytest.approx(1.0)


def test_an_image_that_two_ranks_saw_counts_once(table: LabelTable) -> None:
    def measured(copies: int) -> dict[str, float]:
        ranks = [CocoMetrics(table, has_masks=False) for _ in range(copies)]
        for rank in ranks:
            for index, sample in enumerate(table.samples):
                rank.update([sample.image_id], [truth(table, index) if index else nothing()])
        return ranks[0].cross_slot_reduce([rank.per_slot_reduce() for rank in ranks])

    assert measured(1) == measured(2)
    assert 0 < measured(1)["mAP"] < 1


def test_a_new_validation_starts_from_nothing(table: LabelTable) -> None:
    metrics = CocoMetrics(table, has_masks=False)
    metrics.update([table.samples[0].image_id], [truth(table, 0)])

    metrics.reset()

    assert metrics.per_slot_reduce() == {}


def test_pace_is_the_images_of_all_ranks_over_the_longest_time() -> None:
    pace = Pace()
    pace.add(6)
    pace.add(2)

    images, seconds = pace.per_slot_reduce()

    assert images == 8
    assert seconds > 0
    assert pace.cross_slot_reduce([(8, 2.0), (8, 4.0)]) == 4.0
    pace.reset()
    assert pace.per_slot_reduce()[0] == 0
