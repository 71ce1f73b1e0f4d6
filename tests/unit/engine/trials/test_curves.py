"""Curves of metrics, as charts and comparisons ask for them."""

from typing import Any

import pytest

from resolute.domain.errors import NotFound
from resolute.domain.metric import TRAINING, VALIDATION, MetricReport, Series
from resolute.engine.trials.curves import (
    CurveQuery,
    best_curves,
    compare_trials,
    experiment_curves,
    metric_names,
    points_near,
    reported_steps,
    trial_curves,
)
from resolute.engine.trials.reports import report_metrics

GRID = """
name: grid
entrypoint: python3 train.py
searcher: {name: grid, metric: loss}
hyperparameters: {lr: {type: categorical, vals: [0.1, 0.2, 0.3]}}
max_restarts: 0
"""


def report(world: Any, trial: Any, steps: int, group: str = TRAINING, **metrics: Any) -> None:
    """What the trial's newest run tells, whether its processes are there or not."""
    run = world.trial(trial.id).run_id
    found = MetricReport(
        trial_id=trial.id,
        run_id=run,
        group=group,
        steps_completed=steps,
        report_time=world.clock(),
        metrics=metrics,
    )
    report_metrics(world.platform, [found])


@pytest.fixture
def trials(world: Any) -> list[Any]:
    experiment = world.create(GRID)
    world.tick()
    return list(world.trials(experiment.id))


def points(series: list[Series]) -> dict[tuple[int, str, str], list[tuple[int, float]]]:
    return {(s.trial_id, s.group, s.name): list(zip(s.steps, s.values, strict=True)) for s in series}


# ----------------------------------------------------------------------------------------------------------- series


def test_all_metrics_of_a_trial_come_when_none_is_named(world: Any, trials: list[Any]) -> None:
    trial = trials[0]
    report(world, trial, 1, loss=0.5, lr=0.1)
    report(world, trial, 2, VALIDATION, loss=0.4)

    found = trial_curves(world.platform, trial.id, CurveQuery())

    assert points(found) == {
        (trial.id, TRAINING, "loss"): [(1, 0.5)],
        (trial.id, TRAINING, "lr"): [(1, 0.1)],
        (trial.id, VALIDATION, "loss"): [(2, 0.4)],
    }


def test_groups_and_names_narrow_and_since_leaves_out_what_is_known(world: Any, trials: list[Any]) -> None:
    trial = trials[0]
    for step in (1, 2, 3):
        report(world, trial, step, loss=float(step), lr=0.1)
        report(world, trial, step, VALIDATION, loss=step / 10)

    found = trial_curves(world.platform, trial.id, CurveQuery(groups=(TRAINING,), names=("loss",), since=1))

    assert points(found) == {(trial.id, TRAINING, "loss"): [(2, 2.0), (3, 3.0)]}


def test_a_long_series_is_thinned_and_keeps_its_peaks(world: Any, trials: list[Any]) -> None:
    trial = trials[0]
    for step in range(1, 101):
        report(world, trial, step, loss=99.0 if step == 37 else 1.0)

    (series,) = trial_curves(world.platform, trial.id, CurveQuery(max_points=10))

    assert len(series.steps) <= 10
    assert (37, 99.0) in zip(series.steps, series.values, strict=True)
    assert series.total_points == 100


def test_a_value_inside_a_metric_is_found_by_its_path_in_one_trial_alone(world: Any, trials: list[Any]) -> None:
    first, second, _ = trials
    for trial in (first, second):
        report(world, trial, 1, "cpu", node={"util": 5.0})
    query = CurveQuery(groups=("cpu",), names=("node.util",))

    alone = trial_curves(world.platform, first.id, query)
    together = experiment_curves(world.platform, first.experiment_id, query, trial_ids=[first.id, second.id])

    assert points(alone) == {(first.id, "cpu", "node.util"): [(1, 5.0)]}
    assert together == []


def test_trials_come_in_the_order_they_are_named(world: Any, trials: list[Any]) -> None:
    for trial in trials:
        report(world, trial, 1, loss=0.5, lr=0.1)
    named = [trials[2].id, trials[0].id]

    found = experiment_curves(world.platform, trials[0].experiment_id, CurveQuery(), trial_ids=named)

    assert [series.trial_id for series in found] == [named[0], named[0], named[1], named[1]]


def test_the_best_trials_are_drawn_when_none_is_named(world: Any, trials: list[Any]) -> None:
    for trial, loss in zip(trials, (0.5, 0.1, 0.3), strict=True):
        report(world, trial, 1, VALIDATION, loss=loss)

    found = experiment_curves(world.platform, trials[0].experiment_id, CurveQuery(), max_trials=2)

    assert [series.trial_id for series in found] == [trials[1].id, trials[2].id]


def test_what_is_not_there_is_not_found(world: Any, trials: list[Any]) -> None:
    with pytest.raises(NotFound, match="trial not found: 99"):
        trial_curves(world.platform, 99, CurveQuery())
    with pytest.raises(NotFound, match="experiment not found: 99"):
        experiment_curves(world.platform, 99, CurveQuery())
    with pytest.raises(NotFound, match="trial not found: 99"):
        compare_trials(world.platform, [trials[0].id, 99], lambda group, name: True)
    with pytest.raises(NotFound, match="experiment not found: 99"):
        metric_names(world.platform, [trials[0].experiment_id, 99])


# -------------------------------------------------------------------------------------------------------- comparing


def test_trials_are_compared_by_the_metrics_that_are_wanted(world: Any, trials: list[Any]) -> None:
    first, second, silent = trials
    for trial in (first, second):
        for step in (1, 2, 3):
            report(world, trial, step, loss=float(step), lr=0.1)

    compared = compare_trials(
        world.platform, [second.id, silent.id, first.id], lambda group, name: name == "loss", since=1, until=2
    )

    assert [each.view.trial.id for each in compared] == [second.id, silent.id, first.id]
    assert [points(each.series) for each in compared] == [
        {(second.id, TRAINING, "loss"): [(2, 2.0)]},
        {},
        {(first.id, TRAINING, "loss"): [(2, 2.0)]},
    ]


def test_comparing_more_trials_takes_no_more_statements(world: Any, trials: list[Any], count_statements: Any) -> None:
    for trial in trials:
        for step in (1, 2):
            report(world, trial, step, loss=0.5, lr=0.1, accuracy=0.5)

    def statements(*some: Any) -> int:
        with count_statements() as counted:
            compare_trials(world.platform, [trial.id for trial in some], lambda group, name: True)
        return int(counted.selects)

    # Each time some of them are read for the first time.
    alone = statements(trials[0])
    assert statements(*trials) == alone


def test_names_are_those_of_all_trials_and_what_the_searcher_looks_at(world: Any, trials: list[Any]) -> None:
    report(world, trials[0], 1, loss=0.5)
    report(world, trials[1], 1, VALIDATION, loss=0.5, accuracy=0.1)
    report(world, trials[2], 1, "custom", depth=3)

    found = metric_names(world.platform, [trials[0].experiment_id])

    assert found.searcher_metrics == ["loss"]
    assert found.training == ["loss"]
    assert found.validation == ["accuracy", "loss"]
    assert ("custom", "depth") in found.metrics


# -------------------------------------------------------------------------------------------- of a whole experiment


def test_steps_are_those_of_any_trial(world: Any, trials: list[Any]) -> None:
    for trial, steps in zip(trials, ((1, 3), (2, 3), ()), strict=True):
        for step in steps:
            report(world, trial, step, loss=0.5)

    assert reported_steps(world.platform, trials[0].experiment_id, TRAINING, "loss") == [1, 2, 3]
    assert reported_steps(world.platform, trials[0].experiment_id, TRAINING, "nothing") == []


def test_no_step_of_a_long_series_is_left_out(world: Any, trials: list[Any]) -> None:
    reports = [
        MetricReport(
            trial_id=trials[0].id,
            run_id=1,
            group=TRAINING,
            steps_completed=step,
            report_time=world.clock(),
            metrics={"loss": step % 7},
        )
        for step in range(1, 1501)
    ]
    report_metrics(world.platform, reports)

    assert reported_steps(world.platform, trials[0].experiment_id, TRAINING, "loss") == list(range(1, 1501))
    for step in (2, 751, 1499):
        (point,) = points_near(world.platform, trials[0].experiment_id, TRAINING, "loss", steps=step, margin=0)
        assert (point.steps, point.value) == (step, step % 7)


def test_curves_of_the_best_come_best_first_and_the_silent_ones_empty(world: Any, trials: list[Any]) -> None:
    for trial, loss in zip(trials[:2], (0.5, 0.1), strict=True):
        report(world, trial, 1, VALIDATION, loss=loss)

    found = best_curves(world.platform, trials[0].experiment_id, VALIDATION, "loss", max_trials=3, max_points=100)

    assert [trial.id for trial, _ in found] == [trials[1].id, trials[0].id, trials[2].id]
    assert [series.values for _, series in found] == [[0.1], [0.5], []]


def test_the_nearest_step_within_the_margin_counts(world: Any, trials: list[Any]) -> None:
    first, second, third = trials
    for trial, steps in ((first, (80, 95, 130)), (second, (90, 110)), (third, (50,))):
        for step in steps:
            report(world, trial, step, VALIDATION, loss=step / 100)

    found = points_near(world.platform, first.experiment_id, VALIDATION, "loss", steps=100, margin=20)

    assert {point.trial.id: (point.steps, point.value) for point in found} == {
        first.id: (95, 0.95),
        second.id: (90, 0.9),
    }


def test_a_snapshot_of_many_trials_reads_their_points_together(
    world: Any, trials: list[Any], count_statements: Any
) -> None:
    def statements() -> int:
        with count_statements() as counted:
            points_near(world.platform, trials[0].experiment_id, VALIDATION, "loss", steps=1, margin=5)
        return int(counted.selects)

    for trial in trials:
        for step in (1, 2):
            report(world, trial, step, VALIDATION, loss=0.5)
    cold = statements()

    assert cold <= 4
    assert statements() <= cold
