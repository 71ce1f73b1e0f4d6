"""Metrics against a model of a few lines: whatever is reported in whatever order, both say the same."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resolute.domain.metric import MetricReport
from resolute.store.db import DatabaseStore, open_store

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
GROUPS = ("training", "validation")


@dataclass
class Model:
    """Every report by (group, run, steps); the last value of a name stays."""

    reports: dict[tuple[str, int, int], dict[str, Any]] = field(default_factory=dict)

    def append(self, batch: list[MetricReport]) -> None:
        for report in batch:
            stored = self.reports.setdefault((report.group, report.run_id, report.steps_completed), {})
            stored.update(report.metrics)

    def is_archived(self, group: str, run: int, steps: int) -> bool:
        later = [s for g, r, s in self.reports if g == group and r > run]
        firsts = {r: min(s for g, q, s in self.reports if (g, q) == (group, r)) for r in self._runs(group) if r > run}
        return bool(later) and steps >= min(firsts.values())

    def live(self, group: str, name: str) -> list[tuple[int, float]]:
        found = [
            (steps, values[name])
            for (g, run, steps), values in self.reports.items()
            if g == group and name in values and not self.is_archived(g, run, steps)
        ]
        return sorted(found)

    def _runs(self, group: str) -> set[int]:
        return {run for g, run, _ in self.reports if g == group}


values = st.one_of(st.floats(-100, 100), st.sampled_from([math.inf, -math.inf]))
report = st.builds(
    lambda group, run, steps, metrics: MetricReport(
        trial_id=0, run_id=run, group=group, steps_completed=steps, report_time=NOON, metrics=metrics
    ),
    st.sampled_from(GROUPS),
    st.integers(1, 3),
    st.integers(0, 12),
    st.dictionaries(st.sampled_from(["loss", "lr"]), values, min_size=1),
)
batches = st.lists(st.lists(report, min_size=1, max_size=6), min_size=1, max_size=6)


@pytest.fixture(scope="module")
def shared() -> Iterator[DatabaseStore]:
    store = open_store("sqlite://")
    yield store
    store.close()


@pytest.fixture(scope="module")
def trial_ids() -> Iterator[int]:
    return iter(range(1, 10**6))


def _of(trial_id: int, report: MetricReport) -> MetricReport:
    return MetricReport(
        trial_id=trial_id,
        run_id=report.run_id,
        group=report.group,
        steps_completed=report.steps_completed,
        report_time=report.report_time,
        metrics=report.metrics,
    )


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches)
def test_reports_series_and_summaries_agree_with_the_model(
    shared: DatabaseStore, trial_ids: Iterator[int], batches: list[list[MetricReport]]
) -> None:
    trial_id, model = next(trial_ids), Model()

    for batch in batches:
        own = [_of(trial_id, item) for item in batch]
        model.append(own)
        with shared.write() as transaction:
            transaction.metrics.append(own)
        _compare(shared, trial_id, model)


def _compare(store: DatabaseStore, trial_id: int, model: Model) -> None:
    with store.read() as transaction:
        found = list(transaction.metrics.reports(trial_id))
        summaries = {(s.group, s.name): s for s in transaction.metrics.summaries(trial_id)}
        series = {
            (group, name): transaction.metrics.series(trial_id, group, name)
            for group in GROUPS
            for name in ("loss", "lr")
        }
    stored = {(r.group, r.run_id, r.steps_completed): (r.metrics, archived) for _, r, archived in found}
    assert stored == {key: (metrics, model.is_archived(*key)) for key, metrics in model.reports.items()}
    assert [r.steps_completed for _, r, _ in found] == sorted(r.steps_completed for _, r, _ in found)
    for (group, name), points in series.items():
        expected = model.live(group, name)
        assert list(zip(points.steps, points.values, strict=True)) == expected
        summary = summaries.get((group, name))
        assert (summary.count if summary else 0) == len(expected)
        finite = [value for _, value in expected if math.isfinite(value)]
        if summary is not None and finite:
            assert (summary.min, summary.max) == (min(finite), max(finite))
            assert summary.total == pytest.approx(sum(finite), abs=1e-6)
        if summary is not None and expected:
            assert summary.last == expected[-1][1]
