"""Detections of many images in one file each: COCO, CSV and GeoPackage. Written as they come, so memory stays flat.

Every file appears under its name when it is whole, and not at all when the run is cut off.
"""

import itertools
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Protocol

import msgspec
import numpy as np
import pyogrio
import shapely
from pyogrio.errors import DataSourceError

from resolute.domain.errors import Unavailable
from resolute.imagery.files import make_folder
from resolute.imagery.georeference import Georeference
from resolute.vision.detections import ClassName
from resolute.vision.geo import each_feature
from resolute.vision.slicing.regions import Regions

FORMATS = ("coco", "csv", "gpkg")
_STEM = "detections"
_CSV_HEADER = "image,class,class_id,score,x1,y1,x2,y2\n"
_LAYER = "detections"
_BATCH = 20_000
"""Features of a GeoPackage that are held at once."""
_FIELDS = ("class", "class_id", "score", "image_id", "bounds_imcoords")


class _Writer(Protocol):
    def add(self, image: str, found: Regions, classes: Sequence[ClassName], place: Georeference | None) -> None: ...

    def end(self) -> None:
        """What is missing to a whole file."""


class DetectionFiles:
    """Use as a context manager; `add` for every image. `left_out` are images that a GeoPackage has no place for."""

    def __init__(self, folder: Path, formats: Sequence[str]) -> None:
        self._pairs: list[tuple[Path, Path, _Writer]] = []
        self.left_out: list[str] = []
        self.written: list[Path] = []
        for name in formats:
            suffix, make = _WRITERS[name]
            target = make_folder(folder) / f"{_STEM}{suffix}"
            # GDAL goes by the suffix.
            part = target.with_name(f".{_STEM}.{os.getpid()}{suffix}")
            part.unlink(missing_ok=True)
            self._pairs.append((part, target, make(part, self.left_out)))

    def add(self, image: str, found: Regions, classes: Sequence[ClassName], place: Georeference | None) -> None:
        for part, _, writer in self._pairs:
            try:
                writer.add(image, found, classes, place)
            except (OSError, DataSourceError) as problem:
                raise Unavailable(f"{part.parent} cannot be written: {problem}. Make room, then run it again.") from (
                    problem
                )

    def __enter__(self) -> "DetectionFiles":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for part, target, writer in self._pairs:
            writer.end()
            if error is None and part.exists():
                os.replace(part, target)
                self.written.append(target)
            else:
                with suppress(OSError):
                    part.unlink()


class _Coco:
    """A label file with scores: what COCO's own tools read as ground truth or, its annotations alone, as results."""

    def __init__(self, path: Path, left_out: list[str]) -> None:
        self._file: BinaryIO = path.open("wb")
        self._file.write(b'{"annotations":[')
        self._images: list[dict[str, Any]] = []
        self._classes: dict[int, str] = {}
        self._count = 0

    def add(self, image: str, found: Regions, classes: Sequence[ClassName], place: Georeference | None) -> None:
        image_id = len(self._images) + 1
        self._images.append({"id": image_id, "file_name": image, "width": found.width, "height": found.height})
        self._classes |= {named.id: named.name for named in classes}
        for row, (x1, y1, x2, y2) in enumerate(np.round(found.boxes.astype(float), 2).tolist()):
            entry = {
                "id": self._count + 1,
                "image_id": image_id,
                "category_id": classes[int(found.labels[row]) - 1].id,
                "bbox": [x1, y1, round(x2 - x1, 2), round(y2 - y1, 2)],
                "area": round((x2 - x1) * (y2 - y1), 2),
                "iscrowd": 0,
                "segmentation": [],
                "score": round(float(found.scores[row]), 6),
            }
            self._file.write(b",\n" if self._count else b"\n")
            self._file.write(msgspec.json.encode(entry))
            self._count += 1

    def end(self) -> None:
        categories = [{"id": key, "name": name} for key, name in sorted(self._classes.items())]
        rest = msgspec.json.encode({"images": self._images, "categories": categories})
        self._file.write(b"\n]," + rest.removeprefix(b"{") + b"\n")
        self._file.close()


class _Csv:
    def __init__(self, path: Path, left_out: list[str]) -> None:
        self._file = path.open("w", encoding="utf-8", newline="")
        self._file.write(_CSV_HEADER)

    def add(self, image: str, found: Regions, classes: Sequence[ClassName], place: Georeference | None) -> None:
        for row, box in enumerate(np.round(found.boxes.astype(float), 2).tolist()):
            named = classes[int(found.labels[row]) - 1]
            corners = ",".join(f"{value:g}" for value in box)
            head = f"{_cell(image)},{_cell(named.name)},{named.id}"
            self._file.write(f"{head},{float(found.scores[row]):.6f},{corners}\n")

    def end(self) -> None:
        self._file.close()


class _GeoPackage:
    """One layer in longitude and latitude."""

    def __init__(self, path: Path, left_out: list[str]) -> None:
        self._path, self._left_out = path, left_out
        self._write([])

    def add(self, image: str, found: Regions, classes: Sequence[ClassName], place: Georeference | None) -> None:
        if place is None:
            self._left_out.append(image)
            return
        features = each_feature(found, classes, place, image=image)
        while batch := list(itertools.islice(features, _BATCH)):
            self._write(batch)

    def end(self) -> None:
        pass

    def _write(self, features: list[dict[str, Any]]) -> None:
        rows = [feature["properties"] for feature in features]
        shapes = [msgspec.json.encode(feature["geometry"]).decode() for feature in features]
        geometries = [shapely.multipolygons([each]) if _is_one(each) else each for each in shapely.from_geojson(shapes)]
        kinds = {"class": object, "class_id": np.int64, "score": np.float64}
        pyogrio.raw.write(
            self._path,
            shapely.to_wkb(np.array(geometries, dtype=object)),
            [np.array([row[name] for row in rows], dtype=kinds.get(name, object)) for name in _FIELDS],
            list(_FIELDS),
            layer=_LAYER,
            driver="GPKG",
            geometry_type="MultiPolygon",
            crs="EPSG:4326",
            append=self._path.exists(),
        )


def _is_one(geometry: Any) -> bool:
    return bool(shapely.get_type_id(geometry) == shapely.GeometryType.POLYGON)


def _cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\n') else text


_WRITERS: dict[str, tuple[str, Callable[[Path, list[str]], _Writer]]] = {
    "coco": (".json", _Coco),
    "csv": (".csv", _Csv),
    "gpkg": (".gpkg", _GeoPackage),
}
