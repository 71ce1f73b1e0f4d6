"""Fewer points that look the same: each stretch keeps its smallest and its largest value. Pure."""

import numpy as np
from numpy.typing import NDArray
from tsdownsample import MinMaxDownsampler

_min_max = MinMaxDownsampler()  # type: ignore[no-untyped-call]
_ENDS = 2
"""The first and the last point are always kept."""


def thin(values: NDArray[np.float64], max_points: int, odd: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """Positions to keep, ascending, `max_points` at most (four at least).

    `odd` are the positions of NaN and Inf, where the caller knows them: of those a quarter of the budget is kept,
    spread evenly, and they hide no other value.
    """
    if len(values) <= max_points:
        return np.arange(len(values))
    odd = np.flatnonzero(~np.isfinite(values)) if odd is None else odd
    budget = max(max_points, 4)
    kept_odd = _spread(odd, budget // 4)
    ends = np.array([0, len(values) - 1])
    picked = _extremes(values, odd, budget - len(kept_odd) - _ENDS)
    return np.unique(np.concatenate([ends, kept_odd, picked]))


def _extremes(values: NDArray[np.float64], odd: NDArray[np.int64], budget: int) -> NDArray[np.int64]:
    if not len(odd):
        return _downsample(values, budget)
    usable = np.delete(np.arange(len(values)), odd)
    return usable[_downsample(values[usable], budget)]


def _downsample(values: NDArray[np.float64], budget: int) -> NDArray[np.int64]:
    pairs = budget // 2 * 2
    if len(values) <= pairs:
        return np.arange(len(values))
    if pairs < 2:
        return np.empty(0, dtype=np.int64)
    chosen: NDArray[np.int64] = _min_max.downsample(np.ascontiguousarray(values), n_out=pairs).astype(np.int64)
    return chosen


def _spread(positions: NDArray[np.int64], budget: int) -> NDArray[np.int64]:
    if len(positions) <= budget:
        return positions
    return positions[np.linspace(0, len(positions) - 1, budget).astype(np.int64)]
