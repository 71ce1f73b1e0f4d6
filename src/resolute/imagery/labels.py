"""xView features to COCO: remap classes, put boxes in order, clip, drop what cannot be used, and count all of it.

`convert` takes names and sizes of images as values and opens no file. In parity mode boxes come out as the original
script makes them: put in order, but neither clipped nor checked against the image.
"""

from dataclasses import dataclass
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from resolute.imagery.classes import ClassTable
from resolute.imagery.coco import Annotation, Dataset, Image, Number, number
from resolute.imagery.collector import paused_collector
from resolute.imagery.geojson import Features, parse_bounds
from resolute.imagery.geometry import Boxes, areas, ordered
from resolute.imagery.report import Reason, Report

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class SizedImage:
    """An image that can be labelled: the name its labels use, the name it is written under, and its size."""

    label_name: str
    file_name: str
    width: int
    height: int


def convert(
    features: Features, images: list[SizedImage], table: ClassTable, report: Report, *, is_parity: bool = False
) -> Dataset:
    """Images in the given order, those without any feature left out; annotations in file order within an image."""
    codes = _image_codes(features, images)
    boxes, has_box = parse_bounds(features, report)
    is_named = codes >= 0
    is_image_kept = is_named.copy()
    # The original leaves a feature with `[]` aside before it looks at the image.
    is_image_kept[[row for row in np.flatnonzero(~has_box).tolist() if features.bounds[row] == []]] = False
    categories = _category_codes(features.type_ids, table)
    keep = has_box.copy()
    _drop(keep, is_named, Reason.IMAGE_NOT_FOUND, features, report)
    _drop(keep, categories >= 0, Reason.UNKNOWN_CLASS, features, report)
    straight = ordered(boxes)
    _note(keep & (straight != boxes).any(axis=1), Reason.INVERTED, features, report)
    if is_parity:
        whole = np.trunc(areas(straight))
        _drop(keep, whole > 0, Reason.ZERO_AREA, features, report)
        final = straight
    else:
        final = _fitted(straight, codes, images, keep, features, report)
    used = sorted(set(codes[is_image_kept].tolist()))
    with paused_collector():
        return _dataset(images, used, final, codes, categories, keep, table, is_parity=is_parity)


def _fitted(
    boxes: Boxes, codes: NDArray[np.int64], images: list[SizedImage], keep: Mask, features: Features, report: Report
) -> Boxes:
    """Boxes cut at the edge of their images; rows without area or outside are taken out of `keep`."""
    _drop(keep, areas(boxes) > 0, Reason.ZERO_AREA, features, report)
    sizes = np.array([(i.width, i.height) for i in images] or [(0, 0)], dtype=np.float64)[codes]
    inside: Boxes = np.minimum(np.maximum(boxes, 0), np.concatenate([sizes, sizes], axis=1))
    _drop(keep, areas(inside) > 0, Reason.OUTSIDE_IMAGE, features, report)
    _note(keep & (inside != boxes).any(axis=1), Reason.CLIPPED_TO_IMAGE, features, report)
    return inside


def _image_codes(features: Features, images: list[SizedImage]) -> NDArray[np.int64]:
    place = {image.label_name: code for code, image in enumerate(images)}
    return np.fromiter(map(place.get, features.image_ids, repeat(-1)), dtype=np.int64, count=len(features))


def _category_codes(type_ids: NDArray[np.int64], table: ClassTable) -> NDArray[np.int64]:
    kinds, inverse = np.unique(type_ids, return_inverse=True)
    known = np.array([table.mapping.get(kind, -1) for kind in kinds.tolist()], dtype=np.int64)
    return known[inverse] if len(known) else np.empty(0, dtype=np.int64)


def _drop(keep: Mask, is_good: Mask, reason: Reason, features: Features, report: Report) -> None:
    _note(keep & ~is_good, reason, features, report)
    keep &= is_good


def _note(rows: Mask, reason: Reason, features: Features, report: Report) -> None:
    found = np.flatnonzero(rows)
    with_class = reason is Reason.UNKNOWN_CLASS
    examples = (
        f"{features.place(row)}{f', class {features.type_ids[row]}' if with_class else ''}" for row in found.tolist()
    )
    report.add_many(reason, len(found), examples)


def _dataset(
    images: list[SizedImage],
    used: list[int],
    boxes: Boxes,
    codes: NDArray[np.int64],
    categories: NDArray[np.int64],
    keep: Mask,
    table: ClassTable,
    *,
    is_parity: bool,
) -> Dataset:
    ids = np.zeros(len(images) + 1, dtype=np.int64)
    ids[used] = np.arange(1, len(used) + 1)
    rows = np.flatnonzero(keep)
    rows = rows[np.argsort(codes[rows], kind="stable")]
    sides = boxes[rows, 2:] - boxes[rows, :2]
    xywh = np.concatenate([boxes[rows, :2], sides], axis=1).tolist()
    sizes = _areas(sides, is_parity=is_parity)
    columns = zip(ids[codes[rows]].tolist(), xywh, sizes, categories[rows].tolist(), strict=True)
    return Dataset(
        images=[
            Image(
                height=images[code].height,
                width=images[code].width,
                id=int(ids[code]),
                file_name=images[code].file_name,
            )
            for code in used
        ],
        annotations=[
            Annotation(image_id=image_id, bbox=box, category_id=category, id=row, area=area)
            for row, (image_id, box, area, category) in enumerate(columns, 1)
        ],
        categories=table.categories(),
    )


def _areas(sides: Boxes, *, is_parity: bool) -> list[Number]:
    found = sides[:, 0] * sides[:, 1]
    if is_parity or (found == np.trunc(found)).all():
        return list(found.astype(np.int64).tolist())
    return [number(area) for area in found.tolist()]


def subset(dataset: Dataset, order: list[int]) -> Dataset:
    """The images at these places, in this order, with new ids from 1."""
    labels = dataset.by_image()
    result = Dataset(categories=dataset.categories)
    for place in order:
        image = dataset.images[place]
        image_id = len(result.images) + 1
        result.images.append(Image(height=image.height, width=image.width, id=image_id, file_name=image.file_name))
        for old in labels[image.id]:
            result.annotations.append(
                Annotation(
                    iscrowd=old.iscrowd,
                    image_id=image_id,
                    bbox=old.bbox,
                    segmentation=old.segmentation,
                    category_id=old.category_id,
                    id=len(result.annotations) + 1,
                    area=old.area,
                )
            )
    return result
