"""What people learn from a search: its Pareto set, its notices; and what a later search learns from an earlier one."""

import pytest

from resolute.domain.errors import InvalidConfig, NotFound
from resolute.engine.experiments.pareto import pareto_trials

BOTH = """
name: two
entrypoint: python3 train.py
hyperparameters: {lr: {type: double, minval: 0.0, maxval: 1.0}, epochs: 3}
searcher: {name: random, metric: [loss, speed], smaller_is_better: [true, false], max_trials: 4}
"""
ONE = BOTH.replace("metric: [loss, speed], smaller_is_better: [true, false]", "metric: loss")


def test_the_pareto_set_holds_whoever_nobody_beats_in_both(world) -> None:
    experiment = world.create(BOTH)
    world.tick()
    trials = world.trials(experiment.id)
    for trial, (loss, speed) in zip(trials, [(0.5, 9), (0.2, 4), (0.3, 3), (0.6, 9)], strict=True):
        world.validate(trial, 1, loss=loss, speed=speed)

    found = pareto_trials(world.platform, experiment.id)

    assert [one.trial.id for one in found] == [trials[1].id, trials[0].id]
    assert found[0].metrics == {"loss": 0.2, "speed": 4.0}


def test_a_trial_stands_where_its_latest_validation_put_it(world) -> None:
    experiment = world.create(BOTH)
    world.tick()
    first, second = world.trials(experiment.id)[:2]
    world.validate(first, 1, loss=0.1, speed=9)
    world.validate(first, 2, loss=0.9, speed=1)
    world.validate(second, 1, loss=0.5, speed=5)

    found = pareto_trials(world.platform, experiment.id)

    assert [(one.trial.id, one.steps) for one in found] == [(second.id, 1)]


def test_validations_without_all_metrics_or_with_nan_are_in_no_pareto_set(world) -> None:
    experiment = world.create(BOTH)
    world.tick()
    first, second, third = world.trials(experiment.id)[:3]
    world.validate(first, 1, loss=0.1)
    world.validate(second, 1, loss=float("nan"), speed=9)
    world.validate(third, 1, loss=0.5, speed=5)

    assert [one.trial.id for one in pareto_trials(world.platform, experiment.id)] == [third.id]


def test_with_one_metric_the_set_is_the_best_trial(world) -> None:
    experiment = world.create(ONE)
    world.tick()
    trials = world.trials(experiment.id)
    for trial, loss in zip(trials, [0.5, 0.2, 0.3, 0.6], strict=True):
        world.validate(trial, 1, loss=loss)

    assert [one.trial.id for one in pareto_trials(world.platform, experiment.id)] == [trials[1].id]


def test_a_search_without_validations_has_an_empty_set_and_one_that_is_not_there_none(world) -> None:
    experiment = world.create(BOTH)

    assert pareto_trials(world.platform, experiment.id) == []
    with pytest.raises(NotFound):
        pareto_trials(world.platform, 99)


def test_nan_is_told_once_and_by_the_trials_number(world) -> None:
    experiment = world.create(ONE)
    world.tick()
    first, second = world.trials(experiment.id)[:2]

    world.validate(first, 1, loss=float("nan"))
    world.validate(second, 1, loss=float("nan"))
    world.validate(first, 2, loss=float("nan"))

    notices = [text for text in world.experiment(experiment.id).warnings if "nan" in text]
    assert len(notices) == 1
    assert notices[0].startswith(f"Trial {first.id} reported loss = nan at 1. Values that are missing or not finite")


class TestEarlierExperiments:
    def earlier(self, world, config: str = ONE, **metrics: float) -> int:
        experiment = world.create(config)
        world.tick()
        for trial in world.trials(experiment.id):
            world.validate(trial, 5, **metrics)
        return experiment.id

    def later(self, config: str, *sources: int) -> str:
        return config.replace("max_trials: 4", f"max_trials: 4, source_experiment_ids: {list(sources)}")

    def test_constants_of_the_earlier_experiment_are_not_taken_over(self, world) -> None:
        source = self.earlier(world, loss=0.5)

        experiment = world.create(self.later(ONE, source).replace("epochs: 3", "epochs: 7"))

        trials = world.trials(experiment.id)
        assert {trial.hparams["epochs"] for trial in trials} == {7}
        assert trials[0].hparams["lr"] in {trial.hparams["lr"] for trial in world.trials(source)}

    def test_the_metric_of_the_new_search_counts_not_that_of_the_earlier_one(self, world) -> None:
        source = world.create(ONE)
        world.tick()
        trials = world.trials(source.id)
        for at, trial in enumerate(trials):
            world.validate(trial, 1, loss=at / 10, accuracy=at / 10)

        later = ONE.replace("metric: loss", "metric: accuracy, smaller_is_better: false")
        experiment = world.create(self.later(later, source.id))

        assert world.trials(experiment.id)[0].hparams["lr"] == trials[-1].hparams["lr"]

    def test_an_experiment_that_is_not_there_is_refused_with_its_place(self, world) -> None:
        with pytest.raises(InvalidConfig, match=r"searcher\.source_experiment_ids: there is no experiment 99"):
            world.create(self.later(ONE, 99))

    def test_one_without_the_metric_is_refused(self, world) -> None:
        source = self.earlier(world, loss=0.5)

        with pytest.raises(InvalidConfig, match=f"no trial of experiment {source} has validated loss and speed"):
            world.create(self.later(BOTH, source))

    def test_one_whose_trials_lie_elsewhere_is_refused_and_nothing_is_created(self, world) -> None:
        source = self.earlier(world, loss=0.5)
        narrow = self.later(ONE, source).replace("minval: 0.0, maxval: 1.0", "minval: 5.0, maxval: 6.0")

        with pytest.raises(InvalidConfig, match=f"no trial of experiment {source} lies within"):
            world.create(narrow)

        with pytest.raises(NotFound):
            world.experiment(source + 1)
