"""Draws digits and writes them as MNIST's own files, so that nothing is downloaded: python make_data.py"""

import struct
import sys
from pathlib import Path

import numpy as np

SIZE = 28
# The seven strokes of a pocket calculator as (row, column, height, width).
_STROKES = ((0, 0, 3, 9), (0, 0, 9, 3), (0, 6, 9, 3), (7, 0, 3, 9), (7, 0, 9, 3), (7, 6, 9, 3), (13, 0, 3, 9))
_LIT = ("1110111", "0010010", "1011101", "1011011", "0111010", "1101011", "1101111", "1010010", "1111111", "1111011")


def write_digits(folder: Path, *, train: int = 512, test: int = 256) -> None:
    """The four files of MNIST under `folder`/MNIST/raw."""
    raw = folder / "MNIST" / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    for name, count, seed in (("train", train, 0), ("t10k", test, 1)):
        pictures, labels = draw(count, seed)
        (raw / f"{name}-images-idx3-ubyte").write_bytes(
            struct.pack(">4i", 2051, count, SIZE, SIZE) + pictures.tobytes()
        )
        (raw / f"{name}-labels-idx1-ubyte").write_bytes(struct.pack(">2i", 2049, count) + labels.tobytes())


def draw(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Grey pictures and their labels; the same seed draws the same ones."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 10, count).astype(np.uint8)
    pictures = random.integers(0, 60, (count, SIZE, SIZE))
    tops, lefts = random.integers(4, 9, count), random.integers(6, 13, count)
    for picture, label, top, left in zip(pictures, labels, tops, lefts, strict=True):
        for lit, (row, column, height, width) in zip(_LIT[label], _STROKES, strict=True):
            if lit == "1":
                picture[top + row : top + row + height, left + column : left + column + width] = 230
    return pictures.astype(np.uint8), labels


if __name__ == "__main__":
    write_digits(Path(sys.argv[1] if len(sys.argv) > 1 else "datasets"))
