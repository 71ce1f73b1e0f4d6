"""Pictures for people: boxes, names, scores and masks on an image; labels beside detections; many images on a sheet.

Pictures are height x width x 3 of uint8, red first. What is given is never drawn on; a copy comes back.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, overload

import cv2
import numpy as np
from numpy.typing import NDArray

from resolute.vision.detections import ClassName, Detections
from resolute.vision.slicing.regions import Patch, Regions, shifted

Picture = NDArray[np.uint8]
Colour = tuple[int, int, int]
_FONT = cv2.FONT_HERSHEY_SIMPLEX
_DARK = (24, 24, 28)
_LIGHT = (235, 235, 235)
_MARGIN, _CAPTION = 6, 22
_PALETTE = 256
_MASK_SHARE = 0.45


@dataclass(frozen=True, slots=True)
class Mark:
    """Something to draw: a box x1, y1, x2, y2 with a text above it and perhaps a mask."""

    box: tuple[float, float, float, float]
    text: str
    colour: Colour
    patch: Patch | None = None


def class_colour(place: int) -> Colour:
    """The colour of the class at this place of the class table. Neighbours in the table differ most."""
    return _palette()[place % _PALETTE]


def detection_marks(found: Detections | Regions, classes: Sequence[ClassName], *, min_score: float = 0.0) -> list[Mark]:
    marks = _Marks(found, classes)
    return [marks[row] for row in np.flatnonzero(found.scores >= min_score).tolist()]


def truth_marks(boxes: NDArray[Any], categories: Sequence[int], names: Mapping[int, str]) -> list[Mark]:
    """Labels of an image; `names` is the class table by category id, in its order."""
    places = {category: place for place, category in enumerate(names)}
    return [
        Mark((float(box[0]), float(box[1]), float(box[2]), float(box[3])), names[number], class_colour(places[number]))
        for box, number in zip(boxes, categories, strict=True)
    ]


def draw(picture: Picture, marks: Sequence[Mark], *, scale: float = 1.0, has_text: bool = True) -> Picture:
    """`scale`: pixels of `picture` for one pixel of the marks. The last marks come to lie below the first."""
    canvas = np.ascontiguousarray(picture).copy()
    thickness = max(1, round(max(canvas.shape[:2]) / 800))
    for mark in reversed(marks):
        if mark.patch is not None and mark.patch.mask.size:
            _tint(canvas, mark.patch, mark.colour, scale)
    for mark in reversed(marks):
        x1, y1, x2, y2 = (round(value * scale) for value in mark.box)
        cv2.rectangle(canvas, (x1, y1), (max(x1, x2 - 1), max(y1, y2 - 1)), mark.colour, thickness)
        if has_text:
            _write(canvas, mark.text, x1, y1, mark.colour, thickness)
    return canvas


def draw_detections(
    picture: Picture, found: Detections | Regions, classes: Sequence[ClassName], *, scale: float = 1.0
) -> Picture:
    return draw(picture, _Marks(found, classes), scale=scale)


def side_by_side(left: Picture, right: Picture, captions: tuple[str, str] = ("labels", "detections")) -> Picture:
    """Two pictures, each under its caption. The right one is scaled to the height of the left one."""
    if right.shape[0] != left.shape[0]:
        share = left.shape[0] / right.shape[0]
        size = max(1, round(right.shape[1] * share)), left.shape[0]
        right = np.asarray(cv2.resize(right, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    width = left.shape[1] + _MARGIN + right.shape[1]
    canvas = np.full((left.shape[0] + _CAPTION, width, 3), _DARK, dtype=np.uint8)
    canvas[_CAPTION:, : left.shape[1]] = left
    canvas[_CAPTION:, left.shape[1] + _MARGIN :] = right
    for caption, x in zip(captions, (0, left.shape[1] + _MARGIN), strict=True):
        cv2.putText(canvas, _plain(caption), (x + 4, _CAPTION - 7), _FONT, 0.45, _LIGHT, 1, cv2.LINE_AA)
    return canvas


def contact_sheet(
    pictures: Sequence[Picture], captions: Sequence[str], *, columns: int = 4, cell: int = 320
) -> Picture:
    """Pictures of any size in cells of one size, row by row, captions below them."""
    columns = max(1, min(columns, len(pictures)))
    rows = max(1, -(-len(pictures) // columns))
    high, wide = cell + _CAPTION + _MARGIN, cell + _MARGIN
    sheet = np.full((rows * high + _MARGIN, columns * wide + _MARGIN, 3), _DARK, dtype=np.uint8)
    for place, (picture, caption) in enumerate(zip(pictures, captions, strict=True)):
        y, x = _MARGIN + place // columns * high, _MARGIN + place % columns * wide
        small = fitted(picture, cell)
        sheet[y : y + small.shape[0], x : x + small.shape[1]] = small
        cv2.putText(sheet, _plain(caption), (x + 2, y + cell + _CAPTION - 7), _FONT, 0.4, _LIGHT, 1, cv2.LINE_AA)
    return sheet


def fitted(picture: Picture, side: int) -> Picture:
    """The picture with its longer side at `side`."""
    share = side / max(picture.shape[:2])
    size = max(1, round(picture.shape[1] * share)), max(1, round(picture.shape[0] * share))
    method = cv2.INTER_AREA if share < 1 else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(np.ascontiguousarray(picture), size, interpolation=method), dtype=np.uint8)


class _Marks(Sequence[Mark]):
    """Made when they are drawn: half a million of them would take more room than the picture."""

    def __init__(self, found: Detections | Regions, classes: Sequence[ClassName]) -> None:
        self._found, self._classes = found, classes
        self._patches = found.patches if isinstance(found, Regions) else _patches_of(found)

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, row: int) -> Mark: ...
    @overload
    def __getitem__(self, row: slice) -> list[Mark]: ...
    def __getitem__(self, row: int | slice) -> Mark | list[Mark]:
        if isinstance(row, slice):
            return [self[each] for each in range(*row.indices(len(self)))]
        place = int(self._found.labels[row]) - 1
        x1, y1, x2, y2 = self._found.boxes[row].tolist()
        text = f"{self._classes[place].name} {self._found.scores[row]:.2f}"
        return Mark((x1, y1, x2, y2), text, class_colour(place), self._patches[row] if self._patches else None)


def _patches_of(found: Detections) -> list[Patch] | None:
    return shifted(found, x=0, y=0)[1] if found.masks is not None else None


def _tint(canvas: Picture, patch: Patch, colour: Colour, scale: float) -> None:
    height, width = canvas.shape[:2]
    mask_height, mask_width = patch.mask.shape
    x1, y1 = round(patch.x * scale), round(patch.y * scale)
    x2, y2 = round((patch.x + mask_width) * scale), round((patch.y + mask_height) * scale)
    size = max(1, x2 - x1), max(1, y2 - y1)
    mask = cv2.resize(patch.mask.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST).astype(bool)
    left, top = max(0, -x1), max(0, -y1)
    area = canvas[max(0, y1) : min(height, y1 + size[1]), max(0, x1) : min(width, x1 + size[0])]
    inside = mask[top : top + area.shape[0], left : left + area.shape[1]]
    mixed = area[inside] * (1 - _MASK_SHARE) + np.array(colour) * _MASK_SHARE
    area[inside] = mixed.astype(np.uint8)


def _write(canvas: Picture, text: str, x: int, y: int, colour: Colour, thickness: int) -> None:
    """Above the box, or inside it where there is no room; dark or light, whichever can be read on the colour."""
    if not text:
        return
    size = 0.35 + 0.1 * thickness
    (width, height), base = cv2.getTextSize(_plain(text), _FONT, size, 1)
    x = max(0, min(x, canvas.shape[1] - width))
    bottom = y - base if y - base - height >= 0 else y + height + base
    cv2.rectangle(canvas, (x, bottom - height - 1), (x + width, bottom + base - 1), colour, -1)
    is_bright = 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2] > 140
    cv2.putText(canvas, _plain(text), (x, bottom), _FONT, size, (0, 0, 0) if is_bright else _LIGHT, 1, cv2.LINE_AA)


def _plain(text: str) -> str:
    """OpenCV's letters are ASCII."""
    return text.encode("ascii", "replace").decode()


@cache
def _palette() -> list[Colour]:
    """Each colour is the one farthest from all before it, as the eye measures; neither black nor white."""
    levels = np.linspace(0, 255, 12).round().astype(np.uint8)
    rgb = np.stack(np.meshgrid(levels, levels, levels, indexing="ij"), axis=-1).reshape(-1, 1, 3)
    lab = cv2.cvtColor((rgb / 255).astype(np.float32), cv2.COLOR_RGB2LAB).reshape(-1, 3)
    usable = (lab[:, 0] > 35) & (lab[:, 0] < 92) & (np.hypot(lab[:, 1], lab[:, 2]) > 25)
    rgb, lab = rgb.reshape(-1, 3)[usable], lab[usable]
    place = int(np.argmin(np.abs(rgb.astype(int) - np.array([255, 46, 46])).sum(axis=1)))
    chosen, distance = [], np.full(len(lab), np.inf)
    for _ in range(_PALETTE):
        red, green, blue = rgb[place].tolist()
        chosen.append((red, green, blue))
        distance = np.minimum(distance, np.linalg.norm(lab - lab[place], axis=1))
        place = int(np.argmax(distance))
    return chosen
