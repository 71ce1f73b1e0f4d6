"""Pictures of digits, drawn instead of downloaded: the seven strokes of a pocket calculator, moved and noisy."""

import numpy as np
import torch
from torch.utils.data import TensorDataset

SIZE = 28
# Strokes as (row, column, height, width): top, upper left, upper right, middle, lower left, lower right, bottom.
_STROKES = ((0, 0, 3, 9), (0, 0, 9, 3), (0, 6, 9, 3), (7, 0, 3, 9), (7, 0, 9, 3), (7, 6, 9, 3), (13, 0, 3, 9))
_LIT = ("1110111", "0010010", "1011101", "1011011", "0111010", "1101011", "1101111", "1010010", "1111111", "1111011")


def draw_digits(count: int, seed: int) -> TensorDataset:
    """`count` grey pictures of 28 x 28 with their labels; the same seed draws the same pictures."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 10, count)
    pictures = random.normal(0.0, 0.25, (count, 1, SIZE, SIZE)).astype(np.float32)
    tops, lefts = random.integers(2, 10, count), random.integers(3, 16, count)
    for picture, label, top, left in zip(pictures[:, 0], labels, tops, lefts, strict=True):
        for lit, (row, column, height, width) in zip(_LIT[label], _STROKES, strict=True):
            if lit == "1":
                picture[top + row : top + row + height, left + column : left + column + width] += 0.6
    return TensorDataset(torch.from_numpy(pictures), torch.from_numpy(labels))
