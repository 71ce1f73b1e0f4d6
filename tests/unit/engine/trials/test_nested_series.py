"""Series of values inside nested metrics."""

from typing import Any

import pytest

from resolute.domain.metric import MetricReport
from resolute.engine.trials.nested_series import nested_series
from resolute.engine.trials.reports import report_metrics


@pytest.fixture
def trial(world: Any) -> Any:
    experiment = world.create()
    world.tick()
    return world.trials(experiment.id)[0]


def report(world: Any, trial: Any, steps: int, **metrics: Any) -> None:
    found = MetricReport(
        trial_id=trial.id,
        run_id=world.trial(trial.id).run_id,
        group="cpu",
        steps_completed=steps,
        report_time=world.clock(),
        metrics=metrics,
    )
    report_metrics(world.platform, [found])


def series(world: Any, trial: Any, *names: str, max_points: int = 100, since: int | None = None) -> dict[str, Any]:
    with world.platform.store.read() as tx:
        found = nested_series(tx, trial.id, "cpu", names, max_points=max_points, since_steps=since)
    return {each.name: each.values for each in found}


def test_a_path_is_followed_through_the_maps(world: Any, trial: Any) -> None:
    report(world, trial, 1, node={"util": 5.0, "deep": {"cores": 2}})

    assert series(world, trial, "node.util", "node.deep.cores") == {"node.util": [5.0], "node.deep.cores": [2.0]}


def test_the_longest_key_that_is_there_is_followed(world: Any, trial: Any) -> None:
    report(world, trial, 1, **{"node": {"a": {"util": 1.0}}, "node.a": {"util": 2.0}})

    assert series(world, trial, "node.a.util") == {"node.a.util": [2.0]}


@pytest.mark.parametrize("name", ["node.word", "node.flag", "node.gone", "node.util.more", "other.util", "."])
def test_what_is_no_number_has_no_series(world: Any, trial: Any, name: str) -> None:
    report(world, trial, 1, node={"util": 1.0, "word": "x", "flag": True, "nothing": None})

    assert series(world, trial, name) == {}


def test_a_report_without_the_value_is_left_out_of_the_series(world: Any, trial: Any) -> None:
    report(world, trial, 1, node={"util": 1.0})
    report(world, trial, 2, node={"other": 1.0})
    report(world, trial, 3, node={"util": 3.0})

    assert series(world, trial, "node.util") == {"node.util": [1.0, 3.0]}


def test_only_points_after_since_come_and_no_more_than_wanted(world: Any, trial: Any) -> None:
    for step in range(1, 31):
        report(world, trial, step, node={"util": float(step)})

    assert series(world, trial, "node.util", since=28) == {"node.util": [29.0, 30.0]}
    thinned = series(world, trial, "node.util", max_points=8)["node.util"]
    assert len(thinned) <= 8
    assert (thinned[0], thinned[-1]) == (1.0, 30.0)


def test_what_a_later_run_replaced_is_no_part_of_it(world: Any, trial: Any) -> None:
    for step in (1, 2, 3):
        report(world, trial, step, node={"util": float(step)})
    world.finish(trial, 1)
    world.tick(2)

    report(world, trial, 2, node={"util": 20.0})

    assert world.trial(trial.id).run_id == 2
    assert series(world, trial, "node.util") == {"node.util": [1.0, 20.0]}
