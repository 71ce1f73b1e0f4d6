"""Merging beside a plain reading of its rules, pair by pair."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from resolute.domain.errors import InvalidInput
from resolute.vision.merging import Method, Metric, merge

Box = list[float]
METHODS: list[Method] = ["nms", "nmm", "greedy_nmm"]
METRICS: list[Metric] = ["iou", "ios"]


def _overlap(a: Box, b: Box, metric: str) -> float:
    width, height = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    shared = max(width, 0.0) * max(height, 0.0)
    areas = [(c[2] - c[0]) * (c[3] - c[1]) for c in (a, b)]
    whole = sum(areas) - shared if metric == "iou" else min(areas)
    return shared / whole if whole > 0 else 0.0


def _plainly(
    boxes: list[Box], scores: list[float], labels: list[int], method: str, metric: str, threshold: float
) -> list[tuple[Box, float, int]]:
    """One box after the other, each against all others."""
    ranked = sorted(range(len(boxes)), key=lambda i: (-scores[i], boxes[i]))
    owner: dict[int, int] = {}
    groups: dict[int, list[int]] = {}
    for best in ranked:
        if best in owner and method != "nmm":
            continue
        keeper = owner.setdefault(best, best)
        groups.setdefault(keeper, [])
        candidates = range(len(boxes)) if method == "nmm" else ranked
        for other in candidates:
            if other in owner or labels[other] != labels[best]:
                continue
            is_worse = method != "nmm" or scores[other] < scores[best] or boxes[other] == boxes[best]
            if is_worse and _overlap(boxes[best], boxes[other], metric) >= threshold:
                owner[other] = keeper
                groups[keeper].append(other)
    return [
        (boxes[best] if method == "nms" else _hull(best, members, boxes, metric, threshold), scores[best], labels[best])
        for best, members in groups.items()
    ]


def _hull(best: int, members: list[int], boxes: list[Box], metric: str, threshold: float) -> Box:
    hull = list(boxes[best])
    for member in members:
        if _overlap(hull, boxes[member], metric) >= threshold:
            hull = [*map(min, hull[:2], boxes[member][:2]), *map(max, hull[2:], boxes[member][2:])]
    return hull


def _crowd(seed: int, count: int, side: float, classes: int, *, largest: float) -> tuple[NDArray[np.float32], ...]:
    rng = np.random.default_rng(seed)
    corners = rng.uniform(-side / 4, side, (count, 2))
    # Sizes over several powers of two, a few boxes without area, and repeated scores and boxes.
    sizes = np.exp2(rng.uniform(-1, np.log2(largest), (count, 2))) * (rng.random((count, 2)) > 0.02)
    boxes = np.round(np.concatenate([corners, corners + sizes], axis=1), 1).astype(np.float32)
    boxes[rng.integers(0, count, count // 8)] = boxes[rng.integers(0, count, count // 8)]
    return boxes, np.round(rng.random(count), 2).astype(np.float32), rng.integers(0, classes, count)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**31),
    st.integers(1, 120),
    st.sampled_from([20.0, 100.0, 1000.0]),
    st.integers(1, 3),
    st.sampled_from(METHODS),
    st.sampled_from(METRICS),
    st.sampled_from([0.1, 0.5, 0.9, 1.0]),
)
def test_the_result_is_that_of_the_rules(
    seed: int, count: int, side: float, classes: int, method: Method, metric: Metric, threshold: float
) -> None:
    boxes, scores, labels = _crowd(seed, count, side, classes, largest=64)

    merged = merge(boxes, scores, labels, method=method, metric=metric, threshold=threshold)

    plain = _plainly(
        boxes.astype(float).tolist(), scores.astype(float).tolist(), labels.tolist(), method, metric, threshold
    )
    found = zip(merged.boxes.tolist(), merged.scores.tolist(), merged.labels.tolist(), strict=True)
    assert sorted(found) == sorted((np.float32(box).tolist(), score, label) for box, score, label in plain)


@pytest.mark.parametrize(("method", "metric"), list(itertools.product(METHODS, METRICS)))
def test_many_boxes_of_many_sizes_give_the_result_of_the_rules(method: Method, metric: Metric) -> None:
    boxes, scores, labels = _crowd(3, 600, 250.0, 2, largest=200)

    merged = merge(boxes, scores, labels, method=method, metric=metric)

    plain = _plainly(boxes.astype(float).tolist(), scores.astype(float).tolist(), labels.tolist(), method, metric, 0.5)
    assert len(merged) == len(plain)
    assert np.sort(merged.boxes.sum(axis=1)) == pytest.approx(sorted(sum(box) for box, _, _ in plain), rel=1e-5)


def _islands(seed: int, islands: int, count: int) -> tuple[NDArray[np.float32], ...]:
    """Crowds far from one another: many candidates for a box, but few of all boxes."""
    crowds = [_crowd(seed + place, count, 20.0, 2, largest=32) for place in range(islands)]
    boxes = np.concatenate([crowd[0] + np.float32(500 * place) for place, crowd in enumerate(crowds)])
    return boxes, np.concatenate([crowd[1] for crowd in crowds]), np.concatenate([crowd[2] for crowd in crowds])


@pytest.mark.parametrize(("method", "metric"), list(itertools.product(METHODS, METRICS)))
@pytest.mark.parametrize(
    ("boxes", "scores", "labels"),
    [_islands(7, 12, 50), _islands(7, 300, 2), _crowd(7, 500, 30.0, 1, largest=32)],
    ids=["islands", "far apart", "one pile"],
)
def test_however_the_boxes_lie_the_result_is_that_of_the_rules(
    method: Method,
    metric: Metric,
    boxes: NDArray[np.float32],
    scores: NDArray[np.float32],
    labels: NDArray[np.int64],
) -> None:
    merged = merge(boxes, scores, labels, method=method, metric=metric)

    plain = _plainly(boxes.astype(float).tolist(), scores.astype(float).tolist(), labels.tolist(), method, metric, 0.5)
    found = zip(merged.boxes.tolist(), merged.scores.tolist(), merged.labels.tolist(), strict=True)
    assert sorted(found) == sorted((np.float32(box).tolist(), score, label) for box, score, label in plain)


def test_every_row_is_kept_or_part_of_one_result_at_most() -> None:
    boxes, scores, labels = _islands(3, 10, 60)

    merged = merge(boxes, scores, labels, method="greedy_nmm", metric="ios")

    rows = [*merged.kept.tolist(), *itertools.chain.from_iterable(merged.parts)]
    assert len(rows) == len(set(rows)) <= len(boxes)
    assert any(merged.parts)


@pytest.mark.parametrize("method", METHODS)
def test_a_pile_of_many_thousand_boxes_needs_no_matrix(method: Method) -> None:
    rng = np.random.default_rng(0)
    corners = rng.uniform(0, 60, (12_000, 2))
    boxes = np.concatenate([corners, corners + rng.uniform(30, 60, (12_000, 2))], axis=1)

    merged = merge(boxes, rng.random(12_000), np.zeros(12_000, int), method=method, metric="iou")

    assert 1 <= len(merged) < 200
    assert (np.diff(merged.scores) <= 0).all()


@pytest.mark.parametrize("method", METHODS)
def test_classes_are_merged_apart_unless_told_otherwise(method: Method) -> None:
    boxes, scores, labels = [[0, 0, 10, 10], [0, 0, 10, 9]], [0.9, 0.8], [1, 2]

    apart = merge(boxes, scores, labels, method=method)
    together = merge(boxes, scores, labels, method=method, class_agnostic=True)

    assert apart.labels.tolist() == [1, 2]
    assert together.labels.tolist() == [1]


def test_merging_tells_what_was_joined() -> None:
    boxes = [[50, 50, 60, 60], [0, 0, 10, 10], [4, 0, 14, 10]]

    merged = merge(boxes, [0.5, 0.9, 0.8], [1, 1, 1], method="greedy_nmm", metric="ios")

    assert merged.boxes.tolist() == [[0, 0, 14, 10], [50, 50, 60, 60]]
    assert merged.scores.tolist() == pytest.approx([0.9, 0.5])
    assert (merged.kept.tolist(), merged.parts) == ([1, 0], [(2,), ()])


def test_a_chain_is_one_object_to_nmm_and_several_to_greedy_nmm() -> None:
    boxes = [[step * 4.0, 0.0, step * 4.0 + 10, 10.0] for step in range(4)]
    scores = [0.9, 0.8, 0.7, 0.6]

    chained = merge(boxes, scores, [1] * 4, method="nmm", metric="ios")
    greedy = merge(boxes, scores, [1] * 4, method="greedy_nmm", metric="ios")

    assert chained.boxes.tolist() == [[0, 0, 22, 10]]
    assert greedy.boxes.tolist() == [[0, 0, 14, 10], [8, 0, 22, 10]]


@given(st.integers(0, 2**31), st.sampled_from(METHODS))
@settings(max_examples=20, deadline=None)
def test_the_order_of_windows_does_not_matter(seed: int, method: Method) -> None:
    boxes, scores, labels = _crowd(seed, 60, 40.0, 2, largest=32)
    # NMM joins a group in the order of the input, so equal results are promised for the groups' number alone there.
    shuffled = np.random.default_rng(seed).permutation(60)

    first = merge(boxes, scores, labels, method=method)
    second = merge(boxes[shuffled], scores[shuffled], labels[shuffled], method=method)

    assert sorted(first.scores.tolist()) == sorted(second.scores.tolist())
    if method != "nmm":
        assert sorted(first.boxes.tolist()) == sorted(second.boxes.tolist())


@pytest.mark.parametrize("method", METHODS)
def test_nothing_merges_to_nothing(method: Method) -> None:
    merged = merge(np.zeros((0, 4)), [], [], method=method)

    assert len(merged) == 0
    assert merged.boxes.shape == (0, 4)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"method": "wbf"}, "merge method is 'wbf'. Choose from nms, nmm, greedy_nmm"),
        ({"metric": "giou"}, "merge metric is 'giou'"),
        ({"threshold": 0.0}, "merge threshold is 0.0"),
        ({"threshold": 1.1}, "merge threshold is 1.1"),
        ({"scores": [0.1]}, "2 boxes came with 1 scores and 2 labels"),
        ({"scores": [0.1, np.nan]}, "not a finite number"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(change: dict[str, object], sentence: str) -> None:
    given = {"boxes": [[0, 0, 1, 1], [1, 1, 2, 2]], "scores": [0.5, 0.4], "labels": [0, 0], **change}

    with pytest.raises(InvalidInput, match=sentence):
        merge(**given)  # type: ignore[arg-type]
