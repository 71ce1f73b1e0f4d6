"""Groups that grow together are what they would be one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resolute.vision.merging.hulls import Groups, grow


def _groups(seed: int, sizes: list[int]) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.float64]], Groups]:
    rng = np.random.default_rng(seed)
    count = len(sizes) + sum(sizes)
    corners = rng.uniform(0, 12, (count, 2))
    boxes = np.concatenate([corners, corners + rng.uniform(0, 20, (count, 2))], axis=1).round(1)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return boxes, Groups(np.arange(len(sizes)), np.arange(len(sizes), count), starts)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**31),
    st.lists(st.integers(0, 12), min_size=1, max_size=90),
    st.booleans(),
    st.sampled_from([0.1, 0.5, 1.0]),
)
def test_many_groups_at_once_grow_like_each_alone(seed: int, sizes: list[int], is_ios: bool, threshold: float) -> None:
    boxes, groups = _groups(seed, sizes)

    hulls, is_joined = grow(boxes, groups, is_ios=is_ios, threshold=threshold)

    for group in range(len(sizes)):
        first, last = groups.starts[group], groups.starts[group + 1]
        alone = Groups(groups.best[group : group + 1], groups.members[first:last], np.array([0, last - first]))
        hull, joined = grow(boxes, alone, is_ios=is_ios, threshold=threshold)
        assert hull[0].tolist() == hulls[group].tolist()
        assert joined.tolist() == is_joined[first:last].tolist()


def test_a_member_that_no_longer_matches_is_left_out() -> None:
    boxes = np.array([[0, 0, 10, 10], [4, 0, 14, 10], [0, 0, 7, 10]], float)
    groups = Groups(np.array([0]), np.array([1, 2]), np.array([0, 2]))

    hulls, is_joined = grow(boxes, groups, is_ios=False, threshold=0.42)

    assert hulls.tolist() == [[0, 0, 14, 10]]
    assert is_joined.tolist() == [True, True]
    assert grow(boxes, groups, is_ios=False, threshold=0.51)[1].tolist() == [False, True]


@pytest.mark.parametrize("is_ios", [True, False])
def test_boxes_without_area_are_never_joined(is_ios: bool) -> None:
    boxes = np.array([[0, 0, 10, 10], [5, 5, 5, 5], [5, 5, 5, 9]], float)
    groups = Groups(np.array([0]), np.array([1, 2]), np.array([0, 2]))

    hulls, is_joined = grow(boxes, groups, is_ios=is_ios, threshold=0.1)

    assert hulls.tolist() == [[0, 0, 10, 10]]
    assert not is_joined.any()


def test_no_group_is_no_hull() -> None:
    nothing = Groups(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(1, np.int64))

    hulls, is_joined = grow(np.zeros((0, 4)), nothing, is_ios=True, threshold=0.5)

    assert (hulls.shape, is_joined.shape) == ((0, 4), (0,))
