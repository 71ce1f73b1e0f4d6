"""Joining boxes: each group grows from its best box, member by member. Which boxes belong to a group is decided before.

A member is joined only while it still matches the box so far, so a group is a chain of decisions. Groups do not depend
on one another: the next member of all of them is tried at once, and the few long groups that are left one by one.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from resolute.vision.merging.field import Floats, Integers

Corners = tuple[float, float, float, float]
_FEW = 32
"""Groups below which whole arrays cost more than a loop."""


@dataclass(frozen=True, slots=True)
class Groups:
    """`best`: rows of the boxes that stay. `members`: rows to be joined, group by group, in the order of joining."""

    best: Integers
    members: Integers
    starts: Integers
    """Where the members of each group begin in `members`, and one place more: where the last ones end."""


def grow(boxes: Floats, groups: Groups, *, is_ios: bool, threshold: float) -> tuple[Floats, NDArray[np.bool_]]:
    """The hull of each group, and which of its members were joined."""
    hulls = np.ascontiguousarray(boxes[groups.best].T)
    is_joined = np.zeros(len(groups.members), dtype=bool)
    sizes = np.diff(groups.starts)
    by_size = np.argsort(-sizes, kind="stable")
    # How many groups have more than 0, 1, 2 ... members.
    active = np.searchsorted(-sizes[by_size], -np.arange(sizes.max(initial=0)), side="left")
    turn = 0
    while turn < len(active) and active[turn] >= _FEW:
        chosen = by_size[: active[turn]]
        places = groups.starts[chosen] + turn
        grown, fits = _tried(hulls[:, chosen], boxes[groups.members[places]].T, is_ios=is_ios, threshold=threshold)
        hulls[:, chosen] = grown
        is_joined[places] = fits
        turn += 1
    if turn < len(active):
        _grow_one_by_one(boxes, groups, by_size[: active[turn]], turn, hulls, is_joined, (is_ios, threshold))
    return np.ascontiguousarray(hulls.T), is_joined


def _tried(hull: Floats, box: Floats, *, is_ios: bool, threshold: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Each hull with its next box, and whether that box was joined. Both are rows of x1, y1, x2 and y2."""
    low, high = np.maximum(hull[:2], box[:2]), np.minimum(hull[2:], box[2:])
    width, height = high - low
    shared = np.maximum(width, 0.0) * np.maximum(height, 0.0)
    own, other = ((side[2] - side[0]) * (side[3] - side[1]) for side in (hull, box))
    whole = np.minimum(own, other) if is_ios else own + other - shared
    fits = np.divide(shared, whole, out=np.zeros_like(shared), where=shared > 0) >= threshold
    around = np.concatenate([np.minimum(hull[:2], box[:2]), np.maximum(hull[2:], box[2:])])
    return np.where(fits, around, hull), fits


def _grow_one_by_one(
    boxes: Floats,
    groups: Groups,
    chosen: Integers,
    turn: int,
    hulls: Floats,
    is_joined: NDArray[np.bool_],
    rule: tuple[bool, float],
) -> None:
    for group in chosen.tolist():
        first, last = int(groups.starts[group]) + turn, int(groups.starts[group + 1])
        members = boxes[groups.members[first:last]].tolist()
        hull, joined = _grown(tuple(hulls[:, group].tolist()), members, *rule)
        hulls[:, group] = hull
        is_joined[first:last] = joined


def _grown(hull: Corners, members: list[list[float]], is_ios: bool, threshold: float) -> tuple[Corners, list[bool]]:
    x1, y1, x2, y2 = hull
    own = (x2 - x1) * (y2 - y1)
    joined = [False] * len(members)
    # Written out without min and max: this loop runs once for every box of a long group.
    for place, (a1, b1, a2, b2) in enumerate(members):
        width = (x2 if x2 < a2 else a2) - (x1 if x1 > a1 else a1)
        height = (y2 if y2 < b2 else b2) - (y1 if y1 > b1 else b1)
        if width <= 0 or height <= 0:
            continue
        shared, other = width * height, (a2 - a1) * (b2 - b1)
        whole = (own if own < other else other) if is_ios else own + other - shared
        if shared / whole >= threshold:
            x1, y1 = x1 if x1 < a1 else a1, y1 if y1 < b1 else b1
            x2, y2 = x2 if x2 > a2 else a2, y2 if y2 > b2 else b2
            own = (x2 - x1) * (y2 - y1)
            joined[place] = True
    return (x1, y1, x2, y2), joined
