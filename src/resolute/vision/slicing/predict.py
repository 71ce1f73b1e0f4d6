"""Sliced inference: the windows of `imagery.grid`, read one batch ahead, looked at in batches, merged at the end.

Memory holds two batches of windows and the boxes found, whatever the size of the file. Merging sees all boxes at
once, so a seam between windows or rows of windows never shows; boxes are small, and merging does not compare all
with all.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from resolute.domain.errors import InvalidInput
from resolute.imagery.geometry import Window
from resolute.imagery.grid import Grid
from resolute.imagery.origins import options_for
from resolute.imagery.render_options import RenderOptions
from resolute.vision.detections import Detections, Detector, preprocessing_of
from resolute.vision.merging import Method, Metric, merge
from resolute.vision.slicing.found import MOST_BOXES, Found
from resolute.vision.slicing.regions import Regions, enlarged, joined, shifted
from resolute.vision.slicing.source import Picture, Source, open_source

Progress = Callable[[int], object]
Step = Callable[[str], object]
_OVERVIEW_SIDE = 1333
"""The longest side of the copy on which objects larger than a window are looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeSettings:
    """How detections of neighbouring windows become one: see `resolute.vision.merging`."""

    method: Method = "greedy_nmm"
    metric: Metric = "ios"
    threshold: float = 0.5
    class_agnostic: bool = False


def predict_large(
    detector: Detector,
    image: Path | str | Picture,
    *,
    slice_size: int = 640,
    overlap: float = 0.2,
    batch_size: int = 8,
    full_image: bool = True,
    merging: MergeSettings | None = None,
    score_threshold: float | None = None,
    rendering: RenderOptions | None = None,
    on_progress: Progress = lambda windows: None,
) -> Detections:
    """Detections on the whole image, in its pixels.

    A file is read as the detector's training read it, unless `rendering` says otherwise; an array is taken as it is.
    `full_image` also looks at the whole image, made small, for what is larger than a window. `on_progress` hears how
    many windows were just done. Raises NotFound or InvalidInput for an image or settings that cannot be used.
    """
    return find_regions(
        detector,
        image,
        slice_size=slice_size,
        overlap=overlap,
        batch_size=batch_size,
        full_image=full_image,
        merging=merging,
        score_threshold=score_threshold,
        rendering=rendering,
        on_progress=on_progress,
    ).as_detections()


def find_regions(
    detector: Detector,
    image: Path | str | Picture,
    *,
    slice_size: int = 640,
    overlap: float = 0.2,
    batch_size: int = 8,
    full_image: bool = True,
    merging: MergeSettings | None = None,
    score_threshold: float | None = None,
    rendering: RenderOptions | None = None,
    on_progress: Progress = lambda windows: None,
    on_step: Step = lambda step: None,
    most_boxes: int = MOST_BOXES,
) -> Regions:
    """`predict_large`, with masks as patches: for images that are too large for masks of the whole.

    Of more than `most_boxes` boxes the best are kept, and `left_out` of the result counts the rest. The look at the
    whole image counts as one window. `on_step` hears what is done when it is no window.
    """
    if batch_size < 1:
        raise InvalidInput(f"The batch size is {batch_size}. It must be at least 1, for example 8.")
    if not isinstance(image, np.ndarray):
        rendering = options_for(Path(image), preprocessing_of(detector), rendering)
    source = open_source(image, rendering or RenderOptions())
    windows = Grid(source.width, source.height, slice_size, overlap).windows()
    found = Found(most_boxes)
    for part, pictures in _read_ahead(source, windows, batch_size):
        results = detector.detect(pictures, score_threshold=score_threshold)
        for window, detections in zip(part, results, strict=True):
            found.add(detections, shifted(detections, x=window.x1, y=window.y1))
        on_progress(len(part))
    if full_image and len(windows) > 1:
        on_step("the whole image, made small")
        _look_at_all(detector, source, found, score_threshold)
        on_progress(1)
    on_step(f"joining {len(found):,} boxes")
    return _merged(found, source, merging or MergeSettings(), has_masks=detector.has_masks)


def _read_ahead(source: Source, windows: list[Window], size: int) -> Iterator[tuple[list[Window], list[Picture]]]:
    """Batches of windows with their pixels; the next one is read while the detector works on this one."""
    pictures = source.windows(windows)
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="resolute-windows") as reader:
        try:
            # One thread opens, reads and closes the file: GDAL's settings belong to a thread.
            pending = reader.submit(_take, pictures, size)
            for start in range(0, len(windows), size):
                batch = pending.result()
                pending = reader.submit(_take, pictures, size)
                yield windows[start : start + size], batch
        finally:
            reader.submit(_close, pictures).result()


def _take(pictures: Iterator[Picture], size: int) -> list[Picture]:
    return list(islice(pictures, size))


def _close(pictures: Iterator[Picture]) -> None:
    close = getattr(pictures, "close", None)
    if close is not None:
        close()


def _look_at_all(detector: Detector, source: Source, found: Found, score_threshold: float | None) -> None:
    share = min(1.0, _OVERVIEW_SIDE / max(source.width, source.height))
    size = max(1, round(source.width * share)), max(1, round(source.height * share))
    (detections,) = detector.detect([source.small(*size)], score_threshold=score_threshold)
    found.add(detections, enlarged(detections, seen=size, width=source.width, height=source.height))


def _merged(found: Found, source: Source, settings: MergeSettings, *, has_masks: bool) -> Regions:
    boxes, scores, labels, patches = found.columns()
    result = merge(
        boxes,
        scores,
        labels,
        method=settings.method,
        metric=settings.metric,
        threshold=settings.threshold,
        class_agnostic=settings.class_agnostic,
    )
    return Regions(
        source.width,
        source.height,
        result.boxes,
        result.scores,
        result.labels,
        joined(result, patches) if has_masks else None,
        left_out=found.left_out,
    )
