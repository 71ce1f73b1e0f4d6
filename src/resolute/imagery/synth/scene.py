"""One synthetic image: where its objects are, and its pixels block by block. Same seed, same scene, on any machine."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

import cv2
import numpy as np
from numpy.typing import NDArray

from resolute.imagery.geometry import Window
from resolute.imagery.synth.ground import GRAIN_SIDE, Ground, make_ground
from resolute.imagery.synth.shapes import Points, Shape

_TRIES = 8
_FRACTION_BITS = 4


@dataclass(frozen=True)
class Placed:
    """An object on the ground. `box` are whole pixels around it."""

    shape: Shape
    outlines: list[Points]
    box: tuple[int, int, int, int]


@dataclass(frozen=True)
class Scene:
    width: int
    height: int
    ground: Ground
    objects: list[Placed]

    def block(self, window: Window) -> NDArray[np.uint8]:
        picture = self.ground.block(window)
        for thing in self.objects:
            x1, y1, x2, y2 = thing.box
            if x1 < window.x2 and x2 > window.x1 and y1 < window.y2 and y2 > window.y1:
                _draw(picture, thing, window)
        return picture

    def blocks(self) -> Iterator[tuple[Window, NDArray[np.uint8]]]:
        """The whole scene in squares, row by row."""
        for y in range(0, self.height, GRAIN_SIDE):
            for x in range(0, self.width, GRAIN_SIDE):
                window = Window(x, y, min(x + GRAIN_SIDE, self.width), min(y + GRAIN_SIDE, self.height))
                yield window, self.block(window)

    def bands(self) -> Iterator[tuple[Window, NDArray[np.uint8]]]:
        """The whole scene in strips as wide as it is, which strips on disk take at once."""
        for _, row in groupby(self.blocks(), key=lambda pair: pair[0].y1):
            windows, pictures = zip(*row, strict=True)
            yield Window(0, windows[0].y1, self.width, windows[0].y2), np.concatenate(pictures, axis=1)


def make_scene(
    rng: np.random.Generator, width: int, height: int, shapes: list[Shape], count: int, wanted: list[Shape]
) -> Scene:
    """`wanted` come first: shapes that this image must show, however rare they are."""
    ground = make_ground(rng, width, height)
    weights = np.array([shape.weight for shape in shapes])
    chosen = rng.choice(len(shapes), size=max(0, count - len(wanted)), p=weights / weights.sum())
    objects: list[Placed] = []
    taken = np.zeros((count + len(wanted), 4))
    for shape in [*wanted, *(shapes[index] for index in chosen)]:
        thing = _place(rng, shape, width, height, taken[: len(objects)])
        if thing is not None:
            taken[len(objects)] = thing.box
            objects.append(thing)
    return Scene(width, height, ground, objects)


def _place(
    rng: np.random.Generator, shape: Shape, width: int, height: int, taken: NDArray[np.float64]
) -> Placed | None:
    """A free place, or None when a few tries found none. A shape larger than the image is made smaller."""
    for _ in range(_TRIES):
        scale = float(rng.uniform(0.85, 1.2)) * min(1.0, 0.6 * min(width, height) / max(shape.length, shape.width))
        outlines = shape.placed(0, 0, float(rng.uniform(0, 2 * np.pi)), scale)
        points = np.concatenate(outlines)
        low, high = np.floor(points.min(axis=0)), np.ceil(points.max(axis=0))
        x = float(rng.integers(int(-low[0]), max(int(width - high[0]), int(-low[0])) + 1))
        y = float(rng.integers(int(-low[1]), max(int(height - high[1]), int(-low[1])) + 1))
        box = int(low[0] + x), int(low[1] + y), int(high[0] + x), int(high[1] + y)
        if not _touches(box, taken):
            return Placed(shape, [outline + np.array([x, y]) for outline in outlines], box)
    return None


def _touches(box: tuple[int, int, int, int], taken: NDArray[np.float64]) -> bool:
    x1, y1, x2, y2 = box
    return bool(((taken[:, 0] < x2) & (taken[:, 2] > x1) & (taken[:, 1] < y2) & (taken[:, 3] > y1)).any())


def _draw(picture: NDArray[np.uint8], thing: Placed, window: Window) -> None:
    for outline, (_, brightness) in zip(thing.outlines, thing.shape.parts, strict=True):
        colour = tuple(int(channel * brightness) for channel in thing.shape.colour)
        # Pixel centres lie at half coordinates in labels, at whole ones in OpenCV.
        fixed = np.round((outline - (window.x1 + 0.5, window.y1 + 0.5)) * (1 << _FRACTION_BITS)).astype(np.int32)
        cv2.fillPoly(picture, [fixed], colour, cv2.LINE_AA, _FRACTION_BITS)
