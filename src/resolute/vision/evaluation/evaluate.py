"""A detector over a labelled folder: reads the images, looks at them in batches, and hands back the evaluator."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from resolute.domain.errors import InvalidInput, NotFound
from resolute.imagery.origins import options_for
from resolute.imagery.raster import image_size
from resolute.imagery.render_options import RenderOptions
from resolute.vision.detections import ClassName, Detections, Detector, preprocessing_of
from resolute.vision.evaluation.evaluator import CocoEvaluator
from resolute.vision.evaluation.ground_truth import Source
from resolute.vision.slicing.predict import MergeSettings, predict_large
from resolute.vision.slicing.source import whole_picture

_ANY_SIZE = 1 << 31
Picture = NDArray[np.uint8]


def evaluate(
    detector: Detector,
    image_dir: Path | str,
    annotations: Source,
    *,
    iou_type: Literal["bbox", "segm", "both"] = "bbox",
    batch_size: int = 8,
    score_threshold: float | None = None,
    slice_size: int | None = None,
    overlap: float = 0.2,
    merging: MergeSettings | None = None,
    rendering: RenderOptions | None = None,
    on_progress: Callable[[int], object] = lambda images: None,
) -> CocoEvaluator:
    """Every image of the labels, read as in the detector's training unless `rendering` says otherwise.

    Images larger than `slice_size` are looked at by windows of that size; None: that of the tiles that were learnt
    from, when there were any.

    Raises InvalidInput when the class tables disagree. Images that are missing or cannot be read are left out; the
    evaluator's `unseen` names them.
    """
    evaluator = CocoEvaluator(annotations, iou_type)
    table = label_table(detector.classes, evaluator.truth.names)
    learnt = preprocessing_of(detector)
    side = slice_size or (learnt.tile_size if learnt else None)
    if iou_type != "bbox" and not detector.has_masks:
        raise InvalidInput("The detector gives no masks. Measure boxes alone with iou_type='bbox'.")

    read = _Reader(Path(image_dir), detector, rendering, side)

    def look_by_windows(path: Path) -> Detections | None:
        try:
            return predict_large(
                detector,
                path,
                slice_size=side or _ANY_SIZE,
                overlap=overlap,
                batch_size=batch_size,
                merging=merging,
                score_threshold=score_threshold,
                rendering=read.options(path),
            )
        except (InvalidInput, NotFound):
            return None  # Its first blocks could be read, others not: it counts as unseen.

    for numbers, pictures in _batches(evaluator, read, batch_size, on_progress):
        small = [picture for picture in pictures if isinstance(picture, np.ndarray)]
        together = iter(detector.detect(small, score_threshold=score_threshold) if small else [])
        found = [next(together) if isinstance(each, np.ndarray) else look_by_windows(each) for each in pictures]
        seen = [(number, each) for number, each in zip(numbers, found, strict=True) if each is not None]
        evaluator.update([number for number, _ in seen], [each for _, each in seen], table)
    if read.refusal is not None and len(evaluator.unseen) == len(evaluator.truth.images):
        raise read.refusal
    return evaluator


_Seen = Picture | Path


class _Reader:
    """Pictures of a folder, as the detector has to see them; an image that is looked at by windows stays a file."""

    def __init__(self, folder: Path, detector: Detector, rendering: RenderOptions | None, side: int | None) -> None:
        self._folder, self._learnt, self._rendering = folder, preprocessing_of(detector), rendering
        self._side = side
        self.refusal: InvalidInput | None = None
        """The first one of all."""

    def options(self, path: Path) -> RenderOptions:
        return options_for(path, self._learnt, self._rendering)

    def __call__(self, name: str) -> _Seen:
        path = self._folder / name
        try:
            options = self.options(path)
            if self._side is not None and max(image_size(path)) > self._side:
                return path
            with whole_picture(path, options, max_side=_ANY_SIZE) as picture:
                return picture
        except InvalidInput as problem:
            self.refusal = self.refusal or problem
            raise


def label_table(classes: Sequence[ClassName], names: dict[int, str]) -> dict[int, int]:
    """A detector's label to the category id of the label file. Raises InvalidInput when they mean different things."""
    for named in classes:
        if named.id not in names:
            raise InvalidInput(
                f"The detector knows class {named.id} {named.name!r}, which the labels do not have. "
                f"They have {len(names)} classes from {next(iter(names.items()), None)}. Use labels of the same table."
            )
        if names[named.id] != named.name:
            raise InvalidInput(
                f"Class {named.id} is {named.name!r} to the detector and {names[named.id]!r} in the labels. "
                "Use labels of the same class table, or numbers would be compared that mean different things."
            )
    return {label: named.id for label, named in enumerate(classes, start=1)}


def _batches(
    evaluator: CocoEvaluator, read: "_Reader", size: int, on_progress: Callable[[int], object]
) -> Iterator[tuple[list[int], list[_Seen]]]:
    numbers: list[int] = []
    pictures: list[_Seen] = []
    for number, image in evaluator.truth.images.items():
        try:
            pictures.append(read(image.file_name))
            numbers.append(number)
        except (InvalidInput, NotFound):
            # One bad image does not stop the rest; what was not seen is told by the evaluator.
            pass
        on_progress(1)
        if len(numbers) == size:
            yield numbers, pictures
            numbers, pictures = [], []
    if numbers:
        yield numbers, pictures
