"""Labels held against the images themselves: which are there, how large they are, and what lies inside."""

from pathlib import Path

import numpy as np

from resolute.domain.errors import NotFound, ResoluteError
from resolute.imagery.coco import Annotation, Dataset, Image, number
from resolute.imagery.geometry import areas, as_boxes, clipped, corners, ordered
from resolute.imagery.raster import image_size
from resolute.imagery.report import Reason, Report
from resolute.imagery.workers import Progress


def fit_to_images(dataset: Dataset, image_dir: Path, report: Report, on_progress: Progress = lambda _: None) -> Dataset:
    """Without images that are missing or cannot be read; boxes cut at the edge. Progress counts images.

    An image is as large as its file says, whatever the labels say.
    """
    labels, names = dataset.by_image(), dataset.names()
    known = {image.id for image in dataset.images}
    strays = [a for a in dataset.annotations if a.image_id not in known]
    report.add_many(Reason.UNKNOWN_IMAGE_ID, len(strays), (f"annotation {a.id}, image id {a.image_id}" for a in strays))
    result = Dataset(categories=dataset.categories)
    for image in dataset.images:
        on_progress(1)
        size = _size(image, image_dir, report)
        if size is None:
            continue
        result.images.append(Image(id=image.id, file_name=image.file_name, width=size[0], height=size[1]))
        result.annotations.extend(_fitted(labels[image.id], image.file_name, size, names, report))
    for row, annotation in enumerate(result.annotations, 1):
        annotation.id = row
    return result


def _size(image: Image, image_dir: Path, report: Report) -> tuple[int, int] | None:
    try:
        size = image_size(image_dir / image.file_name)
    except NotFound:
        report.add(Reason.IMAGE_NOT_FOUND, image.file_name)
        return None
    except ResoluteError as problem:
        report.add(Reason.IMAGE_UNREADABLE, str(problem))
        return None
    if size != (image.width, image.height):
        said = f"{image.width} x {image.height}"
        report.add(Reason.SIZE_DIFFERS, f"{image.file_name}: {size[0]} x {size[1]}, said {said}")
    return size


def _fitted(
    labels: list[Annotation], image: str, size: tuple[int, int], names: dict[int, str], report: Report
) -> list[Annotation]:
    def place(label: Annotation) -> str:
        return f"{image}, annotation {label.id}: {label.bbox}"

    sound = []
    for label in labels:
        if len(label.bbox) != 4:
            report.add(Reason.NOT_FOUR_NUMBERS if label.bbox else Reason.EMPTY_BOUNDS, place(label))
        elif label.category_id not in names:
            report.add(Reason.UNKNOWN_CLASS, f"{image}, annotation {label.id}, class {label.category_id}")
        else:
            sound.append(label)
    given = corners(as_boxes([label.bbox for label in sound]))
    boxes = ordered(given)
    inside = clipped(boxes, *size)
    has_area, is_inside = areas(boxes) > 0, areas(inside) > 0
    checks = [
        ((boxes != given).any(axis=1), Reason.INVERTED),
        (~has_area, Reason.ZERO_AREA),
        (has_area & ~is_inside, Reason.OUTSIDE_IMAGE),
        (is_inside & (inside != boxes).any(axis=1), Reason.CLIPPED_TO_IMAGE),
    ]
    for found, reason in checks:
        rows = np.flatnonzero(found).tolist()
        report.add_many(reason, len(rows), (place(sound[row]) for row in rows))
    changed = is_inside & ((inside != boxes) | (boxes != given)).any(axis=1)
    for row in np.flatnonzero(changed).tolist():
        _replace_box(sound[row], inside[row].tolist())
    return [label for label, is_kept in zip(sound, is_inside.tolist(), strict=True) if is_kept]


def _replace_box(label: Annotation, box: list[float]) -> None:
    """An outline stays as it is: it is cut when tiles are."""
    x1, y1, x2, y2 = box
    label.bbox = [number(value) for value in (x1, y1, x2 - x1, y2 - y1)]
    if not label.segmentation:
        label.area = number((x2 - x1) * (y2 - y1))
