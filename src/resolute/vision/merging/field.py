"""Which boxes may overlap which: an index of boxes for questions by the thousand, in whole arrays.

Boxes lie in levels by their longer side, powers of two. A level is cut into strips as high as its largest box, and a
strip is sorted by left edge; so a question is two binary searches for each strip it touches. Labels are strips of
their own. The answer holds every box that overlaps, and some that do not.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_DEPTH = 6


@dataclass(frozen=True, slots=True)
class Ranges:
    """Stretches of `Field.members` for the boxes that were asked about, in their order."""

    asker: Integers
    start: Integers
    stop: Integers

    def sizes(self, askers: int) -> Integers:
        """How many candidates each box that was asked about has."""
        return np.bincount(self.asker, weights=self.stop - self.start, minlength=askers).astype(np.int64)

    def until(self, asker: int) -> "Ranges":
        """Those of the first boxes only."""
        return self._cut(0, int(np.searchsorted(self.asker, asker)))

    def by_size(self, most: int) -> Iterator["Ranges"]:
        """One after the other, with at most so many candidates each, or with one stretch that has more."""
        ends = np.cumsum(self.stop - self.start)
        begin = 0
        while begin < len(ends):
            before = int(ends[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(ends, before + most, side="right")))
            yield self._cut(begin, end)
            begin = end

    def _cut(self, begin: int, end: int) -> "Ranges":
        return Ranges(self.asker[begin:end], self.start[begin:end], self.stop[begin:end])

    def pairs(self) -> tuple[Integers, Integers]:
        """Asker, and place in `Field.members`; the askers rise."""
        sizes = self.stop - self.start
        ends = np.cumsum(sizes)
        total = int(ends[-1]) if len(ends) else 0
        places = np.arange(total) - np.repeat(ends - sizes, sizes) + np.repeat(self.start, sizes)
        return np.repeat(self.asker, sizes), places


class Field:
    """`members` are the rows of `boxes` that can be found.

    `side_ratio`: only boxes that share this part of the longer one along both axes are looked for.
    """

    def __init__(self, boxes: Floats, labels: Integers, members: Integers, *, side_ratio: float = 0.0) -> None:
        self._boxes, self._labels, self._side_ratio = boxes, labels, side_ratio
        chosen = boxes[members]
        level = _levels(chosen)
        self._levels = np.unique(level)
        self._label_count = int(labels.max(initial=0)) + 1
        self._left = float(chosen[:, 0].min())
        self._span = float(chosen[:, 0].max()) - self._left + 1.0
        # Sums of large numbers are not exact; a little more is asked for than needed.
        self._slack = 1e-9 * self._span * len(members) + 1e-9
        step = np.exp2(level)
        strip = np.floor(chosen[:, 1] / step).astype(np.int64)
        self._first_strip = int(strip.min())
        self._strip_count = int(strip.max()) - self._first_strip + 1
        code = self._code(np.searchsorted(self._levels, level), labels[members], strip)
        self._codes, place = np.unique(code, return_inverse=True)
        width = self._span + 4 * self._slack
        key = place * width + (chosen[:, 0] - self._left)
        order = np.argsort(key, kind="stable")
        self._width, self._keys = width, key[order]
        self.members = members[order]
        # Members lie level by level, the smallest first.
        self._level_ends = np.cumsum(np.unique(level, return_counts=True)[1])

    def ask(self, rows: Integers) -> Ranges:
        """Where boxes lie that may overlap these rows of `boxes` and have their label."""
        box, label = self._boxes[rows], self._labels[rows]
        found = [self._ask_level(place, box, label) for place in range(len(self._levels))]
        asker, start, stop = (np.concatenate(parts) for parts in zip(*found, strict=True))
        order = np.argsort(asker, kind="stable")
        return Ranges(asker[order], start[order], stop[order])

    def join(self) -> Ranges:
        """Every pair of members that may overlap, once. Askers are places in `members`, in no order.

        Of two boxes the one of the lower level asks, so that a large one never looks through many small strips.
        """
        box, label = self._boxes[self.members], self._labels[self.members]
        found = []
        for place, end in enumerate(self._level_ends.tolist()):
            asker, start, stop = self._ask_level(place, box[:end], label[:end])
            # Within its own level a box looks only at those behind it.
            begin = int(self._level_ends[place - 1]) if place else 0
            start = np.where(asker >= begin, np.maximum(start, asker + 1), start)
            has_any = stop > start
            found.append((asker[has_any], start[has_any], stop[has_any]))
        return Ranges(*(np.concatenate(parts) for parts in zip(*found, strict=True)))

    def _ask_level(self, place: int, box: Floats, label: Integers) -> tuple[Integers, Integers, Integers]:
        side = np.maximum(box[:, 2] - box[:, 0], box[:, 3] - box[:, 1])
        step = float(np.exp2(self._levels[place]))
        # Sides at this level lie between half a step and a step; the lowest level also holds all smaller ones.
        smallest = 0.0 if place == 0 else step / 2
        able = np.flatnonzero((step >= self._side_ratio * side) & (side >= self._side_ratio * smallest))
        # What shares less than a part of this box need not be found: its edges may be moved in by as much.
        inset = (1 - 1e-9) * self._side_ratio * (box[able, 2:] - box[able, :2])
        box = np.concatenate([box[able, :2] + inset, box[able, 2:] - inset], axis=1)
        last = self._first_strip + self._strip_count - 1
        low = np.clip(np.floor((box[:, 1] - step) / step).astype(np.int64), self._first_strip, last + 1)
        high = np.clip(np.floor(box[:, 3] / step).astype(np.int64), self._first_strip - 1, last)
        count = np.maximum(high - low + 1, 0)
        which = np.repeat(np.arange(len(able)), count)
        strip = np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count) + low[which]
        code = self._code(np.full(len(which), place), label[able][which], strip)
        group = np.minimum(np.searchsorted(self._codes, code), len(self._codes) - 1)
        there = self._codes[group] == code
        which, group = which[there], group[there]
        left = np.clip(box[which, 0] - step - self._left - self._slack, -self._slack, self._span + self._slack)
        right = np.clip(box[which, 2] - self._left + self._slack, -self._slack, self._span + self._slack)
        start = np.searchsorted(self._keys, group * self._width + left, side="left")
        stop = np.searchsorted(self._keys, group * self._width + right, side="right")
        has_any = stop > start
        return able[which[has_any]], start[has_any], stop[has_any]

    def _code(self, place: Integers, label: Integers, strip: Integers) -> Integers:
        return (place * self._label_count + label) * self._strip_count + (strip - self._first_strip)


def _levels(boxes: Floats) -> Floats:
    side = np.maximum(boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1])
    level = np.ceil(np.log2(np.maximum(side, 1.0)))
    # A large box among tiny ones must not touch thousands of strips: small levels are thrown together.
    return np.asarray(np.maximum(level, level.max() - _DEPTH))
