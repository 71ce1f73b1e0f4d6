"""Validations that were the best of their experiment so far: how it got better over time. A read model."""

from dataclasses import dataclass
from datetime import UTC, datetime

from resolute.domain.metric import VALIDATION
from resolute.engine.platform import Platform
from resolute.engine.trials.curves import MAX_POINTS


@dataclass(frozen=True, slots=True)
class Record:
    trial_id: int
    time: datetime
    value: float


def records(platform: Platform, experiment_id: int) -> list[Record]:
    """In the order of time; NaN is no record. Read as curves are, so in few statements. Raises NotFound."""
    with platform.store.read() as tx:
        experiment = tx.experiments.get(experiment_id)
        ids = tx.trials.ids_of([experiment_id])
        curves = tx.metrics.series_of(ids, VALIDATION, [experiment.searcher_metric], max_points=MAX_POINTS)
    reported = sorted(
        (time, curve.trial_id, value)
        for curve in curves
        for time, value in zip(curve.times, curve.values, strict=True)
        if value == value
    )
    found: list[Record] = []
    for time, trial_id, value in reported:
        if not found or (value < found[-1].value if experiment.smaller_is_better else value > found[-1].value):
            found.append(Record(trial_id, datetime.fromtimestamp(time, UTC), value))
    return found
