"""Finds the label file and the pictures of each split, from a folder, a store, or a registered dataset version.

What is named by hyperparameters is taken as it is; the rest is looked for under the names that `resolute data tile`,
COCO and common layouts use.
"""

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import obstore
from obstore.exceptions import BaseError

from resolute.domain.errors import InvalidInput, NotFound
from resolute.imagery import coco
from resolute.imagery.preprocessing import RECORD
from resolute.imagery.render_options import RenderOptions
from resolute.vision.data.packed import PackedImages, cache_folder
from resolute.vision.data.sources import ImageSource, LocalImages, StoredImages
from resolute.vision.storage import explained, is_address, open_store, read_bytes

STORES = {"aws": "s3", "s3": "s3", "gcs": "gs", "gs": "gs", "azure": "az", "az": "az"}
PACKED = "packed"
BACKENDS = ("local", "aws", "s3", "gcs", "azure", PACKED, "fake")
_DEPTH = 3
_SKIPPED_PREFIX = "."


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """`labels` and `images` are relative to the data's root, or absolute, or addresses; None: look for them."""

    name: str
    labels: str | None = None
    images: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    labels: coco.Dataset
    source: ImageSource
    labels_place: str


def open_packed(split: Split, *, data_dir: str, cache_dir: str, cache_gb: float) -> Found:
    """A set of shards in a folder or a store: `<data_dir>/<split>`, or where `images` says."""
    if not data_dir and not split.images:
        raise InvalidInput(
            "There is no data_dir. Set the hyperparameter data_dir to where `resolute data pack` put the sets, such as "
            "s3://bucket/prefix with the sets train and val in it."
        )
    inside = split.images or split.name
    address = inside if is_address(inside) or Path(inside).is_absolute() else f"{data_dir.rstrip('/')}/{inside}"
    source = PackedImages(address, cache=cache_folder(cache_dir), cache_gb=cache_gb)
    return Found(source.labels(), source, address)


def open_split(split: Split, *, backend: str, data_dir: str, options: RenderOptions | None = None) -> Found:
    """Reads the labels; the pictures are read when they are needed, originals with `options`. Raises with the place
    that was looked at."""
    if not data_dir and not (split.labels and split.images):
        raise InvalidInput(
            "There is no data_dir. Set the hyperparameter data_dir to the folder with the labels and tiles "
            "(`resolute data tile` writes one), a bucket for the backends aws, gcs and azure, or use backend: fake."
        )
    root: _Root = _Folder(Path(data_dir), options) if backend == "local" else _Bucket(backend, data_dir)
    listing = root.listing() if split.labels is None or split.images is None else _Listing((), ())
    labels = split.labels or listing.labels_of(split.name, root.place)
    images = split.images if split.images is not None else listing.images_of(split.name, labels)
    return Found(root.read_labels(labels), root.images(images), f"{root.place}/{labels}")


@dataclass(frozen=True, slots=True)
class _Listing:
    files: tuple[str, ...]
    """Label files, relative to the root."""
    folders: tuple[str, ...]

    def labels_of(self, split: str, place: str) -> str:
        named = [path for path in self.files if _speaks_of(PurePosixPath(path).stem, split)]
        if not named:
            seen = ", ".join(self.files[:5]) or "no .json file"
            raise NotFound(
                f"There is no label file for {split} in {place}: expected a name such as {split}.json or "
                f"{split}_300_02.json, found {seen}. Name it with the hyperparameter {split}_labels."
            )
        nearest = min(len(PurePosixPath(path).parts) for path in named)
        near = [path for path in named if len(PurePosixPath(path).parts) == nearest]
        if len(near) > 1 and f"{split}.json" not in near:
            raise InvalidInput(
                f"{place} has several label files for {split}: {', '.join(sorted(near)[:5])}. "
                f"Choose one with the hyperparameter {split}_labels."
            )
        return f"{split}.json" if f"{split}.json" in near else near[0]

    def images_of(self, split: str, labels: str) -> str:
        """`train_300_02.json` has its tiles in `train_images_300_02` beside it."""
        path = PurePosixPath(labels)
        beside = path.parent
        rest = path.stem.removeprefix(split)
        names = (
            f"{split}_images{rest}",
            f"{path.stem}_images",
            f"{split}_images",
            f"images/{split}",
            path.stem,
            "images",
            split,
        )
        for name in names:
            if (beside / name).as_posix() in self.folders:
                return (beside / name).as_posix()
        return "" if beside.as_posix() == "." else beside.as_posix()


class _Folder:
    def __init__(self, folder: Path, options: RenderOptions | None = None) -> None:
        self._folder, self._options = folder, options
        self.place = str(folder)

    def listing(self) -> _Listing:
        if not self._folder.is_dir():
            raise NotFound(
                f"data_dir {self._folder} is not a folder here. Check the path; on a cluster it must be there on every "
                "machine, or use a store (backend: aws, gcs or azure)."
            )
        files: list[str] = []
        folders: list[str] = []
        for parent, names, found in os.walk(self._folder):
            base = Path(parent).relative_to(self._folder)
            names[:] = (
                [name for name in names if not name.startswith(_SKIPPED_PREFIX)] if len(base.parts) < _DEPTH else []
            )
            folders.extend((base / name).as_posix() for name in names)
            files.extend((base / name).as_posix() for name in found if _is_label_file(name))
        return _Listing(tuple(sorted(files)), tuple(sorted(folders)))

    def read_labels(self, path: str) -> coco.Dataset:
        return coco.read(self._folder / path)

    def images(self, path: str) -> ImageSource:
        folder = self._folder / path
        if not folder.is_dir():
            raise NotFound(f"There is no image folder {folder}. Check the hyperparameters data_dir and *_images.")
        return LocalImages(folder, self._options)


class _Bucket:
    """Signs requests when credentials are there, and asks as anybody when not: public sets need none."""

    def __init__(self, backend: str, data_dir: str) -> None:
        scheme = STORES[backend]
        self.place = data_dir.rstrip("/") if is_address(data_dir) else f"{scheme}://{data_dir.strip('/')}"
        self._is_anonymous = scheme == "s3" and not any(
            name.startswith("AWS_") and "KEY" in name for name in os.environ
        )
        self._store = open_store(self.place, is_anonymous=self._is_anonymous)

    def listing(self) -> _Listing:
        files: list[str] = []
        folders: list[str] = []
        waiting = [""]
        try:
            for _ in range(_DEPTH):
                here, waiting = waiting, []
                for prefix in here:
                    found = obstore.list_with_delimiter(self._store, prefix or None)
                    files.extend(
                        str(entry["path"])
                        for entry in found["objects"]
                        if _is_label_file(str(entry["path"]).rpartition("/")[2])
                    )
                    waiting.extend(str(name) for name in found["common_prefixes"])
                folders.extend(waiting)
        except (BaseError, FileNotFoundError) as problem:
            raise explained(self.place, problem) from problem
        return _Listing(tuple(sorted(files)), tuple(sorted(folders)))

    def read_labels(self, path: str) -> coco.Dataset:
        if Path(path).is_absolute():
            return coco.read(Path(path))  # A label file may lie on the machine while the pictures are in the store.
        return coco.decode(read_bytes(self._store, path, self.place), f"{self.place}/{path}")

    def images(self, path: str) -> ImageSource:
        address = path if is_address(path) else f"{self.place}/{path}".rstrip("/")
        return StoredImages(address, is_anonymous=self._is_anonymous)


_Root = _Folder | _Bucket


def _is_label_file(name: str) -> bool:
    return name.endswith(".json") and name[0] != "." and name != RECORD


def _speaks_of(stem: str, split: str) -> bool:
    """train, train_300_02, instances_train2017; not constraint."""
    words = "".join(each if each.isalpha() else " " for each in stem.lower()).split()
    return split in words
