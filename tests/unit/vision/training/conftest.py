"""Tiny trainings on made-up pictures, off-cluster."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

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

    def train(name: str, batches: int, *, resume: bool = False, every: int = 1, **hparams: Any) -> DetectionTrial:
        place = {"resume": tmp_path / name} if resume else {"folder": tmp_path / name}
        with init(hparams={**TINY, **hparams}, **place) as context:
            context.run.config["searcher"] = {"metric": "mAP", "smaller_is_better": False, "max_length": batches}
            trial = DetectionTrial(context)
            Trainer(trial, context).fit(max_length=Batch(batches), reporting_period=Batch(every))
        return trial

    return train


@pytest.fixture
def reports(tmp_path: Path) -> Callable[[str, str], list[dict[str, Any]]]:
    """reports("run", "training"): what was reported, in order."""

    def read(name: str, group: str) -> list[dict[str, Any]]:
        lines = (tmp_path / name / "metrics.jsonl").read_text().splitlines()
        return [line for line in map(json.loads, lines) if line["group"] == group]

    return read
