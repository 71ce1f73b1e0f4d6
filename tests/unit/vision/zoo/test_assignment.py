"""Matching is the cheapest there is, for any shape."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resolute.vision.zoo.assignment import assign


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 5), st.integers(1, 6), st.integers(0, 2**31))
def test_no_other_matching_is_cheaper(rows: int, columns: int, seed: int) -> None:
    cost = np.random.default_rng(seed).integers(-5, 6, (rows, columns)).astype(np.float64)

    chosen_rows, chosen_columns = assign(cost)

    wide = cost if rows <= columns else cost.T
    best = min(sum(wide[i, j] for i, j in enumerate(order)) for order in permutations(range(wide.shape[1]), len(wide)))
    assert cost[chosen_rows, chosen_columns].sum() == pytest.approx(best)
    assert len(set(chosen_rows)) == len(set(chosen_columns)) == min(rows, columns)
    assert list(chosen_rows) == sorted(chosen_rows)


def test_nothing_is_matched_with_nothing() -> None:
    rows, columns = assign(np.zeros((300, 0)))

    assert len(rows) == len(columns) == 0
