"""Which format is where: COCO is the hub, every other format is read into it and written from it."""

from dataclasses import dataclass
from pathlib import Path

from resolute.domain.errors import InvalidInput
from resolute.imagery import coco
from resolute.imagery.files import existing_folder, list_images
from resolute.imagery.formats import csv_boxes, dota, map_labels, voc, yolo
from resolute.imagery.report import Report
from resolute.imagery.vector import read_layer
from resolute.imagery.workers import Progress

FORMATS = ("coco", "yolo", "dota", "voc", "csv", "map")
"""`map` are polygons in map coordinates: GeoJSON, GeoPackage, shapefile. It is read, not written."""
_OF_IMAGES = {
    "yolo": "do not say how large images are",
    "dota": "do not say how large images are",
    "csv": "do not say how large images are",
    "map": "are put on the images that they lie on",
}


@dataclass(frozen=True, kw_only=True)
class LabelOptions:
    """What labels may not say themselves."""

    layer: str | None = None
    class_field: str | None = None
    crs: str | None = None
    """Of map coordinates, such as EPSG:32633; instead of what the file says."""


def load_dataset(
    kind: str,
    source: Path,
    image_dir: Path | None,
    report: Report,
    options: LabelOptions | None = None,
    on_progress: Progress = lambda _: None,
) -> coco.Dataset:
    """`source` is a file for COCO, CSV and map labels, a folder otherwise. Bad labels are counted, not fatal."""
    _check(kind)
    if kind == "coco":
        return coco.read(source, report)
    dataset = _load(kind, source, image_dir, report, options or LabelOptions(), on_progress)
    if not dataset.images:
        found = "; ".join(example for _, finding in report for example in finding.examples[:1])
        why = f" ({found})" if found else ""
        raise InvalidInput(f"{source} gave no image as {kind.upper()}{why}. Check the format and the folders.")
    return dataset


def _load(
    kind: str, source: Path, image_dir: Path | None, report: Report, options: LabelOptions, on_progress: Progress
) -> coco.Dataset:
    if kind == "voc":
        return voc.read(existing_folder(source), report)
    if image_dir is None:
        raise InvalidInput(f"{kind.upper()} labels {_OF_IMAGES[kind]}. Name their folder: --image-dir.")
    images = existing_folder(image_dir)
    if kind == "csv":
        return csv_boxes.read(source, images, report, class_field=options.class_field)
    if kind == "map":
        layer = read_layer(source, layer=options.layer, class_field=options.class_field, crs=options.crs)
        return map_labels.read(layer, list_images(images)[0], report, on_progress)
    reader = yolo.read if kind == "yolo" else dota.read
    return reader(existing_folder(source), images, report)


def save_dataset(kind: str, dataset: coco.Dataset, target: Path, report: Report) -> None:
    """Writes `target`: a file for COCO and CSV, a folder otherwise."""
    _check(kind)
    if kind == "map":
        raise InvalidInput("Map labels are read, not written. Write coco, yolo, dota, voc or csv.")
    if kind == "coco":
        coco.write(dataset, target)
        return
    writer = {"yolo": yolo.write, "dota": dota.write, "voc": voc.write, "csv": csv_boxes.write}[kind]
    writer(dataset, target, report)


def _check(kind: str) -> None:
    if kind not in FORMATS:
        raise InvalidInput(f"{kind!r} is no known label format. Use one of: {', '.join(FORMATS)}.")
