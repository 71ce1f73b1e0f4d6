"""A metric report: what a trial says it measured at a step. Pure."""

from dataclasses import dataclass, field
from datetime import datetime

TRAINING = "training"
VALIDATION = "validation"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricReport:
    trial_id: int
    run_id: int
    group: str
    steps_completed: int
    report_time: datetime
    metrics: dict[str, object]
    """Name to number (NaN and Inf kept), string, or nested object."""
    batch_metrics: list[dict[str, object]] | None = None
    is_stepless: bool = False
    """It was measured at no step, as profilers do; `steps_completed` is then its number in the group."""

    def is_repeated_by(self, other: "MetricReport") -> bool:
        """Sent twice: the same numbers from the same moment. NaN is the same as NaN."""
        return self.report_time == other.report_time and repr(self.metrics) == repr(other.metrics)


@dataclass(frozen=True, slots=True, kw_only=True)
class Highlights:
    """The reports of a trial that lists show."""

    best: MetricReport | None = None
    latest: MetricReport | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSummary:
    """Running statistics of one metric of one trial. NaN and Inf count but stay out of min, max, mean."""

    group: str
    name: str
    count: int = 0
    total: float = 0.0
    min: float | None = None
    max: float | None = None
    last: object = None
    type: str = "number"
    non_finite: int = 0
    """How many of `count` were NaN or Inf; `total` leaves them out."""

    @property
    def mean(self) -> float | None:
        finite = self.count - self.non_finite
        return self.total / finite if finite else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Points of one metric of one trial, thinned to a budget. Columns have equal length."""

    trial_id: int
    group: str
    name: str
    steps: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    """Unix seconds of the report."""
    total_points: int = 0
    """How many points there are before thinning."""

    def best_step(self, *, smaller_is_better: bool) -> int | None:
        """Where the best value is, the earliest among equals. NaN is never the best."""
        sign = 1.0 if smaller_is_better else -1.0
        points = ((sign * value, step) for value, step in zip(self.values, self.steps, strict=True) if value == value)
        best = min(points, default=None)
        return None if best is None else best[1]
