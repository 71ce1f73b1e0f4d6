"""Labels for the `fake` backend: boxes that are drawn by a seed, so that a training needs no data at all."""

import numpy as np

from resolute.domain.errors import InvalidInput
from resolute.vision.data.labels import LabelTable, Sample
from resolute.vision.detections import ClassName

LIMIT = 1000
_MOST_BOXES = 4


def fake_labels(name: str, *, images: int, classes: int, side: int, seed: int) -> LabelTable:
    if not 1 <= images <= LIMIT:
        raise InvalidInput(f"backend fake: {images} images were asked for; use 1 to {LIMIT}.")
    if classes < 1:
        raise InvalidInput(f"backend fake: {classes} classes were asked for; num_classes counts the background too.")
    draw = np.random.default_rng([seed, len(name), images])
    samples = tuple(_sample(number, classes, side, draw) for number in range(1, images + 1))
    return LabelTable(
        name=f"fake {name}", classes=tuple(ClassName(i, f"class {i}") for i in range(classes)), samples=samples
    )


def _sample(number: int, classes: int, side: int, draw: np.random.Generator) -> Sample:
    count = int(draw.integers(1, _MOST_BOXES + 1))
    corner = draw.integers(0, side // 2, (count, 2))
    extent = draw.integers(side // 6, side // 2, (count, 2))
    boxes = np.concatenate([corner, corner + extent], axis=1).astype(np.float32)
    return Sample(
        image_id=number,
        file_name=f"fake_{number}",
        width=side,
        height=side,
        boxes=boxes,
        labels=draw.integers(1, classes + 1, count),
        areas=(extent[:, 0] * extent[:, 1]).astype(np.float32),
        is_crowd=np.zeros(count, np.bool_),
    )
