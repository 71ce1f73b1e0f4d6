"""When two boxes match: their overlap, for chosen pairs, or roughly for each row with each. Decides nothing else."""

import numpy as np
from numpy.typing import NDArray

from resolute.vision.merging.field import Field, Floats, Integers

_CELLS = 1 << 15
"""Pairs compared at once: few enough that all that is needed for them stays in the processor's cache."""


class Overlap:
    """`boxes`, best first; two of one label match when their overlap reaches `threshold`."""

    def __init__(self, boxes: Floats, labels: Integers, *, is_ios: bool, threshold: float) -> None:
        self.boxes, self.labels, self.is_ios, self.threshold = boxes, labels, is_ios, threshold
        self._columns = tuple(np.ascontiguousarray(boxes[:, column]) for column in range(4))
        self._areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
        # Two boxes cannot match unless they share more than their bounds together (IoU) or the smaller one (IoS). A
        # little less is asked for, since sums are not exact; `matches` decides.
        self._bound = self._areas * ((threshold if is_ios else threshold / (1 + threshold)) * (1 - 1e-9))

    def matches(self, left: Integers, right: Integers) -> Integers:
        """Places of the pairs that match, of pairs with equal labels."""
        x1, y1, x2, y2 = self._columns
        height = np.minimum(y2[left], y2[right]) - np.maximum(y1[left], y1[right])
        near = np.flatnonzero(height > 0)
        left, right = left[near], right[near]
        width = np.minimum(x2[left], x2[right]) - np.maximum(x1[left], x1[right])
        shared = np.maximum(width, 0.0) * height[near]
        is_match = self._reaches(shared, self._areas[left], self._areas[right])
        return np.asarray(near[is_match])

    def near(self, rows: Integers, others: Integers) -> tuple[Integers, Integers]:
        """Places in `rows` and `others` of pairs that may match, row by row: each with each, whatever their labels."""
        step = max(1, _CELLS // max(1, len(others)))
        # Written over again and again: the time would go into fresh memory otherwise.
        scratch = np.empty((3, min(step, len(rows)), len(others)))
        columns, bound = tuple(column[others] for column in self._columns), self._bound[others]
        found = []
        for begin in range(0, len(rows), step):
            part = rows[begin : begin + step]
            shared, height, spare = scratch[:, : len(part)]
            self._share(part, columns, shared, height, spare)
            (np.minimum if self.is_ios else np.add)(self._bound[part, None], bound, out=spare)
            found.append(np.flatnonzero(shared > spare) + begin * len(others))
        places = np.concatenate(found) if found else np.zeros(0, np.int64)
        row, place = np.divmod(places, max(1, len(others)))
        return row, place

    def _share(self, rows: Integers, others: tuple[Floats, ...], shared: Floats, height: Floats, spare: Floats) -> None:
        """The area that each of `rows` shares with each of `others` into `shared`; below zero where they are apart."""
        x1, y1, x2, y2 = (column[rows, None] for column in self._columns)
        np.minimum(x2, others[2], out=shared)
        shared -= np.maximum(x1, others[0], out=spare)
        np.maximum(shared, 0.0, out=shared)
        np.minimum(y2, others[3], out=height)
        height -= np.maximum(y1, others[1], out=spare)
        shared *= height

    def field(self, members: Integers) -> Field:
        # Boxes with an IoU of t share t of the longer one along each axis. IoS says nothing of the kind.
        return Field(self.boxes, self.labels, members, side_ratio=0.0 if self.is_ios else self.threshold)

    def _reaches(self, shared: Floats, left: Floats, right: Floats) -> NDArray[np.bool_]:
        whole = np.minimum(left, right) if self.is_ios else left + right
        if not self.is_ios:
            whole -= shared
        # Where nothing is shared the share is nothing, also of boxes without area.
        share = np.divide(shared, whole, out=np.zeros_like(shared), where=shared > 0)
        return np.asarray(share >= self.threshold)
