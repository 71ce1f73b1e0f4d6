"""COCO labels as samples to learn from: checked, cut to the image, counted. Pure; pixels are not touched.

Labels of a model are 1, 2, 3 ... in the order of category ids; 0 is the background.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from resolute.domain.errors import InvalidInput
from resolute.imagery import coco
from resolute.imagery.geometry import Window, areas, as_boxes, clipped, corners
from resolute.imagery.grid import Grid
from resolute.imagery.tile_labels import assign
from resolute.vision.detections import ClassName

# Why labels or images were left out or changed; the words are what a user reads.
CROWD = "crowd labels, not learnt from"
CUT = "boxes cut at the edge of the image"
DEGENERATE = "boxes without area"
STRANGER = "labels of a category that is not in the table"
ORPHAN = "labels of images that are not in the file"
UNLABELLED = "images without labels, not learnt from"
MISSING = "images that are not there"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One picture to learn from or be measured on: an image, or a window of a large one."""

    image_id: int
    file_name: str
    width: int
    height: int
    boxes: NDArray[np.float32]
    """[n, 4] as x1, y1, x2, y2 in pixels of this picture."""
    labels: NDArray[np.int64]
    areas: NDArray[np.float32]
    is_crowd: NDArray[np.bool_]
    masks: tuple[Any, ...] = ()
    """COCO segmentations, one for each box; empty when nobody asked for them."""
    window: Window | None = None

    def chosen(self, rows: NDArray[Any]) -> "Sample":
        picked = np.arange(len(self.boxes))[rows]
        return replace(
            self,
            boxes=self.boxes[picked],
            labels=self.labels[picked],
            areas=self.areas[picked],
            is_crowd=self.is_crowd[picked],
            masks=tuple(self.masks[row] for row in picked) if self.masks else (),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelTable:
    """The samples of one split with its class table, and what had to be left out."""

    name: str
    classes: tuple[ClassName, ...]
    samples: tuple[Sample, ...]
    report: Counter[str] = field(default_factory=Counter)

    @property
    def label_to_category(self) -> dict[int, int]:
        return {place: row.id for place, row in enumerate(self.classes, start=1)}

    def only(self, samples: Sequence[Sample], reason: str) -> "LabelTable":
        """Without the other samples, which are counted under `reason`."""
        left_out = len(self.samples) - len(samples)
        return replace(self, samples=tuple(samples), report=self.report + Counter({reason: left_out}))

    def sentence(self) -> str:
        boxes = sum(len(sample.boxes) for sample in self.samples)
        parts = [f"{count} {reason}" for reason, count in sorted(self.report.items()) if count]
        left = f" Left out or changed: {'; '.join(parts)}." if parts else ""
        return f"{self.name}: {len(self.samples)} images, {boxes} boxes, {len(self.classes)} classes.{left}"


def read_labels(dataset: coco.Dataset, name: str, *, with_masks: bool = False) -> LabelTable:
    """Raises InvalidInput when there is no image or no category at all."""
    if not dataset.categories:
        raise InvalidInput(f"{name} has no categories, so there is nothing to tell apart. Add its class table.")
    if not dataset.images:
        raise InvalidInput(f"{name} has no images. Check the label file and the filters it was made with.")
    classes = tuple(ClassName(row.id, row.name) for row in sorted(dataset.categories, key=lambda row: row.id))
    twice = [count for count in Counter(row.id for row in classes).items() if count[1] > 1]
    if twice:
        raise InvalidInput(f"{name} has category {twice[0][0]} {twice[0][1]} times. Give every category its own id.")
    report: Counter[str] = Counter()
    label_of = {row.id: place for place, row in enumerate(classes, start=1)}
    by_image = dataset.by_image()
    known = {image.id for image in dataset.images}
    report[ORPHAN] = sum(len(rows) for number, rows in by_image.items() if number not in known)
    samples = tuple(_sample(image, by_image[image.id], label_of, report, with_masks) for image in dataset.images)
    return LabelTable(name=name, classes=classes, samples=samples, report=+report)


def _sample(
    image: coco.Image, annotations: list[coco.Annotation], label_of: dict[int, int], report: Counter[str], masks: bool
) -> Sample:
    known = [row for row in annotations if row.category_id in label_of and len(row.bbox) == 4]
    report[STRANGER] += len(annotations) - len(known)
    whole = corners(as_boxes([row.bbox for row in known]))
    boxes = clipped(whole, image.width, image.height)
    has_area = areas(boxes) > 0
    report[DEGENERATE] += int((~has_area).sum())
    report[CUT] += int(((whole != boxes).any(axis=1) & has_area).sum())
    sizes = np.array([row.area or 0 for row in known], dtype=np.float32)
    return Sample(
        image_id=image.id,
        file_name=image.file_name,
        width=image.width,
        height=image.height,
        boxes=boxes.astype(np.float32),
        labels=np.array([label_of[row.category_id] for row in known], dtype=np.int64),
        areas=np.where(sizes > 0, sizes, areas(boxes)).astype(np.float32),
        is_crowd=np.array([bool(row.iscrowd) for row in known], dtype=np.bool_),
        masks=tuple(row.segmentation for row in known) if masks else (),
    ).chosen(has_area)


def to_learn_from(table: LabelTable) -> LabelTable:
    """Without crowds, and without images that show nothing."""
    report = Counter({CROWD: sum(int(sample.is_crowd.sum()) for sample in table.samples)})
    plain = [sample.chosen(~sample.is_crowd) for sample in table.samples]
    seen = [sample for sample in plain if len(sample.boxes)]
    if not seen:
        raise InvalidInput(f"{table.name} has no image with a usable box, so there is nothing to learn from.")
    return replace(table, report=table.report + report).only(seen, UNLABELLED)


def tiled(table: LabelTable, size: int, overlap_ratio: float, *, min_area_ratio: float = 0.1) -> LabelTable:
    """Windows of the images instead of the images; the pixels are cut when they are read."""
    tiles: list[Sample] = []
    for sample in table.samples:
        grid = Grid(sample.width, sample.height, size, overlap_ratio)
        cut = assign(sample.boxes.astype(np.float64), grid, min_area_ratio)
        for number, window in enumerate(grid.windows()):
            rows = cut.tile == number
            part = sample.chosen(cut.label[rows])
            boxes = cut.boxes[rows].astype(np.float32)
            tiles.append(
                replace(
                    part,
                    image_id=len(tiles) + 1,
                    width=window.width,
                    height=window.height,
                    window=window,
                    boxes=boxes,
                    areas=cut.areas[rows].astype(np.float32),
                )
            )
    return replace(table, samples=tuple(tiles))


def as_coco(table: LabelTable, *, with_masks: bool = False) -> dict[str, Any]:
    """The samples as a COCO dictionary, for measuring exactly what the model was shown.

    With masks, a label without an outline has its box for one, as in training.
    """
    annotations: list[dict[str, Any]] = []
    for sample in table.samples:
        for row in range(len(sample.boxes)):
            x1, y1, x2, y2 = (float(value) for value in sample.boxes[row])
            annotation = {
                "id": len(annotations) + 1,
                "image_id": sample.image_id,
                "category_id": table.classes[int(sample.labels[row]) - 1].id,
                "bbox": [x1, y1, x2 - x1, y2 - y1],
                "area": float(sample.areas[row]),
                "iscrowd": int(sample.is_crowd[row]),
            }
            if with_masks:
                outline = sample.masks[row] if sample.masks else None
                annotation["segmentation"] = outline or [[x1, y1, x2, y1, x2, y2, x1, y2]]
            annotations.append(annotation)
    images = [
        {"id": sample.image_id, "file_name": sample.file_name, "width": sample.width, "height": sample.height}
        for sample in table.samples
    ]
    return {
        "images": images,
        "annotations": annotations,
        "categories": [{"id": row.id, "name": row.name} for row in table.classes],
    }


def check_same_classes(train: LabelTable, val: LabelTable) -> None:
    """A model that learnt from one table must not be measured with another."""
    if train.classes == val.classes:
        return
    only_train = [row.name for row in train.classes if row not in val.classes]
    only_val = [row.name for row in val.classes if row not in train.classes]
    raise InvalidInput(
        f"The category tables disagree: {train.name} has {len(train.classes)} and {val.name} {len(val.classes)}. "
        f"Only in the first: {', '.join(only_train[:5]) or 'none'}; only in the second: "
        f"{', '.join(only_val[:5]) or 'none'}. Make both files from one table, ids and names alike."
    )
