"""COCO label files: typed reading and writing. Knows the format, not what may be done with it.

Reading keeps images, annotations and categories; other top-level keys and extra fields are not carried over.
"""

from pathlib import Path
from typing import Any, TypeVar

import msgspec

from resolute.domain.errors import InvalidInput, NotFound
from resolute.imagery.files import write_atomic
from resolute.imagery.report import Reason, Report

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""Some editors put it before the text."""
Number = int | float
Segmentation = list[list[Number]] | dict[str, Any]


class Image(msgspec.Struct, kw_only=True, gc=False):
    height: int
    width: int
    id: int
    file_name: str


class Annotation(msgspec.Struct, kw_only=True, gc=False):
    """`bbox` is (x, y, width, height)."""

    iscrowd: int = 0
    image_id: int
    bbox: list[Number]
    segmentation: Segmentation = []
    category_id: int
    id: int
    area: Number = 0


class Category(msgspec.Struct, kw_only=True):
    id: int
    name: str
    supercategory: str = ""


Record = TypeVar("Record", Image, Annotation)


class _RawDataset(msgspec.Struct):
    images: list[msgspec.Raw] = []
    annotations: list[msgspec.Raw] = []
    categories: list[Category] = []


class Dataset(msgspec.Struct, kw_only=True):
    images: list[Image] = []
    annotations: list[Annotation] = []
    categories: list[Category] = []

    def by_image(self) -> dict[int, list[Annotation]]:
        """Annotations of every image id, in file order; also of ids that no image has."""
        found: dict[int, list[Annotation]] = {image.id: [] for image in self.images}
        for annotation in self.annotations:
            found.setdefault(annotation.image_id, []).append(annotation)
        return found

    def names(self) -> dict[int, str]:
        return {category.id: category.name for category in self.categories}


def read(path: Path, report: Report | None = None) -> Dataset:
    """Raises NotFound or InvalidInput with the place of the fault.

    With a report, an image or a label of the wrong type is set aside and counted there; it never stops the rest.
    """
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        raise NotFound(f"There is no label file {path}. `resolute data coco` writes one.") from None
    except OSError as problem:
        raise InvalidInput(f"The label file {path} cannot be read: {problem.strerror}.") from problem
    return decode(text, str(path), report)


def decode(text: bytes, place: str, report: Report | None = None) -> Dataset:
    text = text.removeprefix(BYTE_ORDER_MARK)
    try:
        dataset = msgspec.json.decode(text, type=Dataset)
    except msgspec.ValidationError as problem:
        found = None if report is None else _one_by_one(text, report)
        if found is None:
            raise InvalidInput(f"{place} is JSON, but not a COCO label file: {problem}. Correct it there.") from problem
        dataset = found
    except msgspec.DecodeError as problem:
        raise InvalidInput(f"{place} is not JSON: {problem}. Was it cut off while being copied?") from problem
    _check_names(dataset.categories, place)
    return dataset


def _one_by_one(text: bytes, report: Report) -> Dataset | None:
    """None when the file as a whole is of another kind."""
    try:
        raw = msgspec.json.decode(text, type=_RawDataset)
    except msgspec.ValidationError:
        return None
    return Dataset(
        images=_sound(raw.images, Image, "image", report),
        annotations=_sound(raw.annotations, Annotation, "annotation", report),
        categories=raw.categories,
    )


def _sound(raws: list[msgspec.Raw], kind: type[Record], what: str, report: Report) -> list[Record]:
    decoder = msgspec.json.Decoder(kind)
    sound: list[Record] = []
    for place, raw in enumerate(raws):
        try:
            sound.append(decoder.decode(raw))
        except msgspec.ValidationError as problem:
            report.add(Reason.WRONG_TYPE, f"{what} at place {place}: {problem}")
    return sound


def _check_names(categories: list[Category], place: str) -> None:
    names: dict[int, str] = {}
    for category in categories:
        if names.setdefault(category.id, category.name) != category.name:
            raise InvalidInput(
                f"{place} names class {category.id} twice: {names[category.id]!r} and {category.name!r}. Remove one."
            )


def write(dataset: Dataset, path: Path) -> None:
    """Replace `path` in one step: a reader sees the old file or the new one."""
    write_atomic(path, msgspec.json.encode(dataset))


def number(value: float) -> Number:
    """A whole number as int, so that files stay short."""
    return int(value) if value == int(value) else value
