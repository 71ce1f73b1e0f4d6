"""The table of experiments: filtered and sorted by any column, those of hyperparameters and metrics included.

A read model: nothing here changes anything.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from resolute.domain.experiment import Experiment
from resolute.domain.metric import MetricSummary
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.ports.queries import ExperimentQuery, ExperimentSummary, Page, PageRequest
from resolute.engine.trials.views import TrialView, trial_views
from resolute.spec.experiment_filter import parse_filter

STATISTICS = ("last", "max", "mean", "min")
"""Of a metric: `validation.loss.min` is a column."""


@dataclass(frozen=True, slots=True)
class TableRow:
    summary: ExperimentSummary
    best_trial: TrialView | None


@dataclass(frozen=True, slots=True)
class TableColumns:
    """What a table of these experiments can show beside the fields that every experiment has."""

    hyperparameters: list[str]
    metrics: list[tuple[str, str]]
    """(group, name)"""


def experiment_table(
    platform: Platform,
    *,
    project_id: int | None = None,
    filter: str = "",
    sort: str = "",
    page: PageRequest = PageRequest(),
    visible_in: frozenset[int] | None = None,
) -> Page[TableRow]:
    """`filter`: see `spec.experiment_filter`. `sort`: `column=asc,column=desc`; `id=desc` when it says nothing."""
    wanted = parse_filter(filter)
    order = _order(sort or "id=desc")
    with platform.store.read() as tx:
        found = tx.experiments.search(ExperimentQuery(project_id=project_id, visible_in=visible_in)).items
        rows = _rows(tx, found, {*wanted.columns, *(column for column, _ in order)}, now=platform.clock())
        kept = _sorted([row for row in rows if wanted.keeps(row.value)], order)
        cut = page.cut([row.summary for row in kept])
        trials = tx.trials.of_ids([s.best_trial_id for s in cut.items if s.best_trial_id is not None])
        best = {view.trial.id: view for view in trial_views(tx, trials)}
    return Page([TableRow(s, best.get(s.best_trial_id or 0)) for s in cut.items], cut.total, cut.offset)


def table_columns(platform: Platform, project_id: int) -> TableColumns:
    """Hyperparameters of all, and metrics of each one's best trial. Raises NotFound."""
    with platform.store.read() as tx:
        tx.workspaces.project(project_id)
        found = tx.experiments.search(ExperimentQuery(project_id=project_id)).items
        metrics = tx.metrics.names(_best_trials(found))
    return TableColumns(sorted({key for summary in found for key in _hyperparameters(summary)}), metrics)


def metric_ranges(platform: Platform, project_id: int) -> dict[str, tuple[float, float]]:
    """`group.name` to the smallest and largest value in the best trial of each experiment. Raises NotFound."""
    with platform.store.read() as tx:
        tx.workspaces.project(project_id)
        found = tx.experiments.search(ExperimentQuery(project_id=project_id)).items
        summaries = tx.metrics.summaries_of(_best_trials(found)).values()
    ranges: dict[str, tuple[float, float]] = {}
    for each in (summary for own in summaries for summary in own):
        if each.min is None or each.max is None:
            continue
        key = f"{each.group}.{each.name}"
        low, high = ranges.get(key, (each.min, each.max))
        ranges[key] = (min(low, each.min), max(high, each.max))
    return dict(sorted(ranges.items()))


# ------------------------------------------------------------------------------------------------------------ values

_HYPERPARAMETER = "hp."


@dataclass(frozen=True, slots=True)
class _Row:
    summary: ExperimentSummary
    now: datetime
    metrics: Mapping[str, object]
    """By `group.name.statistic`; only where a metric is asked for."""

    @property
    def experiment(self) -> Experiment:
        return self.summary.experiment

    def value(self, column: str) -> object:
        if column in _FIELDS:
            return _FIELDS[column](self)
        if column.startswith(_HYPERPARAMETER):
            return _hyperparameters(self.summary).get(column.removeprefix(_HYPERPARAMETER))
        return self.metrics.get(column)


_FIELDS: Mapping[str, Callable[[_Row], object]] = {
    "id": lambda row: row.experiment.id,
    "name": lambda row: row.experiment.name,
    "description": lambda row: row.experiment.description,
    "tags": lambda row: ",".join(row.experiment.labels),
    "forkedFrom": lambda row: row.experiment.parent_id,
    "startTime": lambda row: row.experiment.start_time.isoformat(),
    "endTime": lambda row: row.experiment.end_time.isoformat() if row.experiment.end_time else None,
    "duration": lambda row: ((row.experiment.end_time or row.now) - row.experiment.start_time).total_seconds(),
    "numTrials": lambda row: row.summary.num_trials,
    "state": lambda row: str(row.experiment.state),
    "searcherType": lambda row: row.experiment.searcher_name or None,
    "searcherMetric": lambda row: row.experiment.searcher_metric or None,
    "searcherMetricsVal": lambda row: row.summary.best_metric,
    "resourcePool": lambda row: row.summary.resource_pool,
    "progress": lambda row: row.experiment.progress,
    "checkpointSize": lambda row: row.summary.checkpoint_size,
    "checkpointCount": lambda row: row.summary.checkpoint_count,
    "user": lambda row: row.summary.username,
    "userId": lambda row: row.experiment.user_id,
    "archived": lambda row: row.experiment.archived,
    "projectId": lambda row: row.experiment.project_id,
}


def _rows(tx: Transaction, found: Sequence[ExperimentSummary], columns: set[str], *, now: datetime) -> list[_Row]:
    """Metrics are read only when a column needs them."""
    needs_metrics = any(column not in _FIELDS and not column.startswith(_HYPERPARAMETER) for column in columns)
    metrics = tx.metrics.summaries_of(_best_trials(found)) if needs_metrics else {}
    return [_Row(summary, now, _statistics(metrics.get(summary.best_trial_id or 0, ()))) for summary in found]


def _best_trials(found: Sequence[ExperimentSummary]) -> list[int]:
    return [summary.best_trial_id for summary in found if summary.best_trial_id is not None]


def _statistics(metrics: Sequence[MetricSummary]) -> dict[str, object]:
    return {
        f"{metric.group}.{metric.name}.{statistic}": getattr(metric, statistic)
        for metric in metrics
        for statistic in STATISTICS
    }


def _hyperparameters(summary: ExperimentSummary) -> dict[str, object]:
    """As configured: a constant is its value, a range is its map."""
    section = summary.experiment.hyperparameters
    return {key: value.get("val", value) if isinstance(value, dict) else value for key, value in section.items()}


# ------------------------------------------------------------------------------------------------------------- order


def _order(sort: str) -> list[tuple[str, bool]]:
    """(column, descending), the one that matters most first."""
    parts = [part.partition("=") for part in sort.split(",") if part]
    return [(column, direction == "desc") for column, _, direction in parts]


def _sorted(rows: list[_Row], order: Sequence[tuple[str, bool]]) -> list[_Row]:
    """Last key first: Python's sort is stable. Rows without a value stay at the end."""
    for column, descending in reversed(order):
        with_value = [(value, row) for row in rows if (value := row.value(column)) is not None]
        without = [row for row in rows if row.value(column) is None]
        with_value.sort(key=lambda pair: _sort_key(pair[0]), reverse=descending)
        rows = [*(row for _, row in with_value), *without]
    return rows


def _sort_key(value: object) -> tuple[int, float, str]:
    """Numbers come before words."""
    if isinstance(value, int | float):
        return (0, float(value), "")
    return (1, 0.0, str(value).lower())
