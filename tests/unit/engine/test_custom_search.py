"""Searches decided from outside, and searches that start from what earlier ones found."""

import pytest

from resolute.domain.errors import InvalidInput
from resolute.domain.experiment import ExperimentState
from resolute.engine.experiments.custom_search import searcher_events, tell_searcher

CUSTOM = """
name: c
entrypoint: python3 train.py
hyperparameters: {lr: {type: double, minval: 0.1, maxval: 1.0}}
searcher: {name: custom, metric: loss, max_trials: 4}
"""
RANDOM = CUSTOM.replace("name: custom", "name: random")


def test_a_program_outside_decides_and_the_engine_carries_it_out(world) -> None:
    experiment = world.create(CUSTOM)
    [started] = searcher_events(world.platform, experiment.id)

    tell_searcher(
        world.platform, experiment.id, [{"kind": "create_trial", "hparams": {"lr": 0.5}}], up_to=started["id"]
    )
    world.tick()
    [trial] = world.trials(experiment.id)
    world.validate(trial, 10, loss=0.25)
    [validated] = searcher_events(world.platform, experiment.id)
    tell_searcher(world.platform, experiment.id, [{"kind": "shutdown"}], up_to=validated["id"])
    world.finish(trial)

    assert trial.hparams == {"lr": 0.5}
    assert (validated["kind"], validated["metrics"]) == ("validated", {"loss": 0.25})
    assert world.experiment(experiment.id).state is ExperimentState.COMPLETED


def test_telling_the_same_answer_twice_changes_nothing(world) -> None:
    experiment = world.create(CUSTOM)
    [started] = searcher_events(world.platform, experiment.id)

    for _ in range(2):
        tell_searcher(world.platform, experiment.id, [{"kind": "create_trial", "hparams": {}}], up_to=started["id"])

    assert len(world.trials(experiment.id)) == 1


def test_more_trials_than_allowed_are_refused_as_a_whole(world) -> None:
    experiment = world.create(CUSTOM)

    with pytest.raises(InvalidInput, match="max_trials allows 4"):
        tell_searcher(world.platform, experiment.id, [{"kind": "create_trial", "hparams": {}}] * 5, up_to=1)

    assert world.trials(experiment.id) == []


def test_a_search_that_decides_by_itself_cannot_be_driven(world) -> None:
    experiment = world.create(RANDOM)

    with pytest.raises(InvalidInput, match=r"only a search with searcher.name: custom"):
        searcher_events(world.platform, experiment.id)


def test_a_model_based_search_starts_from_the_results_of_an_earlier_one(world) -> None:
    earlier = world.create(RANDOM)
    world.tick()
    for trial in world.trials(earlier.id)[:2]:
        world.validate(trial, 10, loss=abs(trial.hparams["lr"] - 0.3))

    later = world.create(
        RANDOM.replace("name: random", f"name: tpe, startup_trials: 2, source_experiment_ids: [{earlier.id}]")
    )

    with world.platform.store.read() as tx:
        snapshot = tx.experiments.searcher_snapshot(later.id)
    assert snapshot is not None
    assert len(snapshot["state"]["earlier_rows"]) == 2
