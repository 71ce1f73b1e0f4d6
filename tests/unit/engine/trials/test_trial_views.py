"""Trials with what is shown beside them."""

from typing import Any

from resolute.domain.allocation import AllocationState
from resolute.engine.trials.views import TrialView, live_allocations, trial_views

CONFIG = """
name: test
entrypoint: python3 train.py
searcher: {name: single, metric: METRIC, smaller_is_better: SMALLER}
max_restarts: 0
"""


def started(world: Any, metric: str = "loss", *, smaller_is_better: bool = True) -> Any:
    text = CONFIG.replace("METRIC", metric).replace("SMALLER", str(smaller_is_better).lower())
    experiment = world.create(text)
    world.tick()
    return world.trials(experiment.id)[0]


def view(world: Any, *trials: Any) -> list[TrialView]:
    with world.platform.store.read() as tx:
        return trial_views(tx, [tx.trials.get(trial.id) for trial in trials])


def test_they_come_in_the_order_asked_for(world: Any) -> None:
    first, second = started(world), started(world)

    assert [each.trial.id for each in view(world, second, first)] == [second.id, first.id]
    assert view(world) == []


def test_best_and_latest_are_told_apart_by_the_searchers_metric_and_direction(world: Any) -> None:
    down, up = started(world), started(world, "accuracy", smaller_is_better=False)
    for step, (loss, accuracy) in enumerate([(0.5, 0.5), (0.2, 0.9), (0.4, 0.7)], start=1):
        world.validate(down, step, loss=loss)
        world.validate(up, step, accuracy=accuracy)

    shown = view(world, down, up)

    assert [each.best.steps_completed for each in shown if each.best] == [2, 2]
    assert [each.latest.steps_completed for each in shown if each.latest] == [3, 3]


def test_one_that_never_reported_the_searchers_metric_has_no_best(world: Any) -> None:
    trial = started(world)
    world.validate(trial, 1, accuracy=0.5)

    (shown,) = view(world, trial)

    assert shown.best is None
    assert shown.latest is not None
    assert shown.latest.metrics == {"accuracy": 0.5}
    assert [summary.name for summary in shown.summaries] == ["accuracy"]


def test_checkpoints_are_counted_and_the_best_one_is_named(world: Any) -> None:
    trial = started(world)
    found = {}
    for step, loss in ((1, 0.5), (2, 0.1), (3, 0.3)):
        world.validate(trial, step, loss=loss)
        found[step] = world.checkpoint(trial, step, content=b"x" * step)

    (shown,) = view(world, trial)

    assert (shown.checkpoint_count, shown.checkpoint_size) == (3, 6)
    assert shown.best_checkpoint is not None
    assert shown.best_checkpoint.uuid == found[2]


def test_the_allocation_is_shown_until_it_has_ended(world: Any) -> None:
    trial = started(world)
    (running,) = view(world, trial)

    world.finish(trial)

    (ended,) = view(world, trial)
    assert running.allocation is not None
    assert running.allocation.state is AllocationState.RUNNING
    assert ended.allocation is None
    with world.platform.store.read() as tx:
        assert live_allocations(tx) == {}


def test_more_trials_of_more_experiments_take_no_more_statements(world: Any, count_statements: Any) -> None:
    trials = [started(world) for _ in range(6)]
    for trial in trials:
        world.validate(trial, 1, loss=0.5)

    def statements(*some: Any) -> int:
        with world.platform.store.read() as tx:
            rows = tx.trials.of_ids([trial.id for trial in some])
            with count_statements() as counted:
                trial_views(tx, rows)
        return int(counted.selects)

    assert statements(*trials) == statements(trials[0], trials[1])
