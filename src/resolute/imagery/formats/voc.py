"""Pascal VOC: one XML file an image, corners counted from 1 as its authors did."""

import math
from pathlib import Path
from xml.etree import ElementTree

from resolute.imagery.coco import Annotation, Dataset, Image, number
from resolute.imagery.files import write_atomic
from resolute.imagery.formats.building import DatasetBuilder, usable
from resolute.imagery.report import Reason, Report

_FOLDER = "Annotations"


def read(folder: Path, report: Report) -> Dataset:
    """XML files in `folder` or `folder/Annotations`; classes are numbered by name from 0."""
    home = folder / _FOLDER if (folder / _FOLDER).is_dir() else folder
    trees = [(path, tree) for path in sorted(home.glob("*.xml")) if (tree := _parse(path, report)) is not None]
    builder = DatasetBuilder()
    for name in sorted({_text(item, "name") for _, tree in trees for item in tree.iter("object")} - {""}):
        builder.add_category(name)
    for path, tree in trees:
        width, height = _numbers(tree.find("size"), ("width", "height")) or (0.0, 0.0)
        if width < 1 or height < 1:
            report.add(Reason.WRONG_TYPE, f"{path.name}: no size")
            continue
        image_id = builder.add_image(_text(tree, "filename") or f"{path.stem}.jpg", int(width), int(height))
        for item in tree.iter("object"):
            _add_object(builder, image_id, item, path.name, report)
    return builder.dataset


def write(dataset: Dataset, folder: Path, report: Report) -> None:
    names, labels = dataset.names(), dataset.by_image()
    for image in dataset.images:
        kept = []
        for annotation in labels[image.id]:
            if usable(annotation) and annotation.category_id in names:
                kept.append(annotation)
                continue
            known = annotation.category_id in names
            report.add(Reason.ZERO_AREA if known else Reason.UNKNOWN_CLASS, f"annotation {annotation.id}")
        write_atomic(folder / _FOLDER / f"{Path(image.file_name).stem}.xml", _document(image, kept, names))


def _document(image: Image, annotations: list[Annotation], names: dict[int, str]) -> bytes:
    root = ElementTree.Element("annotation")
    ElementTree.SubElement(root, "filename").text = image.file_name
    size = ElementTree.SubElement(root, "size")
    for key, value in (("width", image.width), ("height", image.height), ("depth", 3)):
        ElementTree.SubElement(size, key).text = str(value)
    for annotation in annotations:
        item = ElementTree.SubElement(root, "object")
        ElementTree.SubElement(item, "name").text = names[annotation.category_id]
        for key in ("truncated", "difficult"):
            ElementTree.SubElement(item, key).text = "0"
        box = ElementTree.SubElement(item, "bndbox")
        x, y, w, h = annotation.bbox
        for key, edge in (("xmin", x + 1), ("ymin", y + 1), ("xmax", x + w), ("ymax", y + h)):
            ElementTree.SubElement(box, key).text = str(number(edge))
    ElementTree.indent(root)
    return ElementTree.tostring(root) + b"\n"


def _add_object(builder: DatasetBuilder, image_id: int, item: ElementTree.Element, place: str, report: Report) -> None:
    name = _text(item, "name")
    corners = _numbers(item.find("bndbox"), ("xmin", "ymin", "xmax", "ymax"))
    if not name:
        report.add(Reason.UNKNOWN_CLASS, f"{place}: an object without name")
        return
    if corners is None:
        report.add(Reason.NOT_NUMBERS, f"{place}: {name}")
        return
    x1, y1, x2, y2 = corners[0] - 1, corners[1] - 1, corners[2], corners[3]
    if x2 <= x1 or y2 <= y1:
        report.add(Reason.ZERO_AREA, f"{place}: {name} {corners}")
        return
    builder.add_box(image_id, builder.add_category(name), (x1, y1, x2, y2))


def _parse(path: Path, report: Report) -> ElementTree.Element | None:
    try:
        return ElementTree.parse(path).getroot()
    except (ElementTree.ParseError, OSError) as problem:
        report.add(Reason.WRONG_TYPE, f"{path.name}: {problem}")
        return None


def _text(parent: ElementTree.Element, key: str) -> str:
    return (parent.findtext(key) or "").strip()


def _numbers(parent: ElementTree.Element | None, keys: tuple[str, ...]) -> tuple[float, ...] | None:
    if parent is None:
        return None
    try:
        values = tuple(float(_text(parent, key)) for key in keys)
    except ValueError:
        return None
    return values if all(map(math.isfinite, values)) else None
