"""Splits: fixed by the seed, exact in size, and fair to rare classes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.domain.errors import InvalidInput
from resolute.imagery.split import on_one_side, shuffled, stratified

image_classes = st.lists(st.frozensets(st.integers(0, 15), max_size=5), min_size=1, max_size=60)
rates = st.floats(0.05, 0.95)


@given(image_classes, rates, st.integers(0, 5))
def test_every_image_is_on_exactly_one_side(classes: list[frozenset[int]], rate: float, seed: int) -> None:
    train, val = stratified(classes, rate, seed=seed)

    assert sorted(train + val) == list(range(len(classes)))


@given(image_classes, rates)
def test_the_training_side_has_the_size_asked_for(classes: list[frozenset[int]], rate: float) -> None:
    train, val = stratified(classes, rate)

    wanted = int(len(classes) * rate)
    if len(classes) >= 2:
        wanted = min(max(wanted, 1), len(classes) - 1)
    assert len(train) == wanted
    assert len(val) == len(classes) - wanted


@given(image_classes, rates, st.integers(0, 5))
def test_the_same_seed_gives_the_same_split(classes: list[frozenset[int]], rate: float, seed: int) -> None:
    assert stratified(classes, rate, seed=seed) == stratified(classes, rate, seed=seed)


def test_another_seed_gives_another_split() -> None:
    classes = [frozenset({place % 7}) for place in range(70)]

    assert stratified(classes, 0.75, seed=1) != stratified(classes, 0.75, seed=2)


@given(st.integers(2, 30), st.integers(0, 20))
def test_a_class_of_two_images_among_many_common_ones_reaches_both_sides(rare_classes: int, seed: int) -> None:
    classes = [frozenset({100}) for _ in range(200)]
    for kind in range(rare_classes):
        classes[6 * kind] = classes[6 * kind + 3] = frozenset({kind, 100})

    split = stratified(classes, 0.75, seed=seed)

    assert on_one_side(classes, split) == []


def test_a_class_of_one_image_is_named_as_being_on_one_side() -> None:
    classes = [frozenset({1}), frozenset({1}), frozenset({1, 2}), frozenset({1})]

    split = stratified(classes, 0.5)

    assert on_one_side(classes, split) == [2]


def test_a_common_class_is_shared_out_by_the_rate() -> None:
    classes = [frozenset({place % 2}) for place in range(400)]

    train, _ = stratified(classes, 0.75)

    assert sum(place % 2 for place in train) == 150


def test_parity_is_the_order_of_numpys_old_generator() -> None:
    train, val = shuffled(8, 0.75)

    assert train == [6, 2, 1, 7, 3, 0]
    assert val == [5, 4]


def test_parity_cuts_the_rate_down_to_a_whole_number() -> None:
    train, val = shuffled(846, 0.75)

    assert (len(train), len(val)) == (634, 212)


@pytest.mark.parametrize("rate", [-0.1, 1.1, 75])
def test_a_rate_outside_of_zero_to_one_is_refused(rate: float) -> None:
    with pytest.raises(InvalidInput, match=f"rate is {rate}"):
        stratified([frozenset()], rate)
    with pytest.raises(InvalidInput, match=f"rate is {rate}"):
        shuffled(1, rate)


def test_all_or_nothing_is_a_split_too() -> None:
    classes = [frozenset({1})] * 4

    assert stratified(classes, 1.0) == ([0, 1, 2, 3], [])
    assert stratified(classes, 0.0) == ([], [0, 1, 2, 3])
    assert stratified([], 0.5) == ([], [])
