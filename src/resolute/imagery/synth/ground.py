"""Ground with texture, drawn block by block, so that any size fits into memory. Same seed, same ground."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from resolute.imagery.geometry import Window

_COARSE = 96
GRAIN_SIDE = 512
"""Period of the grain, and the largest block that can be drawn at once."""
_PALETTES = (
    ((92, 74, 52), (168, 142, 104), (206, 186, 148)),
    ((34, 52, 30), (84, 104, 58), (132, 140, 92)),
    ((70, 70, 74), (118, 116, 112), (158, 154, 148)),
    ((44, 62, 46), (112, 96, 66), (150, 142, 110)),
)


@dataclass(frozen=True)
class Ground:
    """Coarse hills and fine grain, through one of a few palettes; roads across."""

    coarse: NDArray[np.uint8]
    fine: NDArray[np.uint8]
    palette: NDArray[np.uint8]
    roads: list[tuple[tuple[int, int], tuple[int, int], int]]

    def block(self, window: Window) -> NDArray[np.uint8]:
        """The ground of a window of at most `GRAIN_SIDE` pixels a side, as (height, width, 3)."""
        scale = 1.0 / _COARSE
        where = np.array([[scale, 0, window.x1 * scale], [0, scale, window.y1 * scale]])
        size = (window.width, window.height)
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        hills = cv2.warpAffine(self.coarse, where, size, flags=flags, borderMode=cv2.BORDER_REFLECT_101)
        level = cv2.add(hills, self._grain(window))
        picture = cv2.LUT(cv2.merge([level, level, level]), self.palette)
        for start, end, width in self.roads:
            a, b = ((point[0] - window.x1, point[1] - window.y1) for point in (start, end))
            cv2.line(picture, a, b, (96, 94, 96), width, cv2.LINE_AA)
        return np.asarray(picture, dtype=np.uint8)

    def _grain(self, window: Window) -> NDArray[np.uint8]:
        # The grain repeats; twice its period lies ready, so that any window up to one period is a plain slice.
        y, x = window.y1 % GRAIN_SIDE, window.x1 % GRAIN_SIDE
        return self.fine[y : y + window.height, x : x + window.width]


def make_ground(rng: np.random.Generator, width: int, height: int) -> Ground:
    coarse = rng.integers(20, 190, (height // _COARSE + 3, width // _COARSE + 3), dtype=np.uint8)
    grain = rng.integers(0, 60, (GRAIN_SIDE // 4, GRAIN_SIDE // 4), dtype=np.uint8)
    fine = cv2.resize(grain, (GRAIN_SIDE, GRAIN_SIDE), interpolation=cv2.INTER_LINEAR)
    speckle = rng.integers(0, 12, (GRAIN_SIDE, GRAIN_SIDE), dtype=np.uint8)
    fine = cv2.add(fine, speckle)
    roads = [_road(rng, width, height) for _ in range(int(rng.integers(1, 4)))]
    return Ground(coarse, np.tile(np.asarray(fine, dtype=np.uint8), (2, 2)), _palette(rng), roads)


def _palette(rng: np.random.Generator) -> NDArray[np.uint8]:
    colours = np.array(_PALETTES[int(rng.integers(len(_PALETTES)))], dtype=np.float64)
    levels = np.arange(256)
    bands = [np.interp(levels, (0, 128, 255), colours[:, band]) for band in range(3)]
    return np.stack(bands, axis=1).astype(np.uint8).reshape(256, 1, 3)


def _road(rng: np.random.Generator, width: int, height: int) -> tuple[tuple[int, int], tuple[int, int], int]:
    if rng.random() < 0.5:
        return (0, int(rng.integers(height))), (width, int(rng.integers(height))), int(rng.integers(4, 9))
    return (int(rng.integers(width)), 0), (int(rng.integers(width)), height), int(rng.integers(4, 9))
