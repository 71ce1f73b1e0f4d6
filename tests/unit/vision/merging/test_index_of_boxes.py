"""The index below merging: nothing that overlaps may be missed, whatever the sizes and places."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from resolute.vision.merging import merge
from resolute.vision.merging.claims import chain, roots, suppress
from resolute.vision.merging.field import Field, Ranges
from resolute.vision.merging.overlap import Overlap

Floats = NDArray[np.float64]


def _boxes(seed: int, count: int, offset: float, spread: float, largest: float) -> Floats:
    rng = np.random.default_rng(seed)
    corners = offset + rng.uniform(0, spread, (count, 2))
    return np.concatenate([corners, corners + np.exp2(rng.uniform(-3, largest, (count, 2)))], axis=1)


def _overlapping(boxes: Floats, labels: NDArray[np.int64]) -> set[tuple[int, int]]:
    """Every pair of one label that shares some area, looked at one by one."""
    low = np.maximum(boxes[:, None, :2], boxes[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], boxes[None, :, 2:])
    touches = (high > low).all(axis=2) & (labels[:, None] == labels[None, :])
    return set(map(tuple, np.argwhere(touches).tolist()))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**31),
    st.integers(1, 80),
    st.sampled_from([0.0, -500.0, 1e6, -3.25]),
    st.sampled_from([0.0, 10.0, 1000.0, 1e5]),
    st.sampled_from([2.0, 6.0, 13.0]),
)
def test_every_box_that_overlaps_is_found(seed: int, count: int, offset: float, spread: float, largest: float) -> None:
    boxes = _boxes(seed, count, offset, spread, largest)
    labels = np.random.default_rng(seed).integers(0, 3, count)
    field = Field(boxes, labels, np.arange(count))

    asker, place = field.ask(np.arange(count)).pairs()

    found = set(zip(asker.tolist(), field.members[place].tolist(), strict=True))
    assert _overlapping(boxes, labels) <= found
    assert all(labels[a] == labels[b] for a, b in found)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31), st.integers(2, 60), st.sampled_from([0.1, 0.5, 0.8, 1.0]))
def test_a_narrower_question_still_finds_every_match(seed: int, count: int, threshold: float) -> None:
    boxes = _boxes(seed, count, 0.0, 40.0, 6.0)
    boxes[count // 2] = boxes[0]
    labels = np.zeros(count, np.int64)
    overlap = Overlap(boxes, labels, is_ios=False, threshold=threshold)
    every_left, every_right = (side.ravel() for side in np.indices((count, count)))
    expected = overlap.matches(every_left, every_right)

    field = overlap.field(np.arange(count))
    asker, place = field.ask(np.arange(count)).pairs()

    found = set(zip(asker.tolist(), field.members[place].tolist(), strict=True))
    assert set(zip(every_left[expected].tolist(), every_right[expected].tolist(), strict=True)) <= found


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**31),
    st.integers(1, 80),
    st.sampled_from([0.0, -500.0, 1e6]),
    st.sampled_from([0.0, 10.0, 1000.0]),
    st.sampled_from([2.0, 6.0, 13.0]),
)
def test_joining_an_index_with_itself_finds_each_pair_once(
    seed: int, count: int, offset: float, spread: float, largest: float
) -> None:
    boxes = _boxes(seed, count, offset, spread, largest)
    labels = np.random.default_rng(seed).integers(0, 3, count)
    field = Field(boxes, labels, np.arange(count))

    asker, place = field.join().pairs()

    pairs = list(zip(field.members[asker].tolist(), field.members[place].tolist(), strict=True))
    unordered = {(min(pair), max(pair)) for pair in pairs}
    assert len(unordered) == len(pairs)
    assert {(a, b) for a, b in _overlapping(boxes, labels) if a < b} <= unordered


@given(st.lists(st.integers(1, 9), max_size=20), st.integers(1, 12))
def test_ranges_by_size_are_the_same_pairs_in_pieces(sizes: list[int], most: int) -> None:
    start = np.arange(len(sizes)) * 3
    whole = Ranges(np.arange(len(sizes)), start, start + np.array(sizes, np.int64))

    pieces = list(whole.by_size(most))

    assert [pair for piece in pieces for pair in zip(*map(np.ndarray.tolist, piece.pairs()), strict=True)] == list(
        zip(*map(np.ndarray.tolist, whole.pairs()), strict=True)
    )
    assert all(len(piece.asker) == 1 or (piece.stop - piece.start).sum() <= most for piece in pieces)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 60), st.booleans(), st.sampled_from([0.01, 0.5, 0.7, 1.0]))
def test_comparing_each_with_each_roughly_misses_no_match(
    seed: int, count: int, is_ios: bool, threshold: float
) -> None:
    boxes = _boxes(seed, count, 0.0, 30.0, 6.0).round(1)
    boxes[count // 2] = boxes[0]
    overlap = Overlap(boxes, np.zeros(count, np.int64), is_ios=is_ios, threshold=threshold)
    every_left, every_right = (side.ravel() for side in np.indices((count, count)))
    expected = overlap.matches(every_left, every_right)

    row, place = overlap.near(np.arange(count), np.arange(count))

    found = set(zip(row.tolist(), place.tolist(), strict=True))
    assert set(zip(every_left[expected].tolist(), every_right[expected].tolist(), strict=True)) <= found
    assert row.tolist() == sorted(row.tolist())


def test_only_members_are_found() -> None:
    boxes = np.tile([[0.0, 0.0, 10.0, 10.0]], (5, 1))
    field = Field(boxes, np.zeros(5, np.int64), np.array([1, 3]))

    asker, place = field.ask(np.array([0, 4])).pairs()

    assert asker.tolist() == [0, 0, 1, 1]
    assert sorted(field.members[place].tolist()) == [1, 1, 3, 3]


def test_ranges_can_be_cut_to_the_first_askers() -> None:
    boxes = np.tile([[0.0, 0.0, 10.0, 10.0]], (4, 1))
    ranges = Field(boxes, np.zeros(4, np.int64), np.arange(4)).ask(np.arange(4))

    assert ranges.sizes(4).tolist() == [4, 4, 4, 4]
    assert set(ranges.until(2).pairs()[0].tolist()) == {0, 1}
    assert len(ranges.until(0).pairs()[0]) == 0


def test_a_huge_box_among_tiny_ones_is_cheap_to_ask_for() -> None:
    rng = np.random.default_rng(0)
    corners = rng.uniform(0, 50_000, (5000, 2))
    boxes = np.concatenate([corners, corners + 2], axis=1)
    boxes[0] = (0, 0, 50_000, 50_000)

    ranges = Field(boxes, np.zeros(5000, np.int64), np.arange(5000)).ask(np.arange(5000))

    assert len(ranges.asker) < 100_000
    assert ranges.sizes(5000)[0] == 5000


def test_survivors_name_themselves_and_others_the_best_that_matches() -> None:
    boxes = np.array([[0, 0, 10, 10], [1, 0, 11, 10], [50, 0, 60, 10], [2, 0, 12, 10]], float)
    overlap = Overlap(boxes, np.zeros(4, np.int64), is_ios=False, threshold=0.5)

    assert suppress(overlap).tolist() == [0, 0, 2, 0]


def test_a_chain_leads_to_its_best_box() -> None:
    boxes = np.array([[step * 3.0, 0, step * 3.0 + 10, 10] for step in range(6)])
    overlap = Overlap(boxes, np.zeros(6, np.int64), is_ios=False, threshold=0.5)

    parent = chain(overlap, np.linspace(0.9, 0.4, 6))

    assert parent.tolist() == [0, 0, 1, 2, 3, 4]
    assert roots(parent).tolist() == [0] * 6


def test_equal_scores_are_no_chain_unless_the_boxes_are_equal() -> None:
    boxes = np.array([[0, 0, 10, 10], [0, 0, 10, 10], [1, 0, 11, 10]], float)
    overlap = Overlap(boxes, np.zeros(3, np.int64), is_ios=False, threshold=0.5)

    assert chain(overlap, np.full(3, 0.5)).tolist() == [0, 0, 2]


@pytest.mark.parametrize("method", ["nms", "nmm", "greedy_nmm"])
def test_memory_follows_the_boxes_not_their_pairs(method: str) -> None:
    rng = np.random.default_rng(0)
    corners = rng.uniform(0, 100, (12_000, 2))
    boxes = np.concatenate([corners, corners + rng.uniform(50, 100, (12_000, 2))], axis=1)
    scores, labels = rng.random(12_000), np.zeros(12_000, int)

    tracemalloc.start()
    merge(boxes, scores, labels, method=method, metric="iou")  # type: ignore[arg-type]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 90e6, "one byte for each of 144 million pairs would be 144 MB"


def test_boxes_far_from_the_origin_are_merged_like_near_ones() -> None:
    boxes = _boxes(4, 300, 0.0, 200.0, 5.0).round(2)
    scores, labels = np.random.default_rng(1).random(300), np.zeros(300, int)

    near = merge(boxes, scores, labels, metric="ios")
    far = merge(boxes + 4_000_000.0, scores, labels, metric="ios")

    assert near.kept.tolist() == far.kept.tolist()
    assert near.parts == far.parts


def test_an_object_in_parts_joins_the_whole_by_ios_and_not_by_iou() -> None:
    boxes, scores = [[0, 0, 100, 20], [0, 0, 30, 20], [70, 0, 100, 20]], [0.9, 0.8, 0.7]

    by_ios = merge(boxes, scores, [1, 1, 1], metric="ios")
    by_iou = merge(boxes, scores, [1, 1, 1], metric="iou")

    assert len(by_ios) == 1
    assert len(by_iou) == 3


def test_boxes_without_area_match_nothing_and_stay() -> None:
    boxes = [[5, 5, 5, 5], [0, 0, 10, 10], [5, 5, 5, 5]]

    merged = merge(boxes, [0.9, 0.8, 0.7], [1, 1, 1], method="nms")

    assert len(merged) == 3
