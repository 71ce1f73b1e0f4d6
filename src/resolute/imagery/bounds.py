"""Texts such as "10,20,30,40" to boxes, very many at once. All or nothing: what is odd is looked at elsewhere. Pure."""

from array import array
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from resolute.imagery.geometry import Boxes

_COMMA, _END, _ZERO, _NINE = ord(","), ord("\n"), ord("0"), ord("9")
_MOST_DIGITS = 9
"""Of a number that 32 bits hold in any case."""


def boxes_of(texts: Sequence[Any]) -> Boxes | None:
    """One row for each text when every one of them is four numbers, else None."""
    try:
        lines = "\n".join(texts).encode()
    except (TypeError, UnicodeEncodeError):
        return None
    characters = np.frombuffer(lines, dtype=np.uint8)
    marks = np.flatnonzero((characters == _COMMA) | (characters == _END))
    if not _has_four_a_line(characters[marks], len(texts)):
        return None
    boxes = _whole_numbers(characters, marks)
    return _any_numbers(lines) if boxes is None else boxes


def _has_four_a_line(marks: NDArray[np.uint8], count: int) -> bool:
    """Whether there are so many lines, each with three commas."""
    if len(marks) != max(4 * count - 1, 0):
        return False
    return bool((marks[3::4] == _END).all()) and int(np.count_nonzero(marks == _END)) == max(count - 1, 0)


def _whole_numbers(characters: NDArray[np.uint8], marks: NDArray[np.intp]) -> Boxes | None:
    """Column by column of digits, from the last one of each number; None when there is anything but digits."""
    if not len(characters):
        return np.zeros((0, 4))
    ends = np.append(marks, len(characters))
    sizes = np.diff(ends, prepend=-1) - 1
    is_odd = characters.max() > _NINE or np.count_nonzero(characters < _ZERO) != len(marks)
    if is_odd or sizes.min() < 1 or sizes.max() > _MOST_DIGITS:
        return None
    values = characters[ends - 1].astype(np.int32) - _ZERO
    for place in range(1, int(sizes.max())):
        digits = characters[ends - 1 - place].astype(np.int32) - _ZERO
        values += np.where(sizes > place, digits, 0) * np.int32(10**place)
    boxes: Boxes = values.reshape(-1, 4).astype(np.float64)
    return boxes


def _any_numbers(lines: bytes) -> Boxes | None:
    """As one JSON array, which is strict about what a number is."""
    try:
        numbers = msgspec.json.decode(b"[%b]" % lines.replace(b"\n", b","), type=list[float])
    except msgspec.DecodeError:
        return None
    boxes = np.frombuffer(array("d", numbers)).reshape(-1, 4)
    return boxes if np.isfinite(boxes).all() else None
