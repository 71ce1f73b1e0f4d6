"""What a model has answered since the server began, as Triton's clients ask for it. Times are in nanoseconds."""

import time
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Duration:
    count: int = 0
    ns: int = 0

    def add(self, seconds: float) -> None:
        self.count += 1
        self.ns += int(seconds * 1e9)

    def shown(self) -> dict[str, int]:
        return {"count": self.count, "ns": self.ns}


@dataclass(slots=True)
class ModelStatistics:
    """Of one model. Requests count from their last byte to their answer, executions while the model has them."""

    success: Duration = field(default_factory=Duration)
    fail: Duration = field(default_factory=Duration)
    executions: Duration = field(default_factory=Duration)
    instances: int = 0
    last_inference_ms: int = 0

    def request_done(self, seconds: float, *, is_good: bool) -> None:
        (self.success if is_good else self.fail).add(seconds)
        self.last_inference_ms = int(time.time() * 1000)

    def batch_done(self, instances: int, seconds: float) -> None:
        self.executions.add(seconds)
        self.instances += instances

    def shown(self, name: str, version: str) -> dict[str, Any]:
        stats = {"success": self.success, "fail": self.fail, "compute_infer": self.executions}
        return {
            "name": name,
            "version": version,
            "last_inference": self.last_inference_ms,
            "inference_count": self.instances,
            "execution_count": self.executions.count,
            "inference_stats": {key: value.shown() for key, value in stats.items()},
            "batch_stats": [],
        }
