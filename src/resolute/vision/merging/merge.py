"""Merging detections of windows that overlap, with the meaning that SAHI gave to NMS, NMM and greedy NMM.

- `nms`: the best box stays, what matches it goes.
- `greedy_nmm`: what matches the best box is joined to it, best first, as long as it still matches the box so far.
- `nmm`: the same over chains: what matches a box that was joined belongs to the group as well.

Two boxes match when their overlap reaches the threshold: intersection over union (`iou`) or over the smaller box
(`ios`). A joined box is the hull of its parts, with the best score and that box's label.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from resolute.domain.errors import InvalidInput
from resolute.vision.merging.claims import chain, roots, suppress
from resolute.vision.merging.field import Floats, Integers
from resolute.vision.merging.hulls import Groups, grow
from resolute.vision.merging.overlap import Overlap

Method = Literal["nms", "nmm", "greedy_nmm"]
Metric = Literal["iou", "ios"]


@dataclass(frozen=True, slots=True)
class Merged:
    """Best first. `kept` are rows of the input; `parts` the rows joined into each of them, itself left out."""

    boxes: NDArray[np.float32]
    scores: NDArray[np.float32]
    labels: NDArray[np.int64]
    kept: Integers
    parts: list[tuple[int, ...]]

    def __len__(self) -> int:
        return len(self.kept)


def merge(
    boxes: ArrayLike,
    scores: ArrayLike,
    labels: ArrayLike,
    *,
    method: Method = "greedy_nmm",
    metric: Metric = "ios",
    threshold: float = 0.5,
    class_agnostic: bool = False,
) -> Merged:
    """Boxes are x1, y1, x2, y2. Raises InvalidInput for shapes, names and numbers that cannot be meant."""
    corners, values, classes = _checked(boxes, scores, labels)
    _check_settings(method, metric, threshold)
    if not len(values):
        return Merged(corners.astype(np.float32), values.astype(np.float32), classes, np.zeros(0, np.int64), [])
    order = _best_first(corners, values)
    groups = np.zeros(len(values), np.int64) if class_agnostic else np.unique(classes, return_inverse=True)[1]
    overlap = Overlap(corners[order], groups[order], is_ios=metric == "ios", threshold=threshold)
    if method == "nms":
        owner = suppress(overlap)
        return _kept(corners, values, classes, order[np.flatnonzero(owner == np.arange(len(owner)))])
    if method == "greedy_nmm":
        owner = parent = suppress(overlap)
    else:
        parent = chain(overlap, values[order])
        owner = roots(parent)
    return _joined(corners, values, classes, order, _groups(owner, parent, order, method), overlap)


def _best_first(corners: Floats, values: Floats) -> Integers:
    """Equal scores in the order of their corners: the result must not depend on the order of windows."""
    order = np.argsort(-values, kind="stable")
    is_like_next = np.append(values[order][1:] == values[order][:-1], False)
    ties = np.flatnonzero(is_like_next | np.roll(is_like_next, 1))
    rows = order[ties]
    x1, y1, x2, y2 = corners[rows].T
    order[ties] = rows[np.lexsort((y2, x2, y1, x1, -values[rows]))]
    return order


def _kept(corners: Floats, values: Floats, classes: Integers, rows: Integers) -> Merged:
    parts: list[tuple[int, ...]] = [()] * len(rows)
    return Merged(corners[rows].astype(np.float32), values[rows].astype(np.float32), classes[rows], rows, parts)


def _groups(owner: Integers, parent: Integers, order: Integers, method: Method) -> Groups:
    """Ranks of the owners, and of what may be joined to each of them in the order of joining."""
    is_best = owner == np.arange(len(owner))
    best, members = np.flatnonzero(is_best), np.flatnonzero(~is_best)
    keys = (order[members], parent[members], owner[members]) if method == "nmm" else (owner[members],)
    members = members[np.lexsort(keys)]
    return Groups(best, members, np.append(np.searchsorted(owner[members], best), len(members)))


def _joined(
    corners: Floats, values: Floats, classes: Integers, order: Integers, groups: Groups, overlap: Overlap
) -> Merged:
    merged = _kept(corners, values, classes, order[groups.best])
    if not len(groups.members):
        return merged
    hulls, is_joined = grow(overlap.boxes, groups, is_ios=overlap.is_ios, threshold=overlap.threshold)
    merged.boxes[:] = hulls
    rows = order[groups.members[is_joined]].tolist()
    ends = np.append(0, np.cumsum(is_joined))[groups.starts]
    for place in np.flatnonzero(np.diff(ends)).tolist():
        merged.parts[place] = tuple(rows[ends[place] : ends[place + 1]])
    return merged


def _checked(boxes: ArrayLike, scores: ArrayLike, labels: ArrayLike) -> tuple[Floats, Floats, Integers]:
    corners = np.asarray(boxes, dtype=np.float64).reshape(-1, 4)
    values = np.asarray(scores, dtype=np.float64).reshape(-1)
    classes = np.asarray(labels, dtype=np.int64).reshape(-1)
    if not len(corners) == len(values) == len(classes):
        raise InvalidInput(
            f"{len(corners)} boxes came with {len(values)} scores and {len(classes)} labels. Give one of each per box."
        )
    if not (np.isfinite(corners).all() and np.isfinite(values).all()):
        raise InvalidInput("A box or a score is not a finite number. Leave such detections out before merging.")
    return corners, values, classes


def _check_settings(method: str, metric: str, threshold: float) -> None:
    if method not in get_args(Method):
        raise InvalidInput(f"The merge method is {method!r}. Choose from {', '.join(get_args(Method))}.")
    if metric not in get_args(Metric):
        raise InvalidInput(f"The merge metric is {metric!r}. Choose iou or ios.")
    if not 0 < threshold <= 1:
        raise InvalidInput(f"The merge threshold is {threshold}. It must lie above 0 and at most at 1, such as 0.5.")
