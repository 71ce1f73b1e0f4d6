"""xView's label file: features with pixel bounds, class and image name, read as columns.

A million features a second: typed parsing, then whole columns at once. A feature of the wrong type is set aside and
counted; it never stops the rest.
"""

from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from resolute.domain.errors import InvalidInput, NotFound
from resolute.imagery.bounds import boxes_of
from resolute.imagery.coco import BYTE_ORDER_MARK
from resolute.imagery.collector import paused_collector
from resolute.imagery.geometry import Boxes
from resolute.imagery.report import Reason, Report

Bounds = str | list[Any] | None


class _Properties(msgspec.Struct, gc=False, kw_only=True):
    """In the order of xView's own file, where each field is then found at the first look."""

    bounds_imcoords: Bounds = None
    type_id: Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
    image_id: str


class _Feature(msgspec.Struct, gc=False):
    properties: _Properties


class _Collection(msgspec.Struct):
    features: list[_Feature]


class _RawCollection(msgspec.Struct):
    features: list[msgspec.Raw]


@dataclass
class Features:
    """Columns of the same length. `index` is the feature's place in the file."""

    index: NDArray[np.int64]
    image_ids: list[str]
    type_ids: NDArray[np.int64]
    bounds: list[Bounds]

    def __len__(self) -> int:
        return len(self.bounds)

    def place(self, row: int) -> str:
        return f"feature {self.index[row]} ({self.image_ids[row]}, bounds {self.bounds[row]!r})"


def read(path: Path, report: Report) -> Features:
    try:
        return parse(path.read_bytes(), str(path), report)
    except FileNotFoundError:
        raise NotFound(f"There is no label file {path}. Check the path.") from None
    except IsADirectoryError:
        raise InvalidInput(f"{path} is a folder. Give the GeoJSON file itself.") from None


def parse(text: bytes, place: str, report: Report) -> Features:
    """Raises InvalidInput only when the whole file is of no use."""
    with paused_collector():
        return _parse(text.removeprefix(BYTE_ORDER_MARK), place, report)


def _parse(text: bytes, place: str, report: Report) -> Features:
    try:
        found = msgspec.json.decode(text, type=_Collection).features
    except msgspec.ValidationError:
        return _one_by_one(text, place, report)
    except msgspec.DecodeError as problem:
        raise InvalidInput(f"{place} is not JSON: {problem}. Was it cut off while being copied?") from problem
    return _columns(np.arange(len(found)), [feature.properties for feature in found])


def parse_bounds(features: Features, report: Report) -> tuple[Boxes, NDArray[np.bool_]]:
    """Boxes as corners, and which rows have one. Rows without are (0, 0, 0, 0) and are in the report."""
    with paused_collector():
        boxes = boxes_of(features.bounds)
        if boxes is not None:
            return boxes, np.ones(len(boxes), dtype=bool)
        return _most_at_once(features, report)


def _most_at_once(features: Features, report: Report) -> tuple[Boxes, NDArray[np.bool_]]:
    texts = features.bounds
    has_box = np.array([type(text) is str and text.count(",") == 3 for text in texts], dtype=bool)
    boxes = np.zeros((len(features), 4))
    found = boxes_of([texts[row] for row in np.flatnonzero(has_box).tolist()])
    if found is None:
        has_box[:] = False
    else:
        boxes[has_box] = found
    for row in np.flatnonzero(~has_box).tolist():
        box = _parse_one(features, row, report)
        if box is not None:
            boxes[row], has_box[row] = box, True
    return boxes, has_box


def _parse_one(features: Features, row: int, report: Report) -> list[float] | None:
    bounds = features.bounds[row]
    if bounds is None or len(bounds) == 0 or (isinstance(bounds, str) and not bounds.strip()):
        report.add(Reason.EMPTY_BOUNDS, features.place(row))
        return None
    parts = bounds.split(",") if isinstance(bounds, str) else bounds
    if len(parts) != 4:
        report.add(Reason.NOT_FOUR_NUMBERS, features.place(row))
        return None
    try:
        box = [float(part) for part in parts]
    except (TypeError, ValueError):
        box = [float("nan")]
    if not np.isfinite(box).all():
        report.add(Reason.NOT_NUMBERS, features.place(row))
        return None
    return box


def _one_by_one(text: bytes, place: str, report: Report) -> Features:
    try:
        raws = msgspec.json.decode(text, type=_RawCollection).features
    except msgspec.DecodeError as problem:
        raise InvalidInput(
            f"{place} is JSON, but not a GeoJSON feature collection: {problem}. It needs a list under `features`."
        ) from problem
    decoder = msgspec.json.Decoder(_Feature)
    kept: list[int] = []
    properties: list[_Properties] = []
    for index, raw in enumerate(raws):
        try:
            properties.append(decoder.decode(raw).properties)
            kept.append(index)
        except msgspec.ValidationError as problem:
            report.add(Reason.WRONG_TYPE, f"feature {index}: {problem}")
    return _columns(np.array(kept, dtype=np.int64), properties)


def _columns(index: NDArray[np.int64], properties: list[_Properties]) -> Features:
    return Features(
        index=index,
        image_ids=[p.image_id for p in properties],
        type_ids=np.frombuffer(array("q", [p.type_id for p in properties]), dtype=np.int64),
        bounds=[p.bounds_imcoords for p in properties],
    )
