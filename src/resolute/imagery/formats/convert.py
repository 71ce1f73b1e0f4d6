"""Which format is where: COCO is the hub, every other format is read into it and written from it."""

from pathlib import Path

from resolute.domain.errors import InvalidInput
from resolute.imagery import coco
from resolute.imagery.files import existing_folder
from resolute.imagery.formats import dota, voc, yolo
from resolute.imagery.report import Report

FORMATS = ("coco", "yolo", "dota", "voc")


def load_dataset(kind: str, source: Path, image_dir: Path | None, report: Report) -> coco.Dataset:
    """`source` is a file for COCO, a folder of label files otherwise. Bad lines are counted, not fatal."""
    _check(kind)
    if kind == "coco":
        return coco.read(source, report)
    dataset = _load_folder(kind, existing_folder(source), image_dir, report)
    if not dataset.images:
        found = "; ".join(example for _, finding in report for example in finding.examples[:1])
        why = f" ({found})" if found else ""
        raise InvalidInput(f"{source} gave no image as {kind.upper()}{why}. Check the format and the folders.")
    return dataset


def _load_folder(kind: str, source: Path, image_dir: Path | None, report: Report) -> coco.Dataset:
    if kind == "voc":
        return voc.read(source, report)
    if image_dir is None:
        raise InvalidInput(f"{kind.upper()} labels do not say how large images are. Name their folder: --image-dir.")
    reader = yolo.read if kind == "yolo" else dota.read
    return reader(source, existing_folder(image_dir), report)


def save_dataset(kind: str, dataset: coco.Dataset, target: Path, report: Report) -> None:
    """Writes `target`: a file for COCO, a folder otherwise."""
    _check(kind)
    if kind == "coco":
        coco.write(dataset, target)
        return
    writer = {"yolo": yolo.write, "dota": dota.write, "voc": voc.write}[kind]
    writer(dataset, target, report)


def _check(kind: str) -> None:
    if kind not in FORMATS:
        raise InvalidInput(f"{kind!r} is no known label format. Use one of: {', '.join(FORMATS)}.")
