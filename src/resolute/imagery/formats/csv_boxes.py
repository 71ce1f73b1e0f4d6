"""Boxes in columns: `image,x1,y1,x2,y2,class` with a header in any order, or without one in this very order.

`width` and `height` may stand in the place of the second corner.
"""

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from resolute.domain.errors import InvalidInput, NotFound, ResoluteError
from resolute.imagery.coco import Dataset
from resolute.imagery.files import write_atomic
from resolute.imagery.formats.building import DatasetBuilder, usable
from resolute.imagery.raster import image_size
from resolute.imagery.report import Reason, Report

HEADER = ("image", "x1", "y1", "x2", "y2", "class")
_NAMES = {
    "image": ("image", "file_name", "filename", "image_path", "path", "image_id", "file"),
    "x1": ("x1", "xmin", "x_min", "left", "x"),
    "y1": ("y1", "ymin", "y_min", "top", "y"),
    "x2": ("x2", "xmax", "x_max", "right"),
    "y2": ("y2", "ymax", "y_max", "bottom"),
    "width": ("width", "w", "box_width"),
    "height": ("height", "h", "box_height"),
    "class": ("class", "class_name", "label", "category", "name", "type", "type_id", "class_id"),
}


@dataclass(frozen=True)
class _Columns:
    image: int
    x1: int
    y1: int
    x2: int
    y2: int
    kind: int
    is_size: bool = False
    """The second pair is a width and a height."""


def read(path: Path, image_dir: Path, report: Report, *, class_field: str | None = None) -> Dataset:
    """Images in the order of the file. Bad rows are counted; classes are numbered by name from 0."""
    rows = _rows(path)
    if not rows:
        raise InvalidInput(f"{path} has no row. Write one box a row: {','.join(HEADER)}.")
    columns, first = _columns(path, rows[0], class_field)
    good = [
        row for row in (_row(path, n, row, columns, report) for n, row in enumerate(rows[first:], first + 1)) if row
    ]
    builder = DatasetBuilder()
    for name in sorted({kind for _, _, kind in good}):
        builder.add_category(name)
    ids: dict[str, int | None] = {}
    for image, corners, kind in good:
        if image not in ids:
            ids[image] = _image(builder, image, image_dir, report)
        image_id = ids[image]
        if image_id is not None:
            builder.add_box(image_id, builder.add_category(kind), corners)
    return builder.dataset


def write(dataset: Dataset, path: Path, report: Report) -> None:
    names, images = dataset.names(), {image.id: image.file_name for image in dataset.images}
    lines = [",".join(HEADER)]
    for a in dataset.annotations:
        if not usable(a) or a.category_id not in names or a.image_id not in images:
            report.add(Reason.ZERO_AREA if a.category_id in names else Reason.UNKNOWN_CLASS, f"annotation {a.id}")
            continue
        x, y, w, h = a.bbox
        lines.append(_line([images[a.image_id], f"{x:g}", f"{y:g}", f"{x + w:g}", f"{y + h:g}", names[a.category_id]]))
    write_atomic(path, ("\n".join(lines) + "\n").encode())


def _line(cells: Sequence[str]) -> str:
    return ",".join('"' + cell.replace('"', '""') + '"' if set(cell) & set(',"\n') else cell for cell in cells)


def _rows(path: Path) -> list[list[str]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            return [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    except FileNotFoundError:
        raise NotFound(f"There is no label file {path}. Check the path.") from None
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise InvalidInput(f"{path} cannot be read as CSV: {problem}. Write it as UTF-8 with commas.") from problem


def _columns(path: Path, head: list[str], class_field: str | None) -> tuple[_Columns, int]:
    """And the row at which boxes begin: without a header, the first."""
    names = [cell.strip().lower() for cell in head]
    if class_field is None and len(names) >= len(HEADER) and all(map(_is_number, names[1:5])):
        return _Columns(0, 1, 2, 3, 4, 5), 0
    found = {what: next((names.index(name) for name in known if name in names), -1) for what, known in _NAMES.items()}
    if class_field is not None:
        found["class"] = names.index(class_field.lower()) if class_field.lower() in names else -1
    is_size = found["x2"] < 0
    second = ("width", "height") if is_size else ("x2", "y2")
    missing = [what for what in ("image", "x1", "y1", *second, "class") if found[what] < 0]
    if missing:
        raise InvalidInput(
            f"{path} has no column for {', '.join(missing)}; its columns are {', '.join(head)[:200]}. Wanted: "
            f"{','.join(HEADER)} (or width and height), or --class-field for another name of the class."
        )
    x2, y2 = (found[what] for what in second)
    return _Columns(found["image"], found["x1"], found["y1"], x2, y2, found["class"], is_size), 1


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _row(
    path: Path, line: int, row: list[str], columns: _Columns, report: Report
) -> tuple[str, tuple[float, float, float, float], str] | None:
    place = f"{path.name}, row {line}: {','.join(row)[:80]!r}"
    wanted = (columns.image, columns.x1, columns.y1, columns.x2, columns.y2, columns.kind)
    if len(row) <= max(wanted):
        report.add(Reason.NOT_FOUR_NUMBERS, place)
        return None
    image, *texts, kind = (row[at].strip() for at in wanted)
    if not kind:
        report.add(Reason.UNKNOWN_CLASS, place)
        return None
    if not any(texts):
        report.add(Reason.EMPTY_BOUNDS, place)
        return None
    if not all(map(_is_number, texts)):
        report.add(Reason.NOT_NUMBERS, place)
        return None
    x1, y1, x2, y2 = map(float, texts)
    if columns.is_size:
        x2, y2 = x1 + x2, y1 + y2
    if x2 == x1 or y2 == y1:
        report.add(Reason.ZERO_AREA, place)
        return None
    if x2 < x1 or y2 < y1:
        report.add(Reason.INVERTED, place)
    return image, (min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)), kind


def _image(builder: DatasetBuilder, name: str, folder: Path, report: Report) -> int | None:
    path = folder / name if (folder / name).exists() else folder / Path(name).name
    if not path.exists():
        report.add(Reason.IMAGE_NOT_FOUND, name)
        return None
    try:
        width, height = image_size(path)
    except ResoluteError as problem:
        report.add(Reason.IMAGE_UNREADABLE, str(problem))
        return None
    return builder.add_image(path.relative_to(folder).as_posix(), width, height)
