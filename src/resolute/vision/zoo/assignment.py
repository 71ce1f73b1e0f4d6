"""Minimum-cost matching of a rectangular cost matrix, by shortest augmenting paths. Pure.

For the matching inside a detector's loss: a few objects against some hundred queries.
"""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def assign(cost: NDArray[np.floating]) -> tuple[Ints, Ints]:
    """Row and column of each pair, rows in ascending order: as many pairs as the shorter side has entries."""
    if 0 in cost.shape:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if cost.shape[0] > cost.shape[1]:
        columns, rows = assign(cost.T)
        order = np.argsort(rows)
        return rows[order], columns[order]
    owner = _owners(np.ascontiguousarray(cost, dtype=np.float64))
    columns = np.flatnonzero(owner >= 0)
    order = np.argsort(owner[columns])
    return owner[columns][order], columns[order]


def _owners(cost: NDArray[np.float64]) -> Ints:
    """Which row each column belongs to, -1 for none. Every row gets one; prices keep the search short."""
    rows, columns = cost.shape
    row_price, column_price = np.zeros(rows), np.zeros(columns)
    owner = np.full(columns, -1, np.int64)
    for start in range(rows):
        reach = np.full(columns, np.inf)
        previous = np.full(columns, -1, np.int64)
        is_done = np.zeros(columns, np.bool_)
        row, column, so_far = start, -1, 0.0
        while True:
            length = so_far + cost[row] - row_price[row] - column_price
            is_shorter = ~is_done & (length < reach)
            reach[is_shorter] = length[is_shorter]
            previous[is_shorter] = column
            column = int(np.argmin(np.where(is_done, np.inf, reach)))
            so_far = reach[column]
            is_done[column] = True
            if owner[column] < 0:
                break
            row = int(owner[column])
        seen = is_done.copy()
        seen[column] = False
        row_price[owner[seen]] += so_far - reach[seen]
        row_price[start] += so_far
        column_price[seen] -= so_far - reach[seen]
        while column >= 0:
            before = int(previous[column])
            owner[column] = start if before < 0 else owner[before]
            column = before
    return owner
