"""COCO label files: typed reading and writing. Knows the format, not what may be done with it.

Reading keeps images, annotations and categories; other top-level keys and extra fields are not carried over.
"""

from pathlib import Path
from typing import Any

import msgspec

from resolute.domain.errors import InvalidInput, NotFound
from resolute.imagery.files import write_atomic

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


def read(path: Path) -> Dataset:
    """Raises NotFound or InvalidInput with the place of the fault."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        raise NotFound(f"There is no label file {path}. `resolute data coco` writes one.") from None
    except OSError as problem:
        raise InvalidInput(f"The label file {path} cannot be read: {problem.strerror}.") from problem
    return decode(text, str(path))


def decode(text: bytes, place: str) -> Dataset:
    try:
        return msgspec.json.decode(text, type=Dataset)
    except msgspec.ValidationError as problem:
        raise InvalidInput(f"{place} is JSON, but not a COCO label file: {problem}. Correct it there.") from problem
    except msgspec.DecodeError as problem:
        raise InvalidInput(f"{place} is not JSON: {problem}. Was it cut off while being copied?") from problem


def write(dataset: Dataset, path: Path) -> None:
    """Replace `path` in one step: a reader sees the old file or the new one."""
    write_atomic(path, msgspec.json.encode(dataset))


def number(value: float) -> Number:
    """A whole number as int, so that files stay short."""
    return int(value) if value == int(value) else value
