"""Tiny trainings on made-up pictures, off-cluster."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from resolute.pytorch import Batch, Trainer, init
from resolute.vision.trial import DetectionTrial

TINY = {
    "model": "ssdlite320_mobilenet_v3_large", "min_size": 64, "backend": "fake", "fake_images": 12, "fake_size": 64,
    "global_batch_size": 4, "lr": 0.01, "num_classes": 3,
}  # fmt: skip
Fit = Callable[..., DetectionTrial]


@pytest.fixture(autouse=True)
def no_trial_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("DET_", "RESOLUTE_", "RANK", "WORLD_SIZE", "LOCAL_")):
            monkeypatch.delenv(name)


@pytest.fixture
def fit(tmp_path: Path) -> Fit:
    """fit("run", batches, **hparams): trains and returns the trial; its files are under tmp_path/run."""

    def train(
        name: str,
        batches: int,
        *,
        resume: bool = False,
        every: int = 1,
        kind: type[DetectionTrial] = DetectionTrial,
        **hparams: Any,
    ) -> DetectionTrial:
        place = {"resume": tmp_path / name} if resume else {"folder": tmp_path / name}
        with init(hparams={**TINY, **hparams}, **place) as context:
            context.run.config["searcher"] = {"metric": "mAP", "smaller_is_better": False, "max_length": batches}
            trial = kind(context)
            Trainer(trial, context).fit(max_length=Batch(batches), reporting_period=Batch(every))
        return trial

    return train


@pytest.fixture
def built(tmp_path: Path) -> Iterator[Fit]:
    """built(**hparams): a trial that is ready, but not trained."""
    with ExitStack() as stack:

        def build(length: int = 100, **hparams: Any) -> DetectionTrial:
            context = stack.enter_context(init(hparams={**TINY, **hparams}, folder=tmp_path / f"{len(hparams)}"))
            context.run.config["searcher"] = {"metric": "mAP", "max_length": length}
            return DetectionTrial(context)

        yield build


@pytest.fixture
def write_set(tmp_path: Path) -> Callable[..., str]:
    """write_set(shapes, classes): pictures of those (width, height) with one box each, for train and val; their folder.

    `outlines`: the box is a triangle too."""

    def write(shapes: Sequence[tuple[int, int]], classes: Sequence[int] = (0,), *, outlines: bool = False) -> str:
        root = tmp_path / "set"
        for split in ("train", "val"):
            folder = root / f"{split}_images"
            folder.mkdir(parents=True)
            images, annotations = [], []
            for number, (width, height) in enumerate(shapes, 1):
                pixels = np.full((height, width, 3), 40 + 7 * number, np.uint8)
                pixels[6:30, 4:28] = 250
                cv2.imwrite(str(folder / f"{number}.png"), pixels)
                images.append({"id": number, "file_name": f"{number}.png", "width": width, "height": height})
                label = {"id": number, "image_id": number, "category_id": classes[(number - 1) % len(classes)]}
                triangle = {"segmentation": [[4, 6, 28, 6, 4, 30]]} if outlines else {}
                annotations.append({**label, "bbox": [4, 6, 24, 24], "area": 576, "iscrowd": 0, **triangle})
            categories = [{"id": each, "name": f"kind {each}"} for each in sorted(set(classes))]
            content = {"images": images, "annotations": annotations, "categories": categories}
            (root / f"{split}.json").write_text(json.dumps(content))
        return str(root)

    return write


@pytest.fixture
def reports(tmp_path: Path) -> Callable[[str, str], list[dict[str, Any]]]:
    """reports("run", "training"): what was reported, in order."""

    def read(name: str, group: str) -> list[dict[str, Any]]:
        lines = (tmp_path / name / "metrics.jsonl").read_text().splitlines()
        return [line for line in map(json.loads, lines) if line["group"] == group]

    return read
