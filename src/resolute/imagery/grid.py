"""Where the tiles of an image lie, and what they are called. Pure.

The step is `size - int(overlap_ratio * size)`. The last row and column are moved back, so that every tile has full
size as long as the image has. Order: row by row, left to right.
"""

from dataclasses import dataclass
from functools import cached_property

from resolute.domain.errors import InvalidInput
from resolute.imagery.geometry import Window


@dataclass(frozen=True)
class Grid:
    """The tiles of one image. Each tile is one column interval times one row interval."""

    width: int
    height: int
    size: int
    overlap_ratio: float

    @cached_property
    def columns(self) -> list[tuple[int, int]]:
        return intervals(self.width, self.size, self.overlap_ratio)

    @cached_property
    def rows(self) -> list[tuple[int, int]]:
        return intervals(self.height, self.size, self.overlap_ratio)

    def __len__(self) -> int:
        return len(self.columns) * len(self.rows)

    def window(self, row: int, column: int) -> Window:
        (x1, x2), (y1, y2) = self.columns[column], self.rows[row]
        return Window(x1, y1, x2, y2)

    def windows(self) -> list[Window]:
        return [self.window(row, column) for row in range(len(self.rows)) for column in range(len(self.columns))]


def intervals(length: int, size: int, overlap_ratio: float) -> list[tuple[int, int]]:
    """Cut `length` pixels into pieces of `size` that overlap; the last one is moved back to end at `length`."""
    check_tiling(size, overlap_ratio)
    overlap = int(overlap_ratio * size)
    pieces: list[tuple[int, int]] = []
    start = stop = 0
    while stop < length:
        stop = start + size
        end = min(length, stop)
        pieces.append((max(0, end - size), end))
        start = stop - overlap
    return pieces


def check_tiling(size: int, overlap_ratio: float) -> None:
    if size < 1:
        raise InvalidInput(f"The slice size is {size}. It must be at least 1 pixel, for example 300.")
    if not 0 <= overlap_ratio < 1:
        raise InvalidInput(f"The overlap ratio is {overlap_ratio}. It must be at least 0 and below 1, for example 0.2.")


def tile_name(stem: str, window: Window, suffix: str) -> str:
    return f"{stem}_{window.x1}_{window.y1}_{window.x2}_{window.y2}{suffix}"


def parse_tile_name(name: str) -> tuple[str, Window] | None:
    """Where a tile came from: the stem of its image and its window. None when it is not the name of a tile."""
    stem, _, _ = name.rpartition(".")
    parts = (stem or name).rsplit("_", 4)
    if len(parts) != 5 or not all(part.isdecimal() for part in parts[1:]):
        return None
    return parts[0], Window(*map(int, parts[1:]))


def folder_names(stem: str, size: int, overlap_ratio: float) -> tuple[str, str]:
    """Names of the tile folder and of its label file: `train_images_300_02`, `train_300_02.json`."""
    ratio = str(overlap_ratio).replace(".", "")
    return f"{stem}_images_{size}_{ratio}", f"{stem}_{size}_{ratio}.json"
