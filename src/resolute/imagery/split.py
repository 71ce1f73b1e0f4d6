"""Which images train and which validate. Pure: the same seed gives the same split on every machine.

`stratified` deals images out class by class, rarest first, so that a class with two images reaches both sides.
`shuffled` is the order of SAHI 0.11.14, for results that must equal earlier ones.
"""

import random
from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np

from resolute.domain.errors import InvalidInput

Split = tuple[list[int], list[int]]
_TRAIN, _VAL = 0, 1


def shuffled(count: int, train_rate: float, *, seed: int = 0) -> Split:
    """Indices of both sides as SAHI 0.11.14 orders them: NumPy's old generator, the first `int(count * rate)` train."""
    _check(train_rate)
    order = list(range(count))
    np.random.RandomState(seed).shuffle(order)
    cut = int(count * train_rate)
    return order[:cut], order[cut:]


def stratified(classes: Sequence[Collection[int]], train_rate: float, *, seed: int = 0) -> Split:
    """Indices of both sides, ascending. `classes[i]` are the classes seen in image i.

    The training side has `int(n * rate)` images, but at least one image is left for each side when there are two.
    """
    _check(train_rate)
    train_count = _train_count(len(classes), train_rate)
    deal = _Deal(classes, train_count, train_rate, seed)
    deal.run()
    sides = deal.side
    return [i for i, side in enumerate(sides) if side == _TRAIN], [i for i, side in enumerate(sides) if side == _VAL]


def on_one_side(classes: Sequence[Collection[int]], split: Split) -> list[int]:
    """Classes that only one side has, ascending."""
    train = {kind for index in split[0] for kind in classes[index]}
    val = {kind for index in split[1] for kind in classes[index]}
    return sorted(train ^ val)


def _check(train_rate: float) -> None:
    if not 0 <= train_rate <= 1:
        raise InvalidInput(f"The train split rate is {train_rate}. It must lie between 0 and 1, for example 0.75.")


def _train_count(count: int, rate: float) -> int:
    wanted = int(count * rate)
    if count < 2 or rate in (0, 1):
        return wanted
    return min(max(wanted, 1), count - 1)


class _Deal:
    """Images are cards; each side has room and an appetite for each class."""

    def __init__(self, classes: Sequence[Collection[int]], train_count: int, rate: float, seed: int) -> None:
        self._classes = [sorted(set(found)) for found in classes]
        self.side = [-1] * len(classes)
        self._room = [train_count, len(classes) - train_count]
        self._order = list(range(len(classes)))
        random.Random(seed).shuffle(self._order)
        totals = Counter(kind for found in self._classes for kind in found)
        self._kinds = sorted(totals, key=lambda kind: (totals[kind], kind))
        self._appetite = {kind: _appetite(totals[kind], rate) for kind in self._kinds}
        self._held = {kind: [0, 0] for kind in self._kinds}

    def run(self) -> None:
        holders: dict[int, list[int]] = {kind: [] for kind in self._kinds}
        for index in self._order:
            for kind in self._classes[index]:
                holders[kind].append(index)
        for kind in self._kinds:
            for index in holders[kind]:
                if self.side[index] < 0:
                    self._give(index, self._hungrier(kind))
        for index in self._order:
            if self.side[index] < 0:
                self._give(index, _TRAIN if self._room[_TRAIN] else _VAL)
        for kind in self._kinds:
            self._repair(kind, holders[kind])

    def _hungrier(self, kind: int) -> int:
        if not all(self._room):
            return _TRAIN if self._room[_TRAIN] else _VAL
        train, val = self._appetite[kind]
        return _TRAIN if train > val else _VAL

    def _give(self, index: int, side: int) -> None:
        self.side[index] = side
        self._room[side] -= 1
        for kind in self._classes[index]:
            self._appetite[kind][side] -= 1
            self._held[kind][side] += 1

    def _repair(self, kind: int, holders: list[int]) -> None:
        """Swap a holder with an image of the other side, if no class loses its last image on a side by it."""
        held = self._held[kind]
        if len(holders) < 2 or all(held):
            return
        full = _TRAIN if held[_TRAIN] else _VAL
        for mine in holders:
            for other in self._order:
                if self.side[other] != full and self._can_swap(mine, other, full):
                    self._swap(mine, other, full)
                    return

    def _can_swap(self, mine: int, other: int, full: int) -> bool:
        gone, come = set(self._classes[mine]), set(self._classes[other])
        return all(self._held[kind][full] > 1 for kind in gone - come) and all(
            self._held[kind][1 - full] > 1 for kind in come - gone
        )

    def _swap(self, mine: int, other: int, full: int) -> None:
        self.side[mine], self.side[other] = 1 - full, full
        for index, source in ((mine, full), (other, 1 - full)):
            for kind in self._classes[index]:
                self._held[kind][source] -= 1
                self._held[kind][1 - source] += 1


def _appetite(total: int, rate: float) -> list[float]:
    train, val = total * rate, total * (1 - rate)
    if total >= 2 and 0 < rate < 1:
        val = min(max(val, 1.0), total - 1.0)
        train = total - val
    return [train, val]
