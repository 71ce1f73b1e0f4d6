"""A bank of shapes that learning curves take: 1 where training begins, 0 at its full length, anything between.

The families are those seen in practice: exponential approach, power laws, late starts, straight lines. Pure numbers:
which of them happen in a search is learnt by `curve_forecast`.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

_RATES = 1.16 ** np.arange(22)
"""Near one another: a curve between two shapes that are far apart is taken for one of another family, whose end lies
elsewhere, and the more reports there are the surer that mistake looks."""
_EXPONENTIAL = np.array([(rate, bend) for bend in (0.6, 0.8, 1.0, 1.4) for rate in _RATES])
_SUDDEN = np.array([60.0, 200.0])
"""Rates of trials that are done almost at once."""
_POWER = np.array([(scale, power) for scale in (10.0, 100.0, 1000.0) for power in (0.2, 0.5, 1.0)])
_LATE = np.array([(steepness, middle) for steepness in (8.0, 20.0) for middle in (0.25, 0.5, 0.75)])


def _families(shares: Matrix) -> Matrix:
    share = shares[:, None]
    columns = (
        np.exp(-_EXPONENTIAL[:, 0] * share ** _EXPONENTIAL[:, 1]),
        np.exp(-_SUDDEN * share),
        (1.0 + _POWER[:, 0] * share) ** -_POWER[:, 1],
        1.0 / (1.0 + np.exp(_LATE[:, 0] * (share - _LATE[:, 1]))),
        1.0 - share,
    )
    return np.concatenate(columns, axis=1)


_START, _END = _families(np.array([0.0, 1.0]))
COUNT = len(_START)


@lru_cache(maxsize=128)
def shapes_at(shares: tuple[float, ...]) -> tuple[Matrix, Matrix]:
    """Heights and their squares: a row for each share of the full length, a column for each shape.

    Trials report at the same lengths, so the same few tuples are asked for again and again.
    """
    heights: Matrix = (_families(np.array(shares)) - _END) / (_START - _END)
    return heights, heights * heights
