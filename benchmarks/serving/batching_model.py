"""The model of the batching benchmark: a perceptron of 10 million weights in numpy, the same for every run."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from resolute.domain.errors import NotSupported
from resolute.serving.model import ModelMetadata, Tensor

INPUTS, HIDDEN, CLASSES = 784, 2048, 10


class Perceptron:
    metadata = ModelMetadata(platform="numpy")

    def __init__(self) -> None:
        random = np.random.default_rng(0)
        sizes = [INPUTS, HIDDEN, HIDDEN, HIDDEN, CLASSES]
        self._layers = [
            random.standard_normal((start, end), dtype=np.float32) / start**0.5 for start, end in pairwise(sizes)
        ]

    def predict(self, instances: Sequence[Any]) -> list[Any]:
        return list(self._forward(np.asarray(instances, dtype=np.float32)).tolist())

    def explain(self, instances: Sequence[Any]) -> list[Any]:
        raise NotSupported("A perceptron explains nothing.")

    def infer(self, requests: Sequence[dict[str, Tensor]]) -> list[dict[str, Tensor]]:
        scores = self._forward(np.concatenate([request["x"] for request in requests]))
        ends = np.cumsum([len(request["x"]) for request in requests])[:-1]
        return [{"y": part} for part in np.split(scores, ends)]

    def _forward(self, values: Tensor) -> Tensor:
        for weights in self._layers[:-1]:
            values = np.maximum(values @ weights, 0)
        return values @ self._layers[-1]


def load(source: Path, options: dict[str, Any]) -> Perceptron:
    return Perceptron()
