"""Which box gives way to which: the decisions of NMS, greedy NMM and NMM, without a matrix of all pairs.

Boxes come sorted, best first, so that a row is also a rank. Where they lie far apart, all pairs that match are looked
up at once. In a crowd they are handled by blocks of the best that are left; each block claims from those that nobody
has claimed yet, and these become fewer. Memory: the boxes and one block.
"""

import numpy as np

from resolute.vision.merging.field import Field, Floats, Integers
from resolute.vision.merging.overlap import Overlap

_FIRST, _LARGEST = 256, 4096
"""Rows of a block, at first and at most; it follows from how crowded the boxes are."""
_PAIRS = 1 << 18
"""Candidates looked at together: few enough to stay in the processor's cache."""
_REBUILD = 0.6
"""When fewer than this share of an index can still be claimed, a new one is made."""
_SAMPLE = 512
_SPARSE = 16.0
"""Up to so many candidates for a box, all pairs are looked up at once."""
_DENSE = 0.15
"""From this share of candidates on, comparing each row with each member is cheaper than picking the candidates."""
_DENSE_PAIRS = 1 << 19
"""Pairs compared so, before those that were claimed are taken out."""


def suppress(overlap: Overlap) -> Integers:
    """For each row the survivor that it gives way to: the best that matches it. Survivors name themselves."""
    claimable = _Claimable(overlap)
    owner = claimable.owner
    if claimable.is_sparse():
        return _settled(owner, *claimable.every_pair())
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
    claimable = _Claimable(overlap)
    parent = claimable.owner
    if claimable.is_sparse():
        _give_lower(overlap, scores, parent, *claimable.every_pair())
        return np.where(parent < 0, np.arange(len(parent)), parent)
    begin = 0
    while begin < len(parent):
        rows = np.arange(begin, min(begin + _LARGEST, len(parent)))
        block, claimer, claimed = claimable.candidates(rows)
        _give_lower(overlap, scores, parent, claimer, claimed)
        free = block[parent[block] < 0]
        parent[free] = free
        begin = int(block[-1]) + 1
    return parent


def roots(parent: Integers) -> Integers:
    """Follow each row to the one that has itself as parent."""
    found = parent
    while not np.array_equal(further := found[found], found):
        found = further
    return found


class _Claimable:
    """The rows that nobody has claimed (`owner` below 0), in an index that is renewed as they become fewer."""

    def __init__(self, overlap: Overlap) -> None:
        self._overlap, self._size = overlap, _FIRST
        self.owner: Integers = np.full(len(overlap.boxes), -1, dtype=np.int64)
        self._field = overlap.field(np.arange(len(overlap.boxes)))

    def is_sparse(self) -> bool:
        sample = np.arange(0, len(self.owner), len(self.owner) // _SAMPLE + 1)
        return bool(self._field.ask(sample).sizes(len(sample)).mean() <= _SPARSE)

    def every_pair(self) -> tuple[Integers, Integers]:
        """All pairs that match, the better row first, in rising order."""
        members, found = self._field.members, []
        for ranges in self._field.join().by_size(_PAIRS):
            left, right = (members[places] for places in ranges.pairs())
            matching = self._overlap.matches(left, right)
            left, right = left[matching], right[matching]
            found.append((np.minimum(left, right), np.maximum(left, right)))
        if not found:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        better, worse = (np.concatenate(parts) for parts in zip(*found, strict=True))
        order = np.lexsort((worse, better))
        return better[order], worse[order]

    def candidates(self, rows: Integers) -> tuple[Integers, Integers, Integers]:
        """As many of `rows` as can be handled at once, then the pairs they can claim."""
        self._renew()
        asked = rows[: self._size]
        done, claimer, claimed = _pairs(self._overlap, self._field, asked, self.owner)
        self._size = _next_size(len(done), len(asked))
        return done, claimer, claimed

    def _renew(self) -> None:
        members = self._field.members
        is_open = self.owner[members] < 0
        if 0 < np.count_nonzero(is_open) < _REBUILD * len(members):
            self._field = self._overlap.field(np.sort(members[is_open]))


def _pairs(overlap: Overlap, field: Field, rows: Integers, owner: Integers) -> tuple[Integers, Integers, Integers]:
    """The first of `rows`, then pairs of claimer and claimed that match, claimers rising. Better rows claim worse."""
    ranges = field.ask(rows)
    totals = np.cumsum(ranges.sizes(len(rows)))
    if totals[-1] > _DENSE * len(rows) * len(field.members):
        return _dense_pairs(overlap, field.members, rows, owner)
    count = max(1, int(np.searchsorted(totals, _PAIRS, side="right")))
    asker, place = ranges.until(count).pairs()
    claimer, claimed = rows[asker], field.members[place]
    is_open = (claimed > claimer) & (owner[claimed] < 0)
    claimer, claimed = claimer[is_open], claimed[is_open]
    matching = overlap.matches(claimer, claimed)
    return rows[:count], claimer[matching], claimed[matching]


def _dense_pairs(
    overlap: Overlap, members: Integers, rows: Integers, owner: Integers
) -> tuple[Integers, Integers, Integers]:
    """The same, each row with each member that is worse than the first of them and still open."""
    members = members[(members > rows[0]) & (owner[members] < 0)]
    rows = rows[: max(1, _DENSE_PAIRS // max(1, len(members)))]
    row, place = overlap.near(rows, members)
    claimer, claimed = rows[row], members[place]
    is_worse = (claimed > claimer) & (overlap.labels[claimed] == overlap.labels[claimer])
    claimer, claimed = claimer[is_worse], claimed[is_worse]
    matching = overlap.matches(claimer, claimed)
    return rows, claimer[matching], claimed[matching]


def _next_size(handled: int, asked: int) -> int:
    return min(2 * asked, _LARGEST) if handled == asked else max(16, 2 * handled)


def _survivors(block: Integers, claimer: Integers, claimed: Integers) -> Integers:
    """Rows of the block that no survivor of the block claims."""
    is_inside = claimed <= block[-1]
    gone = _claims(claimer[is_inside], claimed[is_inside])
    return block[~np.isin(block, list(gone))] if gone else block


def _settled(owner: Integers, claimer: Integers, claimed: Integers) -> Integers:
    owner[:] = np.arange(len(owner))
    if gone := _claims(claimer, claimed):
        owner[list(gone)] = list(gone.values())
    return owner


def _claims(claimer: Integers, claimed: Integers) -> dict[int, int]:
    """Who is claimed, and by whom. Claimers rise, so each is settled when it is met."""
    gone: dict[int, int] = {}
    for better, worse in zip(claimer.tolist(), claimed.tolist(), strict=True):
        if better not in gone:
            gone.setdefault(worse, better)
    return gone


def _give(owner: Integers, claimed: Integers, claimer: Integers) -> None:
    """The best claimer gets it: claimers rise, and of several values the last one written stays."""
    owner[claimed[::-1]] = claimer[::-1]


def _give_lower(overlap: Overlap, scores: Floats, owner: Integers, claimer: Integers, claimed: Integers) -> None:
    """Only what has a lower score can be claimed, or is the same box."""
    is_lower = scores[claimer] > scores[claimed]
    is_same = (overlap.boxes[claimer] == overlap.boxes[claimed]).all(axis=1)
    _give(owner, claimed[is_lower | is_same], claimer[is_lower | is_same])
