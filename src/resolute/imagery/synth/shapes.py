"""The sixty classes as shapes: what each looks like, how long and wide it is, how often it occurs. Pure.

A shape is drawn in its own coordinates, -0.5 to 0.5 along its length and its width, then turned and moved. Every class
has its own colour, length and outline, so that a detector can tell them apart.
"""

import colorsys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
Part = tuple[Points, float]
"""An outline and how bright it is beside the class's own colour."""


@dataclass(frozen=True)
class Shape:
    type_id: int
    parts: tuple[Part, ...]
    length: float
    width: float
    colour: tuple[int, int, int]
    weight: float
    """How often it occurs beside the others."""

    def placed(self, x: float, y: float, angle: float, scale: float) -> list[Points]:
        """Outlines in pixels, centred at (x, y) and turned by `angle` radians."""
        turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        size = np.array([self.length, self.width]) * scale
        return [(points * size) @ turn + (x, y) for points, _ in self.parts]


def shapes_of(type_ids: list[int]) -> list[Shape]:
    """One shape for each class; the same ids give the same shapes."""
    return [_shape(place, type_id) for place, type_id in enumerate(type_ids)]


def _shape(place: int, type_id: int) -> Shape:
    draw, length, width, weight = next(row[1:] for row in _FAMILIES if type_id < row[0])
    # Neighbours in a family differ in size and, by the golden ratio, as far as can be in hue.
    growth = 0.8 + 0.12 * (place % 6)
    hue = (place * 0.618034) % 1.0
    red, green, blue = colorsys.hsv_to_rgb(hue, 0.55 + 0.4 * (place % 2), 0.95)
    colour = int(255 * red), int(255 * green), int(255 * blue)
    return Shape(type_id, tuple(draw()), length * growth, width * growth, colour, weight / (1 + place % 5))


def _rectangle(x1: float, y1: float, x2: float, y2: float) -> Points:
    return np.array([(x1, y1), (x2, y1), (x2, y2), (x1, y2)], dtype=np.float64)


def _ellipse(radius: float = 0.5, corners: int = 20) -> Points:
    angles = np.linspace(0, 2 * np.pi, corners, endpoint=False)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1) * radius


_NOSE = np.array([0.43, 0.0])


def _aircraft() -> list[Part]:
    wings = np.array([(0.12, 0.0), (-0.12, 0.5), (-0.22, 0.5), (-0.1, 0.0), (-0.22, -0.5), (-0.12, -0.5)])
    tail = np.array([(-0.35, 0.0), (-0.45, 0.18), (-0.5, 0.18), (-0.46, 0.0), (-0.5, -0.18), (-0.45, -0.18)])
    return [(wings, 0.8), (tail, 0.8), (_rectangle(-0.48, -0.06, 0.42, 0.06), 1.0), (_ellipse(0.07) + _NOSE, 1.0)]


def _vehicle() -> list[Part]:
    return [
        (_rectangle(-0.5, -0.5, 0.5, 0.5), 1.0),
        (_rectangle(0.12, -0.38, 0.28, 0.38), 0.25),
        (_rectangle(-0.44, -0.3, -0.36, 0.3), 0.35),
    ]


def _rail() -> list[Part]:
    stripes = [(_rectangle(x, -0.5, x + 0.04, 0.5), 0.4) for x in (-0.35, -0.15, 0.05, 0.25)]
    return [(_rectangle(-0.5, -0.5, 0.5, 0.5), 0.9), *stripes]


def _boat() -> list[Part]:
    hull = np.array([(-0.5, -0.4), (0.2, -0.5), (0.5, 0.0), (0.2, 0.5), (-0.5, 0.4)])
    return [(hull, 1.0), (_rectangle(-0.35, -0.22, 0.05, 0.22), 0.5)]


def _engine() -> list[Part]:
    return [
        (_rectangle(-0.5, -0.5, 0.1, 0.5), 1.0),
        (_rectangle(0.0, -0.1, 0.5, 0.1), 0.7),
        (_rectangle(0.4, -0.35, 0.5, 0.35), 0.5),
    ]


def _building() -> list[Part]:
    return [
        (_rectangle(-0.5, -0.5, 0.5, 0.0), 1.0),
        (_rectangle(-0.5, 0.0, 0.5, 0.5), 0.65),
        (_rectangle(0.1, -0.35, 0.25, -0.15), 0.4),
    ]


def _lot() -> list[Part]:
    cells = [(x, y) for x in (-0.45, -0.2, 0.05, 0.3) for y in (-0.42, -0.1, 0.22)]
    return [
        (_rectangle(-0.5, -0.5, 0.5, 0.5), 0.35),
        *((_rectangle(x, y, x + 0.15, y + 0.2), 1.0) for x, y in cells),
    ]


def _disc() -> list[Part]:
    return [(_ellipse(), 1.0), (_ellipse(0.3), 0.6)]


def _mast() -> list[Part]:
    return [(_rectangle(-0.5, -0.1, 0.5, 0.1), 1.0), (_rectangle(-0.1, -0.5, 0.1, 0.5), 0.7), (_ellipse(0.2), 0.3)]


_FAMILIES: list[tuple[int, Callable[[], list[Part]], float, float, float]] = [
    (17, _aircraft, 42, 40, 0.3),
    (33, _vehicle, 20, 10, 5.0),
    (40, _rail, 34, 9, 0.3),
    (53, _boat, 36, 14, 0.5),
    (71, _engine, 26, 14, 0.5),
    (79, _building, 34, 26, 4.0),
    (84, _lot, 46, 34, 0.5),
    (89, _disc, 26, 26, 0.5),
    (93, _lot, 30, 14, 0.5),
    (1 << 31, _mast, 18, 18, 0.3),
]
"""Classes below the first number that are in no family above: outline, length, width, weight."""
