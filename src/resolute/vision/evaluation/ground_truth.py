"""Labels to measure against: a COCO file or dictionary, checked once and handed to the metric engine as columns.

Nothing is guessed: a label that cannot be measured is refused with its id. Only a missing area is filled in.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal, cast

import hotcoco
import msgspec
import numpy as np

from resolute.domain.errors import InvalidInput, NotFound
from resolute.imagery.collector import paused_collector

IouType = Literal["bbox", "segm"]
Source = Path | str | Mapping[str, Any]


class _Image(msgspec.Struct, gc=False):
    id: int
    width: int = 0
    height: int = 0
    file_name: str = ""


class _Box(msgspec.Struct, gc=False):
    """An annotation when only boxes matter: its outline is not even decoded."""

    id: int
    image_id: int
    category_id: int
    bbox: tuple[float, float, float, float]
    area: float | None = None
    iscrowd: int = 0


class _Outline(_Box, gc=False):
    segmentation: list[list[float]] | dict[str, Any] | None = None


class _Category(msgspec.Struct):
    id: int
    name: str


class _Labels(msgspec.Struct):
    images: list[_Image]
    categories: list[_Category]
    annotations: list[_Box] = []


class _OutlinedLabels(msgspec.Struct):
    images: list[_Image]
    categories: list[_Category]
    annotations: list[_Outline] = []


@dataclass(frozen=True, slots=True)
class TrueBoxes:
    """What is really on one image: corners, category ids, and which of them stand for a crowd."""

    boxes: np.ndarray[Any, np.dtype[np.float64]]
    categories: np.ndarray[Any, np.dtype[np.int64]]
    is_crowd: np.ndarray[Any, np.dtype[np.bool_]]
    outlines: list[Any] | None = None
    """COCO segmentations, one for each box, when masks are measured."""


class GroundTruth:
    """`engine` is the labels as the metric engine wants them; the rest is for checks, tables and pictures."""

    def __init__(self, source: Source, *, has_masks: bool) -> None:
        # Hundreds of thousands of small objects, none of them garbage.
        with paused_collector():
            self._load(_read(source, _OutlinedLabels if has_masks else _Labels), has_masks=has_masks)

    def _load(self, labels: "_Labels | _OutlinedLabels", *, has_masks: bool) -> None:
        self._has_masks = has_masks
        self.images: dict[int, _Image] = {image.id: image for image in labels.images}
        self.names = {category.id: category.name for category in sorted(labels.categories, key=lambda c: c.id)}
        self._annotations = labels.annotations
        _check(labels, self.images, self.names, has_masks=has_masks)
        self.engine = self._columns(labels, has_masks=has_masks)

    def file_name(self, image_id: int) -> str:
        return self.images[image_id].file_name

    def of_image(self, image_id: int) -> TrueBoxes:
        found = [a for a in self._annotations if a.image_id == image_id]
        xywh = np.array([a.bbox for a in found], dtype=np.float64).reshape(-1, 4)
        return TrueBoxes(
            np.concatenate([xywh[:, :2], xywh[:, :2] + xywh[:, 2:]], axis=1),
            np.array([a.category_id for a in found], dtype=np.int64),
            np.array([bool(a.iscrowd) for a in found], dtype=bool),
            [a.segmentation for a in cast(list[_Outline], found)] if self._has_masks else None,
        )

    def counts(self, image_ids: set[int]) -> dict[int, int]:
        """Labels of each category on these images, crowds left out."""
        totals = dict.fromkeys(self.names, 0)
        for annotation in self._annotations:
            if annotation.image_id in image_ids and not annotation.iscrowd:
                totals[annotation.category_id] += 1
        return totals

    def _columns(self, labels: "_Labels | _OutlinedLabels", *, has_masks: bool) -> Any:
        found = labels.annotations
        boxes = np.array(list(chain.from_iterable([a.bbox for a in found])), dtype=np.float64).reshape(-1, 4)
        outlines: Any = [a.segmentation for a in cast(list[_Outline], found)] if has_masks else None
        return hotcoco.COCO.from_arrays(
            [{"id": i.id, "width": i.width, "height": i.height, "file_name": i.file_name} for i in labels.images],
            [{"id": number, "name": name} for number, name in self.names.items()],
            np.array([a.image_id for a in found], dtype=np.int64),
            np.array([a.category_id for a in found], dtype=np.int64),
            boxes,
            # Numbered anew from 1: label files number from 0 or twice, and the metric's definition reserves 0.
            ids=np.arange(1, len(found) + 1),
            area=np.array([a.bbox[2] * a.bbox[3] if a.area is None else a.area for a in found], dtype=np.float64),
            iscrowd=np.array([int(bool(a.iscrowd)) for a in found], dtype=np.int64),
            segmentation=outlines,
        )


def _read(source: Source, form: type[Any]) -> Any:
    if isinstance(source, Mapping):
        return _decoded("The ground truth", lambda: msgspec.convert(dict(source), form, strict=False))
    path = Path(source)
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        raise NotFound(f"There is no label file {path}. `resolute data coco` writes one.") from None
    except OSError as problem:
        raise InvalidInput(f"The label file {path} cannot be read: {problem.strerror}.") from problem
    return _decoded(str(path), lambda: msgspec.json.decode(text, type=form, strict=False))


def _decoded(place: str, decode: Any) -> Any:
    try:
        return decode()
    except msgspec.ValidationError as problem:
        raise InvalidInput(
            f"{place} is not a COCO label set: {problem}. It needs images, categories and annotations with boxes "
            "(x, y, width, height)."
        ) from problem
    except msgspec.DecodeError as problem:
        raise InvalidInput(f"{place} is not JSON: {problem}. Was it cut off while being copied?") from problem


def _check(
    labels: "_Labels | _OutlinedLabels", images: dict[int, _Image], names: dict[int, str], *, has_masks: bool
) -> None:
    if not labels.categories:
        raise InvalidInput("The ground truth has no categories, so nothing can be measured. Add its class table.")
    if len(images) != len(labels.images):
        raise InvalidInput("The ground truth uses an image id twice. Give every image an id of its own.")
    used = {annotation.category_id for annotation in labels.annotations}
    placed = {annotation.image_id for annotation in labels.annotations}
    # The set of ids is looked at first; only a fault makes looking at every annotation worth it.
    for annotation in labels.annotations if used - names.keys() or placed - images.keys() else ():
        if annotation.category_id not in names:
            raise InvalidInput(
                f"Annotation {annotation.id} has category {annotation.category_id}, which is not in the class table "
                f"({_short(names)}). Add it there, or run `resolute data check`."
            )
        if annotation.image_id not in images:
            raise InvalidInput(
                f"Annotation {annotation.id} belongs to image {annotation.image_id}, which is not listed. "
                "Run `resolute data check` to see every such label."
            )
    if has_masks:
        _check_outlines(cast(list[_Outline], labels.annotations))


def _check_outlines(annotations: list[_Outline]) -> None:
    bare = [annotation.id for annotation in annotations if not annotation.segmentation]
    if bare:
        raise InvalidInput(
            f"{len(bare)} annotation(s) have no mask, such as {bare[0]}, so masks cannot be measured. "
            "Measure boxes alone with iou_type='bbox', or add their segmentation."
        )


def _short(names: dict[int, str]) -> str:
    known = [f"{number} {name}" for number, name in names.items()]
    return ", ".join(known[:5]) + (", ..." if len(known) > 5 else "")
