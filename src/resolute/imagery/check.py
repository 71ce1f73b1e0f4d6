"""`data check`: every defect of a label file and of its images, counted, with examples. Changes nothing."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from resolute.domain.errors import InvalidInput, NotFound, ResoluteError
from resolute.imagery import coco
from resolute.imagery.classes import ClassTable, xview_classes
from resolute.imagery.convert import ConvertJob, load_labels
from resolute.imagery.geometry import Window
from resolute.imagery.raster import image_size, open_raster
from resolute.imagery.report import Reason, Report
from resolute.imagery.workers import Progress, run_all

_STRIP_ROWS = 512


@dataclass(frozen=True)
class CheckResult:
    images: int
    annotations: int
    report: Report


class _Peek(msgspec.Struct):
    features: msgspec.Raw = msgspec.Raw()


def check_labels(
    labels_path: Path,
    image_dir: Path | None = None,
    *,
    is_deep: bool = False,
    classes: ClassTable | None = None,
    workers: int | None = None,
    on_progress: Progress = lambda _: None,
) -> CheckResult:
    """A COCO or an xView file, told by its content. `is_deep` decodes every pixel; else sizes are read only."""
    if _is_geojson(labels_path):
        return _check_geojson(labels_path, image_dir, classes or xview_classes())
    report = Report()
    dataset = coco.read(labels_path, report)
    check_dataset(dataset, report)
    if image_dir is not None:
        tasks = [(image_dir / i.file_name, i.width, i.height, is_deep) for i in dataset.images]
        for _, found in run_all(_check_image, tasks, workers=workers if is_deep else 1):
            report.merge(found)
            on_progress(1)
    return CheckResult(len(dataset.images), len(dataset.annotations), report)


def check_dataset(dataset: coco.Dataset, report: Report) -> None:
    """Everything that can be wrong with a COCO file by itself."""
    images = {image.id: image for image in dataset.images}
    _repeated([i.id for i in dataset.images], Reason.DUPLICATE_IMAGE_ID, "image id", report)
    _repeated([i.file_name for i in dataset.images], Reason.DUPLICATE_FILE_NAME, "file", report)
    _repeated([a.id for a in dataset.annotations], Reason.DUPLICATE_LABEL_ID, "annotation id", report)
    boxes = [(a.image_id, a.category_id, *a.bbox) for a in dataset.annotations]
    _repeated(boxes, Reason.DUPLICATE_LABEL, "image, class and box", report)
    known = {category.id for category in dataset.categories}
    used = {annotation.category_id for annotation in dataset.annotations}
    for category in dataset.categories:
        if category.id not in used:
            report.add(Reason.CLASS_UNUSED, f"{category.name} ({category.id})")
    for annotation in dataset.annotations:
        place = f"annotation {annotation.id}: {annotation.bbox}"
        if annotation.category_id not in known:
            report.add(Reason.UNKNOWN_CLASS, f"annotation {annotation.id}, class {annotation.category_id}")
        image = images.get(annotation.image_id)
        if image is None:
            report.add(Reason.UNKNOWN_IMAGE_ID, f"annotation {annotation.id}, image id {annotation.image_id}")
            continue
        reason = _box_fault(annotation.bbox, image)
        if reason is not None:
            report.add(reason, f"{image.file_name}, {place}")


def _box_fault(bbox: list[int | float], image: coco.Image) -> Reason | None:
    if len(bbox) != 4:
        return Reason.EMPTY_BOUNDS if not bbox else Reason.NOT_FOUR_NUMBERS
    x, y, width, height = bbox
    if width < 0 or height < 0:
        return Reason.INVERTED
    if width == 0 or height == 0:
        return Reason.ZERO_AREA
    if x >= image.width or y >= image.height or x + width <= 0 or y + height <= 0:
        return Reason.OUTSIDE_IMAGE
    if x < 0 or y < 0 or x + width > image.width or y + height > image.height:
        return Reason.BEYOND_IMAGE
    return None


def _check_image(task: tuple[Path, int, int, bool]) -> Report:
    path, width, height, is_deep = task
    report = Report()
    try:
        found = image_size(path)
        if found != (width, height):
            report.add(Reason.SIZE_DIFFERS, f"{path.name}: {found[0]} x {found[1]}, said {width} x {height}")
        if is_deep:
            _read_all(path)
    except NotFound:
        report.add(Reason.IMAGE_NOT_FOUND, str(path))
    except ResoluteError as problem:
        report.add(Reason.IMAGE_UNREADABLE, str(problem))
    return report


def _read_all(path: Path) -> None:
    with open_raster(path) as raster:
        for y in range(0, raster.height, _STRIP_ROWS):
            raster.read(Window(0, y, raster.width, min(y + _STRIP_ROWS, raster.height)))


def _repeated(values: Sequence[Hashable], reason: Reason, what: str, report: Report) -> None:
    found = {value: count for value, count in Counter(values).items() if count > 1}
    extra = sum(found.values()) - len(found)
    report.add_many(reason, extra, (f"{what} {value}, {count} times" for value, count in found.items()))


def _is_geojson(path: Path) -> bool:
    try:
        peek = msgspec.json.decode(path.read_bytes().removeprefix(coco.BYTE_ORDER_MARK), type=_Peek)
    except FileNotFoundError:
        raise NotFound(f"There is no label file {path}. Check the path.") from None
    except (msgspec.DecodeError, OSError) as problem:
        raise InvalidInput(f"{path} is no label file: {problem}. COCO and xView's GeoJSON are read.") from problem
    return len(bytes(peek.features)) > 0


def _check_geojson(path: Path, image_dir: Path | None, classes: ClassTable) -> CheckResult:
    if image_dir is None:
        raise InvalidInput(
            f"{path} is GeoJSON: its boxes are checked against images. Give the folder with --image-dir."
        )
    report = Report()
    job = ConvertJob(images_dir=image_dir, geojson_path=path, output_dir=path.parent, classes=classes)
    dataset = load_labels(job, report)
    return CheckResult(len(dataset.images), len(dataset.annotations), report)
