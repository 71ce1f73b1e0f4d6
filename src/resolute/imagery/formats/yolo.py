"""YOLO: one text file an image, `class cx cy w h` as shares of the image; names in `classes.txt` or `data.yaml`."""

import json
import math
from pathlib import Path

from resolute.domain.errors import InvalidInput, ResoluteError
from resolute.imagery.coco import Dataset
from resolute.imagery.files import list_images, make_folder, write_atomic
from resolute.imagery.formats.building import DatasetBuilder, usable
from resolute.imagery.formats.texts import count_strays, lines_of
from resolute.imagery.raster import image_size
from resolute.imagery.report import Reason, Report

_NAMES = "classes.txt"
_YAML = "data.yaml"


def read(folder: Path, image_dir: Path, report: Report) -> Dataset:
    """Label files in `folder` or `folder/labels`; an image without one is a negative."""
    names = _class_names(folder)
    labels = folder / "labels" if (folder / "labels").is_dir() else folder
    builder = DatasetBuilder()
    for number, name in enumerate(names):
        builder.add_category(name, number)
    images = list_images(image_dir)[0]
    count_strays(labels, images, report, but=(_NAMES,))
    for path in images:
        try:
            width, height = image_size(path)
        except ResoluteError as problem:
            report.add(Reason.IMAGE_UNREADABLE, str(problem))
            continue
        image_id = builder.add_image(path.name, width, height)
        text = labels / f"{path.stem}.txt"
        for line_number, line in enumerate(lines_of(text, report), 1):
            _add_line(builder, image_id, line, len(names), (width, height), f"{text.name}, line {line_number}", report)
    return builder.dataset


def write(dataset: Dataset, folder: Path, report: Report) -> None:
    """`labels/<stem>.txt`, `classes.txt` and `data.yaml`. Classes count from 0 in the order of the categories."""
    places = {category.id: place for place, category in enumerate(dataset.categories)}
    names = [category.name for category in dataset.categories]
    labels = dataset.by_image()
    for image in dataset.images:
        if image.width < 1 or image.height < 1:
            report.add(Reason.WRONG_TYPE, f"{image.file_name}: its size is said to be {image.width} x {image.height}")
            continue
        lines = []
        for a in labels[image.id]:
            if not usable(a) or a.category_id not in places:
                report.add(Reason.ZERO_AREA if a.category_id in places else Reason.UNKNOWN_CLASS, f"annotation {a.id}")
                continue
            x, y, w, h = a.bbox
            shares = (x + w / 2) / image.width, (y + h / 2) / image.height, w / image.width, h / image.height
            lines.append(" ".join([str(places[a.category_id]), *(f"{share:.8f}" for share in shares)]))
        text = "".join(f"{line}\n" for line in lines)
        write_atomic(folder / "labels" / f"{Path(image.file_name).stem}.txt", text.encode())
    make_folder(folder)
    write_atomic(folder / _NAMES, "".join(f"{name}\n" for name in names).encode())
    table = "".join(f"  {place}: {json.dumps(name)}\n" for place, name in enumerate(names))
    write_atomic(folder / _YAML, f"path: .\ntrain: images\nval: images\nnames:\n{table}".encode())


def _add_line(
    builder: DatasetBuilder, image_id: int, line: str, classes: int, size: tuple[int, int], place: str, report: Report
) -> None:
    parts = line.split()
    if not parts:
        return
    if len(parts) != 5:
        report.add(Reason.NOT_FOUR_NUMBERS, f"{place}: {line!r}")
        return
    try:
        kind, (cx, cy, w, h) = int(parts[0]), map(float, parts[1:])
    except ValueError:
        report.add(Reason.NOT_NUMBERS, f"{place}: {line!r}")
        return
    if not all(map(math.isfinite, (cx, cy, w, h))):
        report.add(Reason.NOT_NUMBERS, f"{place}: {line!r}")
    elif not 0 <= kind < classes:
        report.add(Reason.UNKNOWN_CLASS, f"{place}: class {kind}")
    elif w <= 0 or h <= 0:
        report.add(Reason.ZERO_AREA, f"{place}: {line!r}")
    else:
        width, height = size
        box = (cx - w / 2) * width, (cy - h / 2) * height, (cx + w / 2) * width, (cy + h / 2) * height
        builder.add_box(image_id, kind, tuple(round(value, 3) for value in box))  # type: ignore[arg-type]


def _class_names(folder: Path) -> list[str]:
    for home in (folder, folder.parent):
        for path, reader in ((home / _NAMES, _listed_names), (home / _YAML, _yaml_names)):
            if not path.exists():
                continue
            names = reader(path)
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise InvalidInput(f"{path} names the class {twice[0]!r} twice. Give each class a name of its own.")
            return names
    raise InvalidInput(f"{folder} has neither {_NAMES} nor {_YAML}, so the classes have no names. Add one of them.")


def _number_first(key: object) -> tuple[int, str]:
    """YAML keys may be numbers or texts of numbers."""
    return (int(str(key)), "") if str(key).isdecimal() else (1 << 31, str(key))


def _listed_names(path: Path) -> list[str]:
    try:
        return [line.strip() for line in path.read_text("utf-8-sig").splitlines() if line.strip()]
    except (UnicodeDecodeError, OSError) as problem:
        raise InvalidInput(
            f"{path} is no list of class names: {problem}. Write one name a line, in UTF-8."
        ) from problem


def _yaml_names(path: Path) -> list[str]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        names = (YAML(typ="safe").load(path) or {}).get("names")
    except (YAMLError, AttributeError, UnicodeDecodeError, OSError) as problem:
        raise InvalidInput(f"{path} is not a YOLO data file: {problem}.") from problem
    if isinstance(names, dict):
        return [str(names[key]) for key in sorted(names, key=_number_first)]
    if isinstance(names, list):
        return [str(name) for name in names]
    raise InvalidInput(f"{path} has no list or table `names`. Add the class names there.")
