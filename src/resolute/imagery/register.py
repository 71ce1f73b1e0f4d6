"""What a dataset version is made of: digests of a COCO set's files, its class table and its statistics.

Reads a folder and sends nothing; `resolute dataset create` registers what comes out.
"""

import os
import re
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from resolute.domain.dataset import DatasetClass, DatasetFile
from resolute.domain.errors import InvalidInput, NotFound
from resolute.imagery import coco
from resolute.imagery.files import existing_folder, is_litter
from resolute.imagery.manifest import describe, files_of
from resolute.imagery.preprocessing import disagreement, read_record
from resolute.imagery.summary import statistics
from resolute.imagery.workers import Progress
from resolute.spec import manifest

_SHOWN = 3
_HASHING_THREADS = 8


@dataclass(frozen=True)
class Description:
    """All that is registered of a set, but for its name and who may find it where."""

    root: Path
    files: list[DatasetFile]
    annotations: tuple[str, ...]
    images: tuple[str, ...]
    """The image folder of every label file; empty: the root itself."""
    classes: tuple[DatasetClass, ...]
    statistics: dict[str, Any]

    @property
    def packed_manifest(self) -> bytes:
        return manifest.pack(self.files)

    @property
    def content_hash(self) -> str:
        return manifest.content_hash(self.files)


def describe_set(
    folder: Path,
    *,
    annotations: Sequence[str] = (),
    images: Sequence[str] = (),
    on_progress: Progress = lambda _: None,
) -> Description:
    """Look at a folder of COCO label files and image folders; names are relative to it.

    Without `annotations`, every COCO file at the top is taken; without `images`, the folder that a label file's
    pictures are found in. Raises when labels cannot be read, name pictures that are not there, or disagree on a class.
    Progress counts files.
    """
    root = existing_folder(folder).resolve()
    names = list(annotations) or _label_files(root)
    if images and len(images) != len(names):
        raise InvalidInput(
            f"There are {len(images)} image folders for {len(names)} label files. Give one for each, in the same order."
        )
    labels = {name: coco.read(_inside(root, name)) for name in names}
    folders = [
        _checked_folder(root, name, labels[name], images[place]) if images else _found_folder(root, name, labels[name])
        for place, name in enumerate(names)
    ]
    paths = sorted({*(root / name for name in names), *(path for each in folders for path in _pictures(root / each))})
    return Description(
        root=root,
        files=_digests(root, paths, on_progress),
        annotations=tuple(names),
        images=tuple(folders),
        classes=_classes(labels),
        statistics=_statistics(labels) | _made(root, folders),
    )


def _made(root: Path, folders: Sequence[str]) -> dict[str, Any]:
    """How the pictures of each image folder were made, where it says so. Its record is also one of the files."""
    records = {folder: read_record(root / folder) for folder in dict.fromkeys(folders)}
    known = [(folder, record) for folder, record in records.items() if record is not None]
    for (first, one), (second, other) in pairwise(known):
        differs = disagreement(one, other)
        if differs is not None:
            raise InvalidInput(
                f"The pictures in {root / first} and {root / second} were made differently: {differs}. Make both with "
                "the same --bands, --stretch and --limits."
            )
    return {"preprocessing": {folder: record.as_dict() for folder, record in known}} if known else {}


def _label_files(root: Path) -> list[str]:
    found = []
    for path in sorted(root.glob("*.json")):
        if is_litter(path.name) or path.name.startswith("."):
            continue
        try:
            if coco.read(path).images:
                found.append(path.name)
        except InvalidInput:
            continue
    if not found:
        raise NotFound(
            f"{root} has no COCO label file with images at its top. Name them with --annotations, or make them with "
            "`resolute data tile`."
        )
    return found


def _inside(root: Path, name: str) -> Path:
    if not manifest.is_inside(name):
        raise InvalidInput(f"{name!r} is no path inside {root}. Name it relative to the folder, with '/'.")
    return root / name


def _found_folder(root: Path, name: str, labels: coco.Dataset) -> str:
    """Where the first picture of a label file is: beside it, or in the folder that goes by its name."""
    stem, beside = Path(name).stem, Path(name).parent
    # `data tile` writes train_300_02.json beside train_images_300_02.
    tiles = re.sub(r"(_\d+_\d+)?$", r"_images\1", stem, count=1)
    candidates = [(beside / each).as_posix() for each in (tiles, f"{stem}_images", stem, "images", "")]
    others = sorted(path.relative_to(root).as_posix() for path in root.iterdir() if path.is_dir())
    for candidate in dict.fromkeys((*candidates, *others)):
        relative = "" if candidate == "." else candidate
        if labels.images and (root / relative / labels.images[0].file_name).is_file():
            return _checked_folder(root, name, labels, relative)
    first = labels.images[0].file_name if labels.images else "no picture at all"
    raise NotFound(f"{root / name} names {first}, which is in no folder of {root}. Say where with --images.")


def _checked_folder(root: Path, name: str, labels: coco.Dataset, folder: str) -> str:
    relative = "" if folder.strip("/") in ("", ".") else _inside(root, folder.strip("/")).relative_to(root).as_posix()
    there = existing_folder(root / relative)
    missing = [image.file_name for image in labels.images if not (there / image.file_name).is_file()]
    if missing:
        raise NotFound(
            f"{root / name} names {len(missing)} pictures that are not in {there}, such as "
            f"{', '.join(missing[:_SHOWN])}. Put them there, or give another folder with --images."
        )
    return relative


def _pictures(folder: Path) -> Iterable[Path]:
    """Every file below that is not hidden, nor in a hidden folder."""
    found = ((path, path.relative_to(folder).parts) for path in files_of(folder))
    return (path for path, parts in found if not any(part.startswith(".") for part in parts))


def _digests(root: Path, paths: list[Path], on_progress: Progress) -> list[DatasetFile]:
    """Hashing gives the interpreter lock away, so threads share the work."""
    found = []
    with ThreadPoolExecutor(min(_HASHING_THREADS, os.cpu_count() or 1)) as pool:
        for stored in pool.map(lambda path: describe(root, path), paths):
            found.append(DatasetFile(stored.path, stored.size, stored.sha256))
            on_progress(1)
    return found


def _classes(labels: dict[str, coco.Dataset]) -> tuple[DatasetClass, ...]:
    names: dict[int, tuple[str, str]] = {}
    for place, dataset in labels.items():
        for category in dataset.categories:
            known, first = names.setdefault(category.id, (category.name, place))
            if known != category.name:
                raise InvalidInput(
                    f"Class {category.id} is {known!r} in {first} and {category.name!r} in {place}. "
                    "Give label files of one set the same classes."
                )
    return tuple(DatasetClass(key, names[key][0]) for key in sorted(names))


def _statistics(labels: dict[str, coco.Dataset]) -> dict[str, Any]:
    parts = {name: asdict(statistics(dataset)) for name, dataset in labels.items()}
    return {
        "images": sum(part["images"] for part in parts.values()),
        "annotations": sum(part["annotations"] for part in parts.values()),
        "label_files": [{"path": name, **part} for name, part in parts.items()],
    }
