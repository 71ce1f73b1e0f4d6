"""One image, or a part of its rows, to tiles on disk: what a worker runs. A bad image is a result, not an exception."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from resolute.domain.errors import InvalidInput, NotFound
from resolute.imagery.coco import Annotation, Segmentation
from resolute.imagery.encoding import Encoding, encode
from resolute.imagery.files import write_in_place
from resolute.imagery.geometry import Boxes, Window, areas, as_boxes, clipped, corners, ordered
from resolute.imagery.grid import Grid, tile_name
from resolute.imagery.origins import read_origin
from resolute.imagery.preprocessing import Origin
from resolute.imagery.raster import Pixels, Raster, open_raster
from resolute.imagery.render_options import RenderOptions
from resolute.imagery.rendering import Rendering, plan, render
from resolute.imagery.report import Reason, Report
from resolute.imagery.tile_labels import TileLabels, assign
from resolute.imagery.tile_masks import cut_masks, has_polygons, mask_bounds

_BAND_BYTES = 48 << 20
"""Pixels read at once."""


@dataclass(frozen=True)
class ImageTask:
    path: Path
    said_size: tuple[int, int]
    labels: list[Annotation]
    stem: str
    target_dir: Path
    slice_size: int
    overlap_ratio: float
    min_area_ratio: float
    writes_negatives: bool
    lists_negatives: bool
    encoding: Encoding
    options: RenderOptions
    is_parity: bool
    is_resuming: bool
    part: tuple[int, int] = (0, 1)


@dataclass
class TiledImage:
    """Windows of the tiles to be listed, in order, and the labels in them.

    Keys of `windows`, and `labels.tile`, are places within this part. Where negatives are not listed, what comes back
    follows the labels: an image of a hundred gigapixels has millions of tiles.
    """

    stem: str
    windows: dict[int, Window] = field(default_factory=dict)
    labels: TileLabels | None = None
    categories: list[int] = field(default_factory=list)
    crowds: list[int] = field(default_factory=list)
    masks: list[Segmentation] | None = None
    written: int = 0
    skipped: int = 0
    pixels: int = 0
    origin: Origin | None = None
    is_torn: bool = False
    """It could not be read to its end: tiles that were written before that are no part of the set."""
    report: Report = field(default_factory=Report)


def tile_image(task: ImageTask) -> TiledImage:
    result = TiledImage(task.stem)
    try:
        with open_raster(task.path) as raster:
            _tile(raster, task, result)
    except (InvalidInput, NotFound) as problem:
        missing = isinstance(problem, NotFound)
        failed = TiledImage(task.stem, is_torn=True)
        failed.report.add(Reason.IMAGE_NOT_FOUND if missing else Reason.IMAGE_UNREADABLE, str(problem))
        return failed
    return result


def _tile(raster: Raster, task: ImageTask, result: TiledImage) -> None:
    is_first_part = task.part[0] == 0
    result.origin = read_origin(task.path) if is_first_part else None
    if is_first_part and task.said_size != (raster.width, raster.height):
        said = f"{task.said_size[0]} x {task.said_size[1]}"
        result.report.add(Reason.SIZE_DIFFERS, f"{task.path.name}: {raster.width} x {raster.height}, said {said}")
    grid = Grid(raster.width, raster.height, task.slice_size, task.overlap_ratio)
    part, parts = task.part
    rows = len(grid.rows) * part // parts, len(grid.rows) * (part + 1) // parts
    labels, kept = _labels(task, grid, rows, result.report)
    first = rows[0] * len(grid.columns)
    windows = [grid.window(row, column) for row in range(*rows) for column in range(len(grid.columns))]
    result.labels = TileLabels(labels.tile - first, labels.label, labels.boxes, labels.areas, labels.too_small)
    _describe(task, kept, windows, result)
    occupied = sorted(set(result.labels.tile.tolist()))
    result.windows = {i: windows[i] for i in (range(len(windows)) if task.lists_negatives else occupied)}
    _write_tiles(raster, task, windows if task.writes_negatives else [windows[i] for i in occupied], result)


def _labels(task: ImageTask, grid: Grid, rows: tuple[int, int], report: Report) -> tuple[TileLabels, list[Annotation]]:
    # Every part sees all labels of the image; what is wrong with them is counted by the first.
    boxes, kept = _usable(task, grid, report if task.part[0] == 0 else Report())
    # A polygon's own area decides, later, when it has been cut.
    ratios = np.array([0.0 if has_polygons(a) else task.min_area_ratio for a in kept])
    labels = assign(boxes, grid, ratios, rows=rows, is_parity=task.is_parity)
    report.add_many(
        Reason.BELOW_AREA_RATIO,
        len(labels.too_small),
        (f"{task.path.name}, annotation {kept[row].id}" for row in labels.too_small.tolist()),
    )
    return labels, kept


def _usable(task: ImageTask, grid: Grid, report: Report) -> tuple[Boxes, list[Annotation]]:
    """Boxes that can be cut, and their annotations; outside of parity they are clipped to the image first."""
    sound = [a for a in task.labels if len(a.bbox) == 4]
    report.add_many(
        Reason.NOT_FOUR_NUMBERS,
        len(task.labels) - len(sound),
        (f"{task.path.name}, annotation {a.id}: {a.bbox}" for a in task.labels if len(a.bbox) != 4),
    )
    given = corners(as_boxes([a.bbox for a in sound]))
    for row, annotation in enumerate(sound):
        if has_polygons(annotation):
            given[row] = mask_bounds(annotation)
    boxes = ordered(given)
    fitted = boxes if task.is_parity else clipped(boxes, grid.width, grid.height)
    checks = [
        ((boxes != given).any(axis=1), Reason.INVERTED),
        (~(areas(boxes) > 0), Reason.ZERO_AREA),
        ((areas(boxes) > 0) & (areas(fitted) <= 0), Reason.OUTSIDE_IMAGE),
        ((areas(fitted) > 0) & (fitted != boxes).any(axis=1), Reason.CLIPPED_TO_IMAGE),
    ]
    for found, reason in checks:
        rows = np.flatnonzero(found).tolist()
        report.add_many(
            reason, len(rows), (f"{task.path.name}, annotation {sound[r].id}: {sound[r].bbox}" for r in rows)
        )
    good = np.flatnonzero(areas(fitted) > 0)
    return fitted[good], [sound[row] for row in good.tolist()]


def _describe(task: ImageTask, kept: list[Annotation], windows: list[Window], result: TiledImage) -> None:
    assert result.labels is not None
    owners = [kept[row] for row in result.labels.label.tolist()]
    result.categories = [owner.category_id for owner in owners]
    result.crowds = [0 if task.is_parity else owner.iscrowd for owner in owners]
    runs = sum(isinstance(annotation.segmentation, dict) for annotation in kept)
    if task.part[0] == 0:
        result.report.add(Reason.RLE_LEFT_OUT, task.path.name, count=runs)
    if task.is_parity or any(map(has_polygons, kept)):
        cut = cut_masks(owners, result.labels, windows, task.min_area_ratio, is_parity=task.is_parity)
        result.report.add(Reason.BELOW_AREA_RATIO, task.path.name, count=len(owners) - len(cut.rows))
        result.masks, result.labels, chosen = cut.masks, cut.labels, cut.rows
        result.categories = [result.categories[row] for row in chosen]
        result.crowds = [result.crowds[row] for row in chosen]


def _write_tiles(raster: Raster, task: ImageTask, windows: list[Window], result: TiledImage) -> None:
    folder, suffix = str(task.target_dir), task.encoding.suffix
    names = [os.path.join(folder, tile_name(task.stem, window, suffix)) for window in windows]
    missing = [i for i in range(len(windows)) if not (task.is_resuming and os.path.exists(names[i]))]
    result.skipped = len(windows) - len(missing)
    if not missing:
        return
    rendering = plan(task.path, task.options)
    for band, inside in _bands([windows[i] for i in missing], raster, len(rendering.bands)):
        pixels = raster.read(band, rendering.bands)
        for place in inside:
            index = missing[place]
            _write_tile(pixels, band, windows[index], rendering, names[index], task.encoding)
            result.written += 1
            result.pixels += windows[index].width * windows[index].height


def _write_tile(
    pixels: Pixels, band: Window, window: Window, rendering: Rendering, name: str, encoding: Encoding
) -> None:
    part = pixels[window.y1 - band.y1 : window.y2 - band.y1, window.x1 - band.x1 : window.x2 - band.x1]
    write_in_place(name, encode(render(part, rendering), encoding))


def _bands(windows: list[Window], raster: Raster, band_count: int) -> Iterator[tuple[Window, list[int]]]:
    """Windows of one row that touch are read together, as many as fit into the memory for one read."""
    limit = max(1, _BAND_BYTES // (band_count * raster.dtype.itemsize))
    group: list[int] = []
    for place, window in enumerate(windows):
        if group:
            first = windows[group[0]]
            is_next = window.y1 == first.y1 and window.x1 <= windows[group[-1]].x2
            if not is_next or (window.x2 - first.x1) * first.height > limit:
                yield _around(windows, group), group
                group = []
        group.append(place)
    if group:
        yield _around(windows, group), group


def _around(windows: list[Window], group: list[int]) -> Window:
    first, last = windows[group[0]], windows[group[-1]]
    return Window(first.x1, first.y1, last.x2, last.y2)
