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
from resolute.vision.merging.claims import Overlap, chain, roots, suppress
from resolute.vision.merging.field import Floats, Integers

Method = Literal["nms", "nmm", "greedy_nmm"]
Metric = Literal["iou", "ios"]
Corners = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Merged:
    """Best first. `kept` are rows of the input; `parts` the rows joined into each of them, itself left out."""

    boxes: NDArray[np.float32]
    scores: NDArray[np.float32]
    labels: NDArray[np.int64]
    kept: Integers
    parts: list[list[int]]

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
    # Equal scores in the order of their corners: the result must not depend on the order of windows.
    order = np.lexsort((corners[:, 3], corners[:, 2], corners[:, 1], corners[:, 0], -values))
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
    return _joined(corners, values, classes, order, _members(owner, parent, order, method), overlap)


def _kept(corners: Floats, values: Floats, classes: Integers, rows: Integers) -> Merged:
    parts: list[list[int]] = [[] for _ in rows]
    return Merged(corners[rows].astype(np.float32), values[rows].astype(np.float32), classes[rows], rows, parts)


def _members(owner: Integers, parent: Integers, order: Integers, method: Method) -> dict[int, list[int]]:
    """Rank of each owner to ranks of what may be joined to it, in the order of joining. Most own nothing but this."""
    others = np.flatnonzero(owner != np.arange(len(owner)))
    if method == "nmm":
        others = others[np.lexsort((order[others], parent[others]))]
    groups: dict[int, list[int]] = {rank: [] for rank in np.flatnonzero(owner == np.arange(len(owner))).tolist()}
    for rank, best in zip(others.tolist(), owner[others].tolist(), strict=True):
        groups[best].append(rank)
    return groups


def _joined(
    corners: Floats,
    values: Floats,
    classes: Integers,
    order: Integers,
    groups: dict[int, list[int]],
    overlap: Overlap,
) -> Merged:
    merged = _kept(corners, values, classes, order[list(groups)])
    every: list[Corners] = list(map(tuple, overlap.boxes.tolist())) if len(groups) < len(order) else []
    rows = order.tolist()
    for place, (best, members) in enumerate(groups.items()):
        if members:
            hull, joined = _hull(every, best, members, is_ios=overlap.is_ios, threshold=overlap.threshold)
            merged.boxes[place] = hull
            merged.parts[place].extend(rows[rank] for rank in joined)
    return merged


def _hull(
    boxes: list[Corners], best: int, members: list[int], *, is_ios: bool, threshold: float
) -> tuple[Corners, list[int]]:
    x1, y1, x2, y2 = boxes[best]
    own = (x2 - x1) * (y2 - y1)
    joined: list[int] = []
    # Written out without min and max: this loop runs once for every box that gives way, and is half of the time.
    for rank in members:
        a1, b1, a2, b2 = boxes[rank]
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
            joined.append(rank)
    return (x1, y1, x2, y2), joined


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
