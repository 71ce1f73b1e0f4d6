"""Pictures of single images of an evaluation: labels on the left, what was found on the right, with masks if there are.

Where pixels come from is the caller's: a folder of images, or anything that gives the picture of an image id.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from resolute.imagery.origins import options_for
from resolute.imagery.preprocessing import Preprocessing
from resolute.imagery.render_options import RenderOptions
from resolute.vision.data.masks import mask_of
from resolute.vision.detections import Detections
from resolute.vision.drawing import Mark, class_colour, draw, fitted, side_by_side, truth_marks
from resolute.vision.evaluation.evaluator import CocoEvaluator
from resolute.vision.slicing.regions import Patch, shifted
from resolute.vision.slicing.source import whole_picture

Picture = NDArray[np.uint8]
ReadImage = Callable[[int], Picture]
"""The picture of an image id, as it was measured. Raises NotFound or InvalidInput when it cannot be read any more."""
PICTURE_SIDE = 640
_MASK_PIXELS = 1 << 24
"""Masks of larger images are not drawn: each would be unpacked to the size of its image."""


def from_folder(
    evaluator: CocoEvaluator,
    image_dir: Path,
    learnt: Preprocessing | None = None,
    rendering: RenderOptions | None = None,
) -> ReadImage:
    """Read as they were measured: see `evaluate`."""

    def read(image_id: int) -> Picture:
        path = image_dir / evaluator.truth.file_name(image_id)
        with whole_picture(path, options_for(path, learnt, rendering), max_side=PICTURE_SIDE) as picture:
            return picture

    return read


def drawn_pair(evaluator: CocoEvaluator, image_id: int, read: ReadImage, *, score: float) -> Picture:
    picture = read(image_id)
    if max(picture.shape[:2]) > PICTURE_SIDE:
        picture = fitted(picture, PICTURE_SIDE)
    return draw_image(evaluator, image_id, picture, score=score)


def draw_image(evaluator: CocoEvaluator, image_id: int, picture: Picture, *, score: float = 0.25) -> Picture:
    """Labels on the left, detections from `score` up on the right. `picture` may be a smaller copy."""
    width = evaluator.truth.images[image_id].width
    scale = picture.shape[1] / width if width else 1.0
    labels = draw(picture, _true_marks(evaluator, image_id), scale=scale)
    return side_by_side(labels, draw(picture, _found_marks(evaluator, image_id, score), scale=scale))


def _true_marks(evaluator: CocoEvaluator, image_id: int) -> list[Mark]:
    truth = evaluator.truth.of_image(image_id)
    marks = truth_marks(truth.boxes, truth.categories.tolist(), evaluator.truth.names)
    return _with_patches(evaluator, image_id, marks, truth.outlines)


def _found_marks(evaluator: CocoEvaluator, image_id: int, score: float) -> list[Mark]:
    names = evaluator.truth.names
    places = {category: place for place, category in enumerate(names)}
    found = evaluator.detections_of(image_id)
    marks, outlines = [], []
    for row, (x, y, width, height, value, category) in enumerate(found.rows.tolist()):
        if value >= score:
            text = f"{names[int(category)]} {value:.2f}"
            marks.append(Mark((x, y, x + width, y + height), text, class_colour(places[int(category)])))
            outlines.append(found.masks[row] if found.masks else None)
    return _with_patches(evaluator, image_id, marks, outlines if found.masks else None)


def _with_patches(evaluator: CocoEvaluator, image_id: int, marks: list[Mark], outlines: list[Any] | None) -> list[Mark]:
    image = evaluator.truth.images[image_id]
    if outlines is None or not 0 < image.width * image.height <= _MASK_PIXELS:
        return marks
    size = (image.height, image.width)
    return [replace(mark, patch=_patch(each, size)) for mark, each in zip(marks, outlines, strict=True)]


def _patch(outline: Any, size: tuple[int, int]) -> Patch | None:
    mask = mask_of(outline, *size)
    if mask is None:
        return None
    nothing = np.zeros((1, 4), np.float32)
    whole = Detections(nothing, np.zeros(1, np.float32), np.ones(1, np.int64), mask.astype(bool)[None])
    return shifted(whole, x=0, y=0)[1][0]
