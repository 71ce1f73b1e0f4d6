"""A folder of small pictures with labels, as `resolute data tile` leaves one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import msgspec
import numpy as np
import pytest

Write = Callable[..., Path]


@pytest.fixture
def write_set(tmp_path: Path) -> Write:
    """write_set("train", count): pictures and a COCO file under tmp_path; returns tmp_path."""

    def write(split: str, count: int = 4, *, tag: str = "_64_02", side: int = 64, categories: int = 2) -> Path:
        folder = tmp_path / f"{split}_images{tag}"
        folder.mkdir(parents=True)
        draw = np.random.default_rng(len(split))
        images: list[dict[str, Any]] = []
        annotations: list[dict[str, Any]] = []
        for number in range(1, count + 1):
            pixels = draw.integers(0, 255, (side, side, 3), dtype=np.uint8)
            cv2.imwrite(str(folder / f"{number}.png"), pixels)
            images.append({"id": number, "file_name": f"{number}.png", "width": side, "height": side})
            annotations.append(
                {"id": number, "image_id": number, "category_id": number % categories, "bbox": [4, 5, 20, 30]}
            )
        content = {
            "images": images,
            "annotations": annotations,
            "categories": [{"id": i, "name": f"kind {i}"} for i in range(categories)],
        }
        (tmp_path / f"{split}{tag}.json").write_bytes(msgspec.json.encode(content))
        return tmp_path

    return write
