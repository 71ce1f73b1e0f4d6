"""What was found on a large image: boxes of the whole, and masks as patches where they lie.

A mask of the whole image for every object would be gigabytes; a patch is as large as the object.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from resolute.domain.errors import InvalidInput
from resolute.vision.detections import Detections
from resolute.vision.merging import Merged

MASK_BYTES = 1 << 30
"""Masks of the whole image are made up to this size in all."""


class Patch(NamedTuple):
    """A mask with its upper left corner in the large image."""

    x: int
    y: int
    mask: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Regions:
    """Best first. Coordinates are pixels of an image of `width` x `height`."""

    width: int
    height: int
    boxes: NDArray[np.float32]
    scores: NDArray[np.float32]
    labels: NDArray[np.int64]
    patches: list[Patch] | None = None
    left_out: int = 0
    """Detections with the lowest scores that were given up before joining, as there were too many."""

    def __len__(self) -> int:
        return len(self.scores)

    def as_detections(self) -> Detections:
        """With masks of the whole image. Raises InvalidInput when those would not fit into memory."""
        if self.patches is None:
            return Detections(self.boxes, self.scores, self.labels)
        if len(self) * self.width * self.height > MASK_BYTES:
            raise InvalidInput(
                f"{len(self)} masks of {self.width} x {self.height} pixels need "
                f"{len(self) * self.width * self.height / 2**30:.1f} GiB. Use find_regions, which keeps each mask as a "
                "patch, or raise the score threshold."
            )
        masks = np.zeros((len(self), self.height, self.width), dtype=bool)
        for row, patch in enumerate(self.patches):
            height, width = patch.mask.shape
            masks[row, patch.y : patch.y + height, patch.x : patch.x + width] = patch.mask
        return Detections(self.boxes, self.scores, self.labels, masks)


def shifted(found: Detections, *, x: int, y: int) -> tuple[NDArray[np.float32], list[Patch]]:
    """Boxes and masks of a window in coordinates of the image."""
    boxes = found.boxes + np.array([x, y, x, y], dtype=np.float32)
    patches = [_cropped(mask, x, y) for mask in found.masks] if found.masks is not None else []
    return boxes, patches


def enlarged(
    found: Detections, *, seen: tuple[int, int], width: int, height: int
) -> tuple[NDArray[np.float32], list[Patch]]:
    """Boxes and masks found on a smaller copy of `seen` (width, height) in coordinates of the image."""
    across, down = width / seen[0], height / seen[1]
    boxes = found.boxes * np.array([across, down, across, down], dtype=np.float32)
    patches = [_scaled(_cropped(mask, 0, 0), across, down) for mask in found.masks] if found.masks is not None else []
    return boxes, patches


def joined(merged: Merged, patches: Sequence[Patch]) -> list[Patch]:
    """The patch of each result: the union of its parts."""
    rows = zip(merged.kept.tolist(), merged.parts, strict=True)
    return [_union([patches[best], *(patches[part] for part in parts)]) for best, parts in rows]


def _cropped(mask: NDArray[np.bool_], x: int, y: int) -> Patch:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return Patch(x, y, np.zeros((0, 0), dtype=bool))
    top, left = int(rows[0]), int(columns[0])
    return Patch(x + left, y + top, mask[top : rows[-1] + 1, left : columns[-1] + 1].copy())


def _scaled(patch: Patch, across: float, down: float) -> Patch:
    height, width = patch.mask.shape
    if not height:
        return patch
    x1, y1 = round(patch.x * across), round(patch.y * down)
    x2, y2 = round((patch.x + width) * across), round((patch.y + height) * down)
    size = max(1, x2 - x1), max(1, y2 - y1)
    mask = cv2.resize(patch.mask.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST)
    return Patch(x1, y1, np.asarray(mask, dtype=bool))


def _union(patches: list[Patch]) -> Patch:
    filled = [patch for patch in patches if patch.mask.size]
    if len(filled) < 2:
        return filled[0] if filled else patches[0]
    left, top = min(patch.x for patch in filled), min(patch.y for patch in filled)
    right = max(patch.x + patch.mask.shape[1] for patch in filled)
    bottom = max(patch.y + patch.mask.shape[0] for patch in filled)
    mask = np.zeros((bottom - top, right - left), dtype=bool)
    for patch in filled:
        height, width = patch.mask.shape
        mask[patch.y - top : patch.y - top + height, patch.x - left : patch.x - left + width] |= patch.mask
    return Patch(left, top, mask)
