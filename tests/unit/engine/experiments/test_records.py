"""How an experiment got better over time."""

from datetime import timedelta
from typing import Any

import pytest

from resolute.domain.errors import NotFound
from resolute.engine.experiments.records import records

CONFIG = """
name: test
entrypoint: python3 train.py
searcher: {name: grid, metric: loss, smaller_is_better: SMALLER}
hyperparameters: {lr: {type: categorical, vals: [1, 2]}}
max_restarts: 0
"""


def told(world: Any, *values: tuple[int, float], smaller: bool = True) -> Any:
    """Validations of two trials, a second after each other: (trial, value)."""
    experiment = world.create(CONFIG.replace("SMALLER", str(smaller).lower()))
    world.tick()
    trials = world.trials(experiment.id)
    for step, (trial, value) in enumerate(values, start=1):
        world.clock.forward(1)
        world.validate(trials[trial], step, loss=value, other=-value)
    return experiment


def values(world: Any, experiment: Any) -> list[float]:
    return [each.value for each in records(world.platform, experiment.id)]


def test_only_what_beats_all_before_it_is_a_record_whichever_trial_it_is(world: Any) -> None:
    experiment = told(world, (0, 0.5), (1, 0.7), (1, 0.4), (0, 0.4), (0, 0.1), (1, 0.3))

    found = records(world.platform, experiment.id)

    first, second = (trial.id for trial in world.trials(experiment.id))
    assert [(each.trial_id, each.value) for each in found] == [(first, 0.5), (second, 0.4), (first, 0.1)]
    assert found[-1].time - found[0].time == timedelta(seconds=4)


def test_a_larger_value_is_a_record_where_the_search_says_so(world: Any) -> None:
    assert values(world, told(world, (0, 0.5), (1, 0.4), (1, 0.9), smaller=False)) == [0.5, 0.9]


def test_what_is_no_number_is_no_record(world: Any) -> None:
    assert values(world, told(world, (0, float("nan")), (1, 0.4), (0, float("nan")))) == [0.4]


def test_without_a_validation_there_is_none(world: Any) -> None:
    assert values(world, told(world)) == []


def test_an_experiment_that_is_not_there_is_not_found(world: Any) -> None:
    with pytest.raises(NotFound, match="experiment not found: 99"):
        records(world.platform, 99)


def test_more_trials_take_no_more_statements(world: Any, count_statements: Any) -> None:
    def statements(*values: tuple[int, float]) -> int:
        experiment = told(world, *values)
        with count_statements() as counted:
            records(world.platform, experiment.id)
        return int(counted.selects)

    assert statements((0, 0.5), (0, 0.4)) == statements((0, 0.5), (1, 0.4), (0, 0.3), (1, 0.2))
