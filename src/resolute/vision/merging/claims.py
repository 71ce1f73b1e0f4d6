"""Which box gives way to which: the decisions of NMS, greedy NMM and NMM, without a matrix of all pairs.

Boxes come sorted, best first, so that a row is also a rank. They are handled by blocks of the best that are left;
each block claims from those that nobody has claimed yet, and these become fewer. Memory: the boxes and one block.
"""

import numpy as np

from resolute.vision.merging.field import Field, Floats, Integers

_FIRST, _LARGEST = 256, 4096
"""Rows of a block, at first and at most; it follows from how crowded the boxes are."""
_PAIRS = 1 << 18
"""Candidates looked at together: few enough to stay in the processor's cache."""
_REBUILD = 0.6
"""When fewer than this share of an index can still be claimed, a new one is made."""


class Overlap:
    """`boxes`, best first; two of them match when their overlap reaches `threshold`."""

    def __init__(self, boxes: Floats, labels: Integers, *, is_ios: bool, threshold: float) -> None:
        self.boxes, self.labels, self.is_ios, self.threshold = boxes, labels, is_ios, threshold
        self._columns = tuple(np.ascontiguousarray(boxes[:, column]) for column in range(4))
        self._areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])

    def matches(self, left: Integers, right: Integers) -> Integers:
        """Places of the pairs that match."""
        x1, y1, x2, y2 = self._columns
        height = np.minimum(y2[left], y2[right]) - np.maximum(y1[left], y1[right])
        near = np.flatnonzero(height > 0)
        left, right = left[near], right[near]
        width = np.minimum(x2[left], x2[right]) - np.maximum(x1[left], x1[right])
        shared = np.maximum(width, 0.0) * height[near]
        area_left, area_right = self._areas[left], self._areas[right]
        whole = np.minimum(area_left, area_right) if self.is_ios else area_left + area_right - shared
        share = np.divide(shared, whole, out=np.zeros_like(shared), where=whole > 0)
        return np.asarray(near[share >= self.threshold])

    def field(self, members: Integers) -> Field:
        # Boxes with an IoU of t share t of the longer one along each axis. IoS says nothing of the kind.
        return Field(self.boxes, self.labels, members, side_ratio=0.0 if self.is_ios else self.threshold)


def suppress(overlap: Overlap) -> Integers:
    """For each row the survivor that it gives way to: the best that matches it. Survivors name themselves."""
    owner = np.full(len(overlap.boxes), -1, dtype=np.int64)
    claimable = _Claimable(overlap, owner)
    size = _FIRST
    while len(rows := np.flatnonzero(owner < 0)[:size]):
        # The block among itself first: most of a crowd never gets to claim anything.
        block, claimer, claimed = _pairs(overlap, overlap.field(rows), rows, owner)
        survivors = _survivors(block, claimer, claimed)
        size = _next_size(len(block), len(rows))
        while len(survivors):
            done, claimer, claimed = claimable.candidates(survivors)
            owner[done] = done
            _give(owner, claimed, claimer)
            survivors = survivors[len(done) :]
    return owner


def chain(overlap: Overlap, scores: Floats) -> Integers:
    """For each row the best row that matches it, or itself. Rows of equal score match only when they are equal."""
    parent = np.full(len(overlap.boxes), -1, dtype=np.int64)
    claimable = _Claimable(overlap, parent)
    begin, size = 0, _FIRST
    while begin < len(parent):
        rows = np.arange(begin, min(begin + size, len(parent)))
        block, claimer, claimed = claimable.candidates(rows)
        is_lower = scores[claimer] > scores[claimed]
        is_same = (overlap.boxes[claimer] == overlap.boxes[claimed]).all(axis=1)
        _give(parent, claimed[is_lower | is_same], claimer[is_lower | is_same])
        free = block[parent[block] < 0]
        parent[free] = free
        begin, size = int(block[-1]) + 1, _next_size(len(block), len(rows))
    return parent


def roots(parent: Integers) -> Integers:
    """Follow each row to the one that has itself as parent."""
    found = parent
    while not np.array_equal(further := found[found], found):
        found = further
    return found


class _Claimable:
    """The rows that nobody has claimed, in an index that is renewed as they become fewer."""

    def __init__(self, overlap: Overlap, owner: Integers) -> None:
        self._overlap, self._owner = overlap, owner
        self._field = overlap.field(np.arange(len(owner)))

    def candidates(self, rows: Integers) -> tuple[Integers, Integers, Integers]:
        """As many of `rows` as can be handled at once, then the pairs they can claim."""
        self._renew()
        return _pairs(self._overlap, self._field, rows, self._owner)

    def _renew(self) -> None:
        members = self._field.members
        is_open = self._owner[members] < 0
        if 0 < np.count_nonzero(is_open) < _REBUILD * len(members):
            self._field = self._overlap.field(np.sort(members[is_open]))


def _pairs(overlap: Overlap, field: Field, rows: Integers, owner: Integers) -> tuple[Integers, Integers, Integers]:
    """The first of `rows`, then pairs of claimer and claimed that match, claimers rising. Better rows claim worse."""
    ranges = field.ask(rows)
    totals = np.cumsum(ranges.sizes(len(rows)))
    count = max(1, int(np.searchsorted(totals, _PAIRS, side="right")))
    asker, place = ranges.until(count).pairs()
    claimer, claimed = rows[asker], field.members[place]
    is_open = (claimed > claimer) & (owner[claimed] < 0)
    claimer, claimed = claimer[is_open], claimed[is_open]
    matching = overlap.matches(claimer, claimed)
    return rows[:count], claimer[matching], claimed[matching]


def _next_size(handled: int, asked: int) -> int:
    return min(2 * asked, _LARGEST) if handled == asked else max(16, 2 * handled)


def _survivors(block: Integers, claimer: Integers, claimed: Integers) -> Integers:
    """Rows of the block that no survivor of the block claims. Claimers rise, so each is settled when it is met."""
    is_inside = claimed <= block[-1]
    gone: set[int] = set()
    for better, worse in zip(claimer[is_inside].tolist(), claimed[is_inside].tolist(), strict=True):
        if better not in gone:
            gone.add(worse)
    return block[~np.isin(block, list(gone))] if gone else block


def _give(owner: Integers, claimed: Integers, claimer: Integers) -> None:
    """The best claimer gets it: claimers rise, and of several values the last one written stays."""
    owner[claimed[::-1]] = claimer[::-1]
