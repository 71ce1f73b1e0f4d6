"""The order of an epoch is a function of seed and epoch; batches are of like shapes; rare classes come more often."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from resolute.vision.data.labels import Sample
from resolute.vision.data.order import aspect_groups, epoch_order, generator, repeated


def sample(*classes: int, width: int = 100, height: int = 100) -> Sample:
    count = len(classes)
    return Sample(
        image_id=1,
        file_name="a.png",
        width=width,
        height=height,
        boxes=np.zeros((count, 4), np.float32),
        labels=np.array(classes, np.int64),
        areas=np.zeros(count, np.float32),
        is_crowd=np.zeros(count, np.bool_),
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 60), st.integers(1, 9), st.integers(0, 2**40), st.integers(0, 50))
def test_every_sample_is_shown_once_whatever_the_groups(length: int, batch: int, seed: int, epoch: int) -> None:
    groups = np.arange(length) % 3

    order = epoch_order(np.arange(length), groups, batch_size=batch, seed=seed, epoch=epoch)

    assert sorted(order.tolist()) == list(range(length))


def test_epochs_differ_and_repeat_by_seed() -> None:
    def order(seed: int, epoch: int) -> list[int]:
        found = epoch_order(np.arange(50), np.zeros(50, np.int64), batch_size=4, seed=seed, epoch=epoch)
        return list(found.tolist())

    assert order(1, 0) == order(1, 0)
    assert order(1, 0) != order(1, 1)
    assert order(1, 0) != order(2, 0)


def test_whole_batches_have_one_shape() -> None:
    samples = [sample(1, width=100 if i % 3 else 300) for i in range(30)]
    groups = aspect_groups(samples, np.arange(30), 2)

    order = epoch_order(np.arange(30), groups, batch_size=4, seed=0, epoch=0)

    batches = [set(groups[order[start : start + 4]]) for start in range(0, 28, 4)]
    assert sum(len(batch) == 1 for batch in batches) == 7
    assert len(set(groups.tolist())) == 2
    assert set(aspect_groups(samples, np.arange(30), 0).tolist()) == {0}


def test_images_of_rare_classes_come_more_often_and_others_once() -> None:
    samples = [sample(1) for _ in range(96)] + [sample(1, 2) for _ in range(4)]

    counts = np.bincount(repeated(samples, 0.16, seed=0), minlength=100)

    assert (counts[:96] == 1).all()
    assert counts[96:].tolist() == [2, 2, 2, 2]


def test_draws_of_neighbouring_samples_are_unlike() -> None:
    def first(*numbers: int) -> Any:
        return generator(0, *numbers).random()

    assert len({first(2, epoch, index) for epoch in range(5) for index in range(5)}) == 25
    assert first(2, 1, 3) == first(2, 1, 3)
