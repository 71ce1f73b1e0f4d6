"""The learning rate over a training: warm-up, then steps, a cosine or nothing. Pure; counted in batches."""

import math
from dataclasses import dataclass

from resolute.domain.errors import InvalidInput

WARMUPS = ("none", "constant", "linear", "exp")
SCHEDULES = ("multistep", "cosine", "constant")


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """`factor(i)` is what the learning rate is multiplied with at batch i, from 0."""

    kind: str = "multistep"
    warmup: str = "none"
    warmup_iters: int = 0
    warmup_ratio: float = 0.001
    milestones: tuple[int, ...] = ()
    gamma: float = 0.1
    total: int | None = None
    """How long a cosine is."""

    def __post_init__(self) -> None:
        _one_of("warmup", self.warmup, WARMUPS)
        _one_of("lr_scheduler", self.kind, SCHEDULES)
        if self.warmup != "none":
            if self.warmup_iters < 1:
                raise InvalidInput(f"warmup_iters is {self.warmup_iters}; with warmup {self.warmup} use 1 or more.")
            if not 0 < self.warmup_ratio <= 1:
                raise InvalidInput(f"warmup_ratio is {self.warmup_ratio}; it lies above 0 and up to 1, such as 0.001.")
        if self.gamma <= 0:
            raise InvalidInput(f"gamma is {self.gamma}; it must be above 0, such as 0.1.")
        if any(later <= earlier for earlier, later in zip(self.milestones, self.milestones[1:], strict=False)):
            raise InvalidInput(f"The steps {list(self.milestones)} do not rise; step2 comes after step1.")
        if self.kind == "cosine" and not self.total:
            raise InvalidInput(
                "lr_scheduler cosine needs to know how long the training is. Set searcher.max_length in the YAML, or "
                "pass --batches or --epochs."
            )

    def factor(self, batch: int) -> float:
        return self._warming(batch) * self._falling(batch)

    def _warming(self, batch: int) -> float:
        if self.warmup == "none" or batch >= self.warmup_iters:
            return 1.0
        done = (batch + 1) / self.warmup_iters
        if self.warmup == "constant":
            return self.warmup_ratio
        if self.warmup == "linear":
            return self.warmup_ratio + done * (1 - self.warmup_ratio)
        return float(self.warmup_ratio ** (1 - done))

    def _falling(self, batch: int) -> float:
        if self.kind == "constant":
            return 1.0
        if self.kind == "cosine":
            return 0.5 * (1 + math.cos(math.pi * min(batch / (self.total or 1), 1.0)))
        return float(self.gamma ** sum(batch >= milestone for milestone in self.milestones))


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InvalidInput(f"{name} is {value!r}; use one of {', '.join(known)}.")
