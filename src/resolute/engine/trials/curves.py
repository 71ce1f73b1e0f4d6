"""Curves of metrics: a read model for charts and comparisons, of few statements however many trials are drawn.

What is asked for is read thinned: nothing here returns every point of a long series.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from resolute.domain.errors import NotFound
from resolute.domain.metric import TRAINING, VALIDATION, Series
from resolute.domain.trial import Trial
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.ports.queries import PageRequest, TrialQuery
from resolute.engine.trials.nested_series import SEPARATOR, nested_series
from resolute.engine.trials.views import TrialView, trial_views

MAX_POINTS = 10_000
"""The most points of one series that an answer holds."""
IsWanted = Callable[[str, str], bool]
"""Of a metric's group and name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveQuery:
    """Which metrics, and how much of them. No groups or no names: all there are."""

    groups: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """`a.b` is `b` inside the metric `a`, where one trial is asked about."""
    max_points: int = 1000
    since: int | None = None
    """Only points after this many steps."""
    until: int | None = None
    """Only points up to this many steps."""


@dataclass(frozen=True, slots=True)
class ComparedTrial:
    view: TrialView
    series: list[Series]


@dataclass(frozen=True, slots=True)
class MetricNames:
    searcher_metrics: list[str]
    metrics: list[tuple[str, str]]
    """(group, name)"""

    @property
    def training(self) -> list[str]:
        return [name for group, name in self.metrics if group == TRAINING]

    @property
    def validation(self) -> list[str]:
        return [name for group, name in self.metrics if group == VALIDATION]


@dataclass(frozen=True, slots=True)
class TrialPoint:
    trial: Trial
    steps: int
    value: float


def trial_curves(platform: Platform, trial_id: int, query: CurveQuery) -> list[Series]:
    """Raises NotFound."""
    with platform.store.read() as tx:
        tx.trials.get(trial_id)
        return _curves(tx, [trial_id], query)


def curves_of(platform: Platform, trial_ids: Sequence[int], query: CurveQuery) -> list[Series]:
    """Of trials of any experiments, in their order. Raises NotFound."""
    with platform.store.read() as tx:
        missing = sorted(set(trial_ids) - {trial.id for trial in tx.trials.of_ids(trial_ids)})
        if missing:
            raise NotFound(f"trial not found: {missing[0]}")
        return _curves(tx, list(dict.fromkeys(trial_ids)), query)


def experiment_curves(
    platform: Platform, experiment_id: int, query: CurveQuery, *, trial_ids: Sequence[int] = (), max_trials: int = 100
) -> list[Series]:
    """Of the given trials, in their order; of none, the best. Raises NotFound."""
    with platform.store.read() as tx:
        tx.experiments.get(experiment_id)
        ids = trial_ids or [trial.id for trial in _best_trials(tx, experiment_id, max_trials)]
        return _curves(tx, ids, query)


def compare_trials(
    platform: Platform,
    trial_ids: Sequence[int],
    is_wanted: IsWanted,
    *,
    max_points: int = 1000,
    since: int | None = None,
    until: int | None = None,
) -> list[ComparedTrial]:
    """The trials with those of their metrics that are wanted. Raises NotFound."""
    with platform.store.read() as tx:
        trials = tx.trials.of_ids(trial_ids)
        missing = sorted(set(trial_ids) - {trial.id for trial in trials})
        if missing:
            raise NotFound(f"trial not found: {missing[0]}")
        views = trial_views(tx, trials)
        found: dict[int, list[Series]] = {}
        for group, names in _by_group(tx, trial_ids, is_wanted).items():
            for series in tx.metrics.series_of(
                trial_ids, group, names, max_points=max_points, since_steps=since, until_steps=until
            ):
                found.setdefault(series.trial_id, []).append(series)
    return [ComparedTrial(view, found.get(view.trial.id, [])) for view in views]


def metric_names(platform: Platform, experiment_ids: Sequence[int]) -> MetricNames:
    """Of all their trials. Raises NotFound."""
    with platform.store.read() as tx:
        looked_at = tx.experiments.searcher_metrics(experiment_ids)
        missing = sorted(set(experiment_ids) - set(looked_at))
        if missing:
            raise NotFound(f"experiment not found: {missing[0]}")
        names = tx.metrics.names(tx.trials.ids_of(experiment_ids))
    return MetricNames(sorted({metric for metric, _ in looked_at.values()}), names)


def reported_steps(platform: Platform, experiment_id: int, group: str, name: str) -> list[int]:
    """At which a metric has been reported by any trial."""
    with platform.store.read() as tx:
        ids = tx.trials.ids_of([experiment_id])
        found = tx.metrics.series_of(ids, group, [name], max_points=MAX_POINTS)
    return sorted({step for series in found for step in series.steps})


def best_curves(
    platform: Platform, experiment_id: int, group: str, name: str, *, max_trials: int, max_points: int
) -> list[tuple[Trial, Series]]:
    """One metric of the best trials, the best first; one that never reported it has an empty series."""
    with platform.store.read() as tx:
        trials = _best_trials(tx, experiment_id, max_trials)
        ids = [trial.id for trial in trials]
        found = {series.trial_id: series for series in tx.metrics.series_of(ids, group, [name], max_points=max_points)}
    return [(trial, found.get(trial.id) or Series(trial_id=trial.id, group=group, name=name)) for trial in trials]


def points_near(
    platform: Platform, experiment_id: int, group: str, name: str, *, steps: int, margin: int
) -> list[TrialPoint]:
    """Every trial's value at the step nearest to `steps`, where it has one no further away than `margin`."""
    with platform.store.read() as tx:
        trials = {trial.id: trial for trial in tx.trials.of_experiment(experiment_id)}
        found = tx.metrics.series_of(
            list(trials),
            group,
            [name],
            max_points=MAX_POINTS,
            since_steps=steps - margin - 1,
            until_steps=steps + margin,
        )
    return [TrialPoint(trials[series.trial_id], *_nearest(series, steps)) for series in found]


def _nearest(series: Series, steps: int) -> tuple[int, float]:
    """Of two that are equally near, the earlier."""
    return min(zip(series.steps, series.values, strict=True), key=lambda point: abs(point[0] - steps))


def _best_trials(tx: Transaction, experiment_id: int, limit: int) -> list[Trial]:
    query = TrialQuery(experiment_id=experiment_id, sort_by="best_metric", page=PageRequest(limit=limit))
    return tx.trials.search(query).items


def _curves(tx: Transaction, trial_ids: Sequence[int], query: CurveQuery) -> list[Series]:
    def is_wanted(group: str, name: str) -> bool:
        return (not query.groups or group in query.groups) and (not query.names or name in query.names)

    known = _by_group(tx, trial_ids, is_wanted)
    found: list[Series] = []
    for group, names in known.items():
        found += tx.metrics.series_of(
            trial_ids,
            group,
            names,
            max_points=query.max_points,
            since_steps=query.since,
            until_steps=query.until,
        )
    for group in query.groups if len(trial_ids) == 1 else ():
        nested = [name for name in query.names if SEPARATOR in name and name not in known.get(group, [])]
        if nested:
            found += nested_series(
                tx,
                trial_ids[0],
                group,
                nested,
                max_points=query.max_points,
                since_steps=query.since,
                until_steps=query.until,
            )
    place = {trial_id: position for position, trial_id in enumerate(trial_ids)}
    return sorted(found, key=lambda series: place[series.trial_id])


def _by_group(tx: Transaction, trial_ids: Sequence[int], is_wanted: IsWanted) -> dict[str, list[str]]:
    known: dict[str, list[str]] = {}
    for group, name in tx.metrics.names(trial_ids):
        if is_wanted(group, name):
            known.setdefault(group, []).append(name)
    return known
