"""Manifests and label files of datasets, read once and kept by their content while there is room.

Keys are content hashes, so what is kept never goes stale. Thread-safe. Decides nothing about who may look.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from resolute.domain.dataset import DatasetFile, DatasetVersion
from resolute.domain.errors import NotFound, TooLarge
from resolute.engine.platform import Platform
from resolute.engine.registry.datasets import read_file
from resolute.imagery.coco import Annotation, Dataset, Image, decode
from resolute.spec.manifest import unpack

T = TypeVar("T")
MAX_LABEL_BYTES = 1 << 30
_ROOM = 512 << 20
"""Bytes of memory for parsed label files, and as many for manifests."""
_BYTES_PER_FILE = 400
"""What one entry of a manifest takes in memory."""
_BYTES_PER_LABEL_BYTE = 4
"""What a byte of a COCO file takes once it is parsed."""


class Kept(Generic[T]):
    """The most recently used values, up to a weight in all; one alone may weigh more."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._items: OrderedDict[str, tuple[T, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str, make: Callable[[], tuple[T, int]]) -> T:
        """`make` gives the value and its weight; it runs once at a time, so that two callers do not do it twice."""
        with self._lock:
            if key not in self._items:
                self._items[key] = make()
                while len(self._items) > 1 and sum(weight for _, weight in self._items.values()) > self._room:
                    self._items.popitem(last=False)
            self._items.move_to_end(key)
            return self._items[key][0]


@dataclass(frozen=True, slots=True)
class Labels:
    """One label file: its images in file order, with their annotations."""

    images: list[Image]
    of_image: dict[int, list[Annotation]]

    def with_category(self, category_id: int | None) -> list[Image]:
        """Images that have a box of this category; None: all."""
        if category_id is None:
            return self.images
        return [image for image in self.images if any(a.category_id == category_id for a in self.of_image[image.id])]


class DatasetReader:
    def __init__(self, room: int = _ROOM) -> None:
        self._manifests: Kept[dict[str, DatasetFile]] = Kept(room)
        self._labels: Kept[Labels] = Kept(room)

    def manifest(self, platform: Platform, dataset: DatasetVersion) -> dict[str, DatasetFile]:
        """Path to file, sorted by path."""

        def make() -> tuple[dict[str, DatasetFile], int]:
            with platform.store.read() as tx:
                packed = tx.contexts.get(dataset.manifest_id)
            return {file.path: file for file in unpack(packed)}, dataset.file_count * _BYTES_PER_FILE

        return self._manifests.get(dataset.manifest_id, make)

    def file(self, platform: Platform, dataset: DatasetVersion, path: str) -> DatasetFile:
        """Raises NotFound for whatever the manifest does not name."""
        file = self.manifest(platform, dataset).get(path)
        if file is None:
            raise NotFound(f"dataset {dataset.reference} has no file {path!r}. Its manifest names those it has.")
        return file

    def labels(self, platform: Platform, dataset: DatasetVersion, annotation_index: int) -> Labels:
        """The label file at this place of `annotations`."""
        if not 0 <= annotation_index < len(dataset.annotations):
            known = ", ".join(f"{n} ({path})" for n, path in enumerate(dataset.annotations)) or "none"
            raise NotFound(f"dataset {dataset.reference} has no label file number {annotation_index}. It has: {known}.")
        file = self.file(platform, dataset, dataset.annotations[annotation_index])
        if file.size > MAX_LABEL_BYTES:
            raise TooLarge(
                f"{file.path} has {file.size >> 20} MiB; pages of images end at {MAX_LABEL_BYTES >> 20} MiB."
            )

        def make() -> tuple[Labels, int]:
            return _parsed(read_file(platform, dataset, file), file.path), file.size * _BYTES_PER_LABEL_BYTE

        return self._labels.get(file.sha256, make)


def _parsed(text: bytes, place: str) -> Labels:
    coco: Dataset = decode(text, place)
    return Labels(coco.images, coco.by_image())
