"""COCO metrics over detections that arrive in any order, from any number of processes.

Every image counts once: its last `update`, or the first copy that a merge meets. Only images that were looked at
count, so a part of a set can be measured; `unseen` tells which are missing. The numbers are COCO's own definition.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import hotcoco
import numpy as np
from hotcoco import mask as run_lengths
from numpy.typing import NDArray

from resolute.domain.errors import InvalidInput
from resolute.vision.detections import Detections
from resolute.vision.evaluation.analysis import Analysis
from resolute.vision.evaluation.ground_truth import GroundTruth, IouType, Source
from resolute.vision.evaluation.results import ClassResult, Confusion, Curve, ErrorKind, ImageResult

SUMMARY_KEYS = (
    *("mAP", "mAP_50", "mAP_75", "mAP_small", "mAP_medium", "mAP_large"),
    *("mAR_1", "mAR_10", "mAR_100", "mAR_small", "mAR_medium", "mAR_large"),
)
MASK_PREFIX = "mask_"
_TYPES: dict[str, tuple[IouType, ...]] = {"bbox": ("bbox",), "segm": ("segm",), "both": ("bbox", "segm")}


@dataclass(frozen=True, slots=True)
class Findings:
    """Detections of one image, small enough to travel: rows of x, y, width, height, score, category; packed masks."""

    rows: NDArray[np.float64]
    masks: list[dict[str, Any]] | None = None


State = dict[int, Findings]
"""What was found, by image id. Plain values: it can be pickled and sent between processes."""


class CocoEvaluator:
    """Made from the ground truth; fed with `update`; asked with `summary` and the other questions."""

    def __init__(self, ground_truth: Source, iou_type: Literal["bbox", "segm", "both"] = "bbox") -> None:
        if iou_type not in _TYPES:
            raise InvalidInput(f"iou_type is {iou_type!r}. Choose bbox, segm or both.")
        self.types = _TYPES[iou_type]
        self.truth = GroundTruth(ground_truth, has_masks="segm" in self.types)
        self.dropped = 0
        """Detections left out because a coordinate or a score was not a number."""
        self._found: State = {}
        self._analyses: dict[IouType, Analysis] = {}
        nothing = np.zeros(0, np.int64)
        self._last_table: tuple[dict[int, int] | None, tuple[NDArray[np.int64], NDArray[np.int64]]]
        self._last_table = None, (nothing, nothing)

    # ------------------------------------------------------------------------------------------------ feeding

    def update(
        self, image_ids: Sequence[int], detections: Sequence[Detections], label_to_category: Mapping[int, int]
    ) -> None:
        """One result per image. Raises InvalidInput, and takes none of them, when one cannot be measured."""
        if len(image_ids) != len(detections):
            raise InvalidInput(f"{len(image_ids)} image ids came with {len(detections)} results. Give one result each.")
        numbers = [int(number) for number in image_ids]
        for number in numbers:
            self._check_image(number)
        rows, is_sound = self._rows(numbers, detections, label_to_category)
        are_all_sound = bool(is_sound.all())
        fresh: State = {}
        start = 0
        for number, found in zip(numbers, detections, strict=True):
            part = slice(start, start + len(found))
            start = part.stop
            masks = self._outlines(number, found, is_sound[part]) if "segm" in self.types else None
            fresh[number] = Findings(rows[part] if are_all_sound else rows[part][is_sound[part]], masks)
        self.dropped += int(len(is_sound) - is_sound.sum())
        self._found.update(fresh)
        self._analyses.clear()

    def state(self) -> State:
        """Everything found so far, for `merge` in another process."""
        return dict(self._found)

    def merge(self, others: "State | CocoEvaluator | Iterable[State | CocoEvaluator]") -> None:
        """Take over images that this evaluator has not seen; one that several processes saw counts once."""
        for other in [others] if isinstance(others, dict | CocoEvaluator) else others:
            for number, findings in (other._found if isinstance(other, CocoEvaluator) else other).items():
                self._check_image(number)
                self._found.setdefault(number, findings)
        self._analyses.clear()

    @property
    def seen(self) -> list[int]:
        return sorted(self._found)

    @property
    def unseen(self) -> list[int]:
        return sorted(self.truth.images.keys() - self._found.keys())

    def detections_of(self, image_id: int) -> Findings:
        return self._found[image_id]

    # ------------------------------------------------------------------------------------------------- asking

    def summary(self) -> dict[str, float]:
        """COCO's twelve numbers; those of masks have the prefix `mask_`. -1: there is nothing to measure."""
        numbers: dict[str, float] = {}
        for kind in self.types:
            prefix = MASK_PREFIX if kind == "segm" else ""
            values = self._analysis(kind).twelve()
            numbers.update({prefix + key: value for key, value in zip(SUMMARY_KEYS, values, strict=True)})
        return numbers

    def per_class(self) -> list[ClassResult]:
        counts = self.truth.counts(set(self._found))
        return self._main().per_class(counts, self._detection_counts())

    def curves(self, iou: float = 0.5) -> list[Curve]:
        """Classes without labels are left out."""
        return self._main().curves(iou)

    def confusion(self, iou: float = 0.5, score: float = 0.25) -> Confusion:
        return self._main().confusion(iou, score)

    def errors(self) -> dict[str, ErrorKind]:
        """By kind: classification, localisation, both, duplicate, background, missed."""
        return self._main().errors()

    def worst_images(self, count: int = 8, *, iou: float = 0.5, score: float = 0.25) -> list[ImageResult]:
        """Lowest F1 first; among equals, most errors first."""
        ranked = sorted(self.images(iou=iou, score=score), key=lambda r: (r.f1, -(r.wrong + r.missed), r.id))
        return [result for result in ranked if result.wrong or result.missed][:count]

    def best_images(self, count: int = 8, *, iou: float = 0.5, score: float = 0.25) -> list[ImageResult]:
        """Highest F1 first; among equals, most objects first. Images without objects do not count."""
        ranked = sorted(self.images(iou=iou, score=score), key=lambda r: (-r.f1, -r.found, r.id))
        return [result for result in ranked if result.found][:count]

    def images(self, *, iou: float = 0.5, score: float = 0.25) -> list[ImageResult]:
        """Every image that was looked at, by id."""
        names = {number: self.truth.file_name(number) for number in self.seen}
        # The engine's diagnosis of images knows no threshold, so what lies below it is left out beforehand.
        return Analysis(self._measured(self.types[0], min_score=score), self.truth.names).images(iou, names)

    # ---------------------------------------------------------------------------------------------- inside

    def _main(self) -> Analysis:
        return self._analysis(self.types[0])

    def _analysis(self, kind: IouType) -> Analysis:
        if kind not in self._analyses:
            self._analyses[kind] = Analysis(self._measured(kind), self.truth.names)
        return self._analyses[kind]

    def _measured(self, kind: IouType, *, min_score: float = 0.0) -> Any:
        order = self.seen
        parts = [self._found[number].rows for number in order]
        rows = np.concatenate(parts) if parts else np.zeros((0, 6))
        numbers = np.repeat(np.array(order, dtype=np.float64), [len(part) for part in parts])
        outlines = [m for number in order for m in self._found[number].masks or ()] if kind == "segm" else None
        if min_score > 0:
            chosen = np.flatnonzero(rows[:, 4] >= min_score)
            rows, numbers = rows[chosen], numbers[chosen]
            outlines = None if outlines is None else [outlines[row] for row in chosen.tolist()]
        found = self.truth.engine.load_res(np.column_stack([numbers, rows]), segmentation=outlines)
        measured = hotcoco.COCOeval(self.truth.engine, found, kind)
        measured.params.img_ids = order
        if order:
            measured.evaluate()
            measured.accumulate()
        return measured

    def _detection_counts(self) -> dict[int, int]:
        parts = [findings.rows[:, 5] for findings in self._found.values()]
        ids, counts = np.unique(np.concatenate(parts) if parts else np.zeros(0), return_counts=True)
        return dict(zip(ids.astype(int).tolist(), counts.tolist(), strict=True))

    def _rows(
        self, numbers: list[int], detections: Sequence[Detections], label_to_category: Mapping[int, int]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """All detections of a call in one array, and which of them are finite numbers."""
        known, categories = self._table(label_to_category)
        labels = np.concatenate([*(found.labels for found in detections), np.zeros(0, np.int64)])
        places = np.minimum(np.searchsorted(known, labels), len(known) - 1)
        strangers = np.flatnonzero(known[places] != labels)
        if len(strangers):
            owner = np.repeat(numbers, [len(found) for found in detections])
            raise InvalidInput(
                f"Image {owner[strangers[0]]} has a detection with label {labels[strangers[0]]}, which stands for no "
                f"category. Known labels: {known[:10].tolist()}. Was the model trained with another class table?"
            )
        rows = np.empty((len(labels), 6))
        rows[:, :4] = np.concatenate([*(found.boxes for found in detections), np.zeros((0, 4))])
        rows[:, 2:4] -= rows[:, :2]
        rows[:, 4] = np.concatenate([*(found.scores for found in detections), np.zeros(0)])
        rows[:, 5] = categories[places]
        return rows, np.asarray(np.isfinite(rows).all(axis=1))

    def _table(self, label_to_category: Mapping[int, int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Labels, rising, and their categories. The same table comes with every call, so it is checked once."""
        if label_to_category != self._last_table[0]:
            for label, category in label_to_category.items():
                if category not in self.truth.names:
                    raise InvalidInput(
                        f"Label {label} stands for category {category}, which the ground truth does not have "
                        f"(it has {len(self.truth.names)}: {list(self.truth.names)[:10]}). The class tables disagree."
                    )
            if not label_to_category:
                raise InvalidInput("The table from labels to categories is empty. Give one with every label.")
            ordered = np.array(sorted(label_to_category.items()), dtype=np.int64).reshape(-1, 2)
            self._last_table = dict(label_to_category), (ordered[:, 0].copy(), ordered[:, 1].copy())
        return self._last_table[1]

    def _outlines(self, number: int, found: Detections, chosen: NDArray[np.bool_]) -> list[dict[str, Any]]:
        if found.masks is None:
            raise InvalidInput(f"The result of image {number} has no masks. Measure boxes alone with iou_type='bbox'.")
        image = self.truth.images[number]
        if found.masks.shape[1:] != (image.height, image.width):
            height, width = found.masks.shape[1:]
            raise InvalidInput(
                f"Masks of image {number} are {width} x {height}; the labels say {image.width} x {image.height}. "
                "Scale them back to the image before measuring."
            )
        stack = np.asfortranarray(found.masks[chosen].transpose(1, 2, 0).astype(np.uint8))
        packed: Any = run_lengths.encode(stack) if stack.shape[2] else []
        return list(packed)

    def _check_image(self, number: int) -> None:
        if number not in self.truth.images:
            raise InvalidInput(f"Image {number} is not in the ground truth. Use the ids of its label file.")
