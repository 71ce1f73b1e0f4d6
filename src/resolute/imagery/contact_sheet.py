"""`data show`: images of a COCO set on one sheet, with boxes and class names. A picture for people."""

import colorsys
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from resolute.domain.errors import InvalidInput, ResoluteError
from resolute.imagery import coco
from resolute.imagery.encoding import Encoding, PictureFormat, encode
from resolute.imagery.files import write_atomic
from resolute.imagery.geometry import Window
from resolute.imagery.raster import open_raster
from resolute.imagery.render_options import RenderOptions
from resolute.imagery.rendering import plan, render
from resolute.imagery.report import Reason, Report

Picture = NDArray[np.uint8]
_CAPTION = 18
_MARGIN = 4
_DARK = (24, 24, 28)
_FONT = cv2.FONT_HERSHEY_SIMPLEX


@dataclass(frozen=True, kw_only=True)
class ShowJob:
    """`seed` None takes the first images; a number takes a seeded sample. Images with labels come first."""

    labels_path: Path
    image_dir: Path
    output_path: Path
    count: int = 16
    columns: int = 4
    cell: int = 320
    seed: int | None = None
    has_names: bool = True

    def __post_init__(self) -> None:
        if self.count < 1 or self.columns < 1 or not 32 <= self.cell <= 4096:
            raise InvalidInput(
                f"A sheet of {self.count} images in {self.columns} columns of {self.cell} pixels cannot be drawn. "
                "Use at least one of each, and cells of 32 to 4096 pixels."
            )


def show(job: ShowJob) -> tuple[int, Report]:
    """Writes the PNG; returns how many images are on it, and what could not be read."""
    report = Report()
    dataset = coco.read(job.labels_path, report)
    labels, names = dataset.by_image(), dataset.names()
    cells: list[Picture] = []
    for image in _chosen(dataset, labels, job):
        try:
            cells.append(_cell(job, image, labels[image.id], names))
        except ResoluteError as problem:
            report.add(Reason.IMAGE_UNREADABLE, str(problem))
    if not cells:
        raise InvalidInput(f"No image of {job.labels_path} could be read from {job.image_dir}. Check the folder.")
    write_atomic(job.output_path, encode(_sheet(cells, job), Encoding(PictureFormat.PNG)))
    return len(cells), report


def class_colour(category_id: int) -> tuple[int, int, int]:
    """The same class, the same colour, on every sheet."""
    red, green, blue = colorsys.hsv_to_rgb((category_id * 0.618034) % 1.0, 0.85, 1.0)
    return int(255 * red), int(255 * green), int(255 * blue)


def draw_boxes(
    picture: Picture, labels: list[coco.Annotation], names: dict[int, str], *, scale: float, has_names: bool
) -> None:
    for annotation in labels:
        if len(annotation.bbox) != 4:
            continue
        x, y, width, height = (value * scale for value in annotation.bbox)
        colour = class_colour(annotation.category_id)
        corner = (round(x + width) - 1, round(y + height) - 1)
        cv2.rectangle(picture, (round(x), round(y)), corner, colour, 1, cv2.LINE_AA)
        if has_names:
            text = names.get(annotation.category_id, str(annotation.category_id))
            cv2.putText(picture, text, (round(x), max(8, round(y) - 2)), _FONT, 0.3, colour, 1, cv2.LINE_AA)


def _chosen(dataset: coco.Dataset, labels: dict[int, list[coco.Annotation]], job: ShowJob) -> list[coco.Image]:
    images = list(dataset.images)
    if job.seed is not None:
        random.Random(job.seed).shuffle(images)
    return sorted(images, key=lambda image: not labels[image.id])[: job.count]


def _cell(job: ShowJob, image: coco.Image, labels: list[coco.Annotation], names: dict[int, str]) -> Picture:
    path = job.image_dir / image.file_name
    rendering = plan(path, RenderOptions())
    with open_raster(path) as raster:
        whole = render(raster.read(Window(0, 0, raster.width, raster.height), rendering.bands), rendering)
    scale = job.cell / max(whole.shape[:2])
    size = max(1, round(whole.shape[1] * scale)), max(1, round(whole.shape[0] * scale))
    method = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    small: Any = cv2.resize(np.ascontiguousarray(whole), size, interpolation=method)
    draw_boxes(small, labels, names, scale=scale, has_names=job.has_names)
    cell = np.full((job.cell + _CAPTION, job.cell, 3), _DARK, dtype=np.uint8)
    cell[: small.shape[0], : small.shape[1]] = small
    caption = f"{image.file_name}  ({len(labels)})"
    cv2.putText(cell, caption, (2, job.cell + _CAPTION - 5), _FONT, 0.36, (230, 230, 230), 1, cv2.LINE_AA)
    return cell


def _sheet(cells: list[Picture], job: ShowJob) -> Picture:
    columns = min(job.columns, len(cells))
    rows = -(-len(cells) // columns)
    step_y, step_x = job.cell + _CAPTION + _MARGIN, job.cell + _MARGIN
    sheet = np.full((rows * step_y + _MARGIN, columns * step_x + _MARGIN, 3), _DARK, dtype=np.uint8)
    for place, cell in enumerate(cells):
        y, x = _MARGIN + place // columns * step_y, _MARGIN + place % columns * step_x
        sheet[y : y + cell.shape[0], x : x + cell.shape[1]] = cell
    return sheet
