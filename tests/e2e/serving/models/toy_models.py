"""Models that misbehave on demand, loaded by the servers under test."""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from resolute.domain.errors import InvalidInput, NotSupported
from resolute.serving.model import ModelMetadata, Tensor, TensorSpec


class Toy:
    """Numbers are doubled. `die`, `hang` and `{"sleep_s": 1}` do what they say; `pid` tells which process answers."""

    metadata = ModelMetadata(platform="toy", inputs=(TensorSpec(name="x", datatype="FP32", shape=(-1,)),))

    def predict(self, instances: Sequence[Any]) -> list[Any]:
        return [self._one(index, instance) for index, instance in enumerate(instances)]

    def explain(self, instances: Sequence[Any]) -> list[Any]:
        raise NotSupported("A toy explains nothing.")

    def infer(self, requests: Sequence[dict[str, Tensor]]) -> list[dict[str, Tensor]]:
        return [{"y": request["x"] * 2} for request in requests]

    def _one(self, index: int, instance: Any) -> Any:
        match instance:
            case int() | float():
                return instance * 2
            case "die":
                os._exit(7)
            case "hang":
                time.sleep(60)
            case "pid":
                return os.getpid()
            case {"sleep_s": seconds}:
                time.sleep(seconds)
                return os.getpid()
        raise InvalidInput(f"Instance {index} is {instance!r}; send a number.")


def load(source: Path, options: dict[str, Any]) -> Toy:
    if (source / "refuse").exists():
        raise InvalidInput(f"{source} holds no model: it has weights but no detector.json.")
    if (source / "break").exists():
        raise RuntimeError("not enough memory")
    while (source / "wait").exists():
        time.sleep(0.01)
    return Toy()
