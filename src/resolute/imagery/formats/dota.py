"""DOTA: one text file an image, `x1 y1 x2 y2 x3 y3 x4 y4 class difficult`: boxes that may be turned.

The four corners are kept as a polygon, so that turned boxes survive the way through COCO.
"""

import math
from pathlib import Path

from resolute.domain.errors import ResoluteError
from resolute.imagery.coco import Annotation, Dataset, number
from resolute.imagery.files import list_images, write_atomic
from resolute.imagery.formats.building import DatasetBuilder, usable
from resolute.imagery.formats.texts import count_strays, lines_of
from resolute.imagery.geometry import polygon_area, polygon_bounds
from resolute.imagery.raster import image_size
from resolute.imagery.report import Reason, Report

_HEADERS = ("imagesource", "gsd")
_FOLDER = "labelTxt"


def read(folder: Path, image_dir: Path, report: Report) -> Dataset:
    """Label files in `folder` or `folder/labelTxt`; classes are numbered by name from 0."""
    labels = folder / _FOLDER if (folder / _FOLDER).is_dir() else folder
    images = list_images(image_dir)[0]
    count_strays(labels, images, report)
    texts = {path.stem: _lines(labels / f"{path.stem}.txt", report) for path in images}
    builder = DatasetBuilder()
    for name in sorted({line.split()[8] for lines in texts.values() for line in lines if len(line.split()) >= 9}):
        builder.add_category(name)
    for path in images:
        try:
            width, height = image_size(path)
        except ResoluteError as problem:
            report.add(Reason.IMAGE_UNREADABLE, str(problem))
            continue
        image_id = builder.add_image(path.name, width, height)
        for line in texts[path.stem]:
            _add_line(builder, image_id, line, path.stem, report)
    return builder.dataset


def write(dataset: Dataset, folder: Path, report: Report) -> None:
    """`labelTxt/<stem>.txt`. Spaces in class names become dashes, since the format has no other way."""
    names, labels = dataset.names(), dataset.by_image()
    for image in dataset.images:
        lines = []
        for annotation in labels[image.id]:
            if not usable(annotation) or annotation.category_id not in names:
                known = annotation.category_id in names
                report.add(Reason.ZERO_AREA if known else Reason.UNKNOWN_CLASS, f"annotation {annotation.id}")
                continue
            points = " ".join(f"{number(value)}" for value in _corners(annotation))
            lines.append(f"{points} {'-'.join(names[annotation.category_id].split())} 0\n")
        write_atomic(folder / _FOLDER / f"{Path(image.file_name).stem}.txt", "".join(lines).encode())


def _lines(path: Path, report: Report) -> list[str]:
    lines = (line.strip() for line in lines_of(path, report))
    return [line for line in lines if line and line.split(":")[0] not in _HEADERS]


def _add_line(builder: DatasetBuilder, image_id: int, line: str, stem: str, report: Report) -> None:
    parts = line.split()
    if len(parts) < 9:
        report.add(Reason.NOT_FOUR_NUMBERS, f"{stem}.txt: {line!r}")
        return
    try:
        values = [float(part) for part in parts[:8]]
    except ValueError:
        values = [math.nan]
    if not all(map(math.isfinite, values)):
        report.add(Reason.NOT_NUMBERS, f"{stem}.txt: {line!r}")
        return
    points = list(zip(values[0::2], values[1::2], strict=True))
    if polygon_area(points) <= 0:
        report.add(Reason.ZERO_AREA, f"{stem}.txt: {line!r}")
        return
    mask = [[number(value) for value in values]]
    if not _is_upright(points):
        report.add(Reason.TURNED_BOX, f"{stem}.txt: {line!r}")
    builder.add_box(image_id, builder.add_category(parts[8]), polygon_bounds(points), mask)
    builder.dataset.annotations[-1].area = number(polygon_area(points))


def _is_upright(points: list[tuple[float, float]]) -> bool:
    return len({x for x, _ in points}) == 2 and len({y for _, y in points}) == 2


def _corners(annotation: Annotation) -> list[float]:
    mask = annotation.segmentation
    if isinstance(mask, list) and len(mask) == 1 and len(mask[0]) == 8:
        return [float(value) for value in mask[0]]
    x, y, w, h = annotation.bbox
    return [x, y, x + w, y, x + w, y + h, x, y + h]
