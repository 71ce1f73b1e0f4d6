"""A Katib experiment as hyperparameters and a searcher: what it means here, and what is refused."""

import json
from typing import Any

import pytest

from resolute.domain.errors import InvalidConfig
from resolute.spec.experiment import ClusterDefaults, parse_experiment
from resolute.spec.katib import is_katib, read_katib

KATIB = """apiVersion: kubeflow.org/v1beta1
kind: Experiment
metadata:
  namespace: kubeflow
  name: random
spec:
  objective:
    type: maximize
    goal: 0.99
    objectiveMetricName: accuracy
    additionalMetricNames: [loss]
  algorithm:
    algorithmName: ALGORITHM
    algorithmSettings: SETTINGS
  parallelTrialCount: 3
  maxTrialCount: 12
  maxFailedTrialCount: 3
  parameters:
    - {name: --lr, parameterType: double, feasibleSpace: {min: "0.01", max: "0.05"}}
    - {name: decay, parameterType: double, feasibleSpace: {min: "1e-4", max: "0.1", distribution: logUniform}}
    - {name: layers, parameterType: int, feasibleSpace: {min: "2", max: "5"}}
    - {name: width, parameterType: int, feasibleSpace: {min: "16", max: "64", step: "16"}}
    - {name: momentum, parameterType: double, feasibleSpace: {min: "0.5", max: "0.9", step: "0.2"}}
    - {name: batch, parameterType: discrete, feasibleSpace: {list: ["32", "64"]}}
    - {name: optimizer, parameterType: categorical, feasibleSpace: {list: [sgd, adam]}}
  trialTemplate: {primaryContainerName: training}
"""
HYPERBAND = "[{name: r_l, value: '9'}, {name: eta, value: '3'}, {name: resource_name, value: epochs}]"


def read(algorithm: str = "random", settings: str = "[]") -> Any:
    return read_katib(KATIB.replace("ALGORITHM", algorithm).replace("SETTINGS", settings))


def test_parameters_and_objective_mean_the_same() -> None:
    found = read()

    assert is_katib(KATIB)
    assert found.config["name"] == "random"
    assert found.config["hyperparameters"] == {
        "lr": {"type": "double", "minval": 0.01, "maxval": 0.05},
        "decay": {"type": "log", "base": 10, "minval": pytest.approx(-4), "maxval": pytest.approx(-1)},
        "layers": {"type": "int", "minval": 2, "maxval": 5},
        "width": {"type": "categorical", "vals": [16, 32, 48, 64]},
        "momentum": {"type": "categorical", "vals": [0.5, 0.7, 0.9]},
        "batch": {"type": "categorical", "vals": [32, 64]},
        "optimizer": {"type": "categorical", "vals": ["sgd", "adam"]},
    }
    assert found.config["searcher"] == {
        "name": "random",
        "metric": "accuracy",
        "smaller_is_better": False,
        "goal": 0.99,
        "max_trials": 12,
        "max_concurrent_trials": 3,
        "max_failed_trials": 3,
    }
    assert found.passed_over == ("spec.trialTemplate", "spec.objective.additionalMetricNames")


@pytest.mark.parametrize(
    ("algorithm", "searcher"),
    [("random", "random"), ("tpe", "tpe"), ("multivariate-tpe", "tpe"), ("bayesianoptimization", "tpe")],
)
def test_algorithms_that_there_are_are_taken_and_parse(algorithm: str, searcher: str) -> None:
    config = read(algorithm).config

    assert config["searcher"]["name"] == searcher
    parse_experiment(
        json.dumps({**config, "entrypoint": "python3 train.py"}),
        filename="katib",
        defaults=ClusterDefaults(checkpoint_storage={"type": "shared_fs", "host_path": "/tmp"}),
        seed=0,
        name="katib",
    )


def test_hyperband_stops_trials_early() -> None:
    searcher = read("hyperband", HYPERBAND).config["searcher"]

    assert (searcher["name"], searcher["max_time"], searcher["time_metric"], searcher["divisor"]) == (
        "adaptive_asha", 9, "epochs", 3,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("algorithm", "old", "new", "sentence"),
    [
        ("cmaes", "x", "x", "algorithmName: is 'cmaes'; there are random, grid, tpe"),
        ("hyperband", "x", "x", "has no r_l"),
        ("grid", "x", "x", r"parameters\[0\].feasibleSpace: has no step, which a grid needs"),
        ("random", "type: maximize", "type: best", "type: is 'best'; wanted minimize or maximize"),
        ("random", "objectiveMetricName: accuracy", "x: y", "objectiveMetricName: is missing"),
        ("random", "maxTrialCount: 12", "x: y", "maxTrialCount: is missing"),
        ("random", 'min: "0.01"', 'min: "1"', "is from '1' to '0.05'; wanted min and max"),
        ("random", 'step: "16"', 'step: "0"', "has the step 0; wanted one above 0"),
        ("random", 'step: "0.2"', 'step: "1e-9"', "values; at most 1,000"),
        ("random", "parameterType: discrete", "parameterType: odd", "parameterType: is 'odd'; wanted double"),
        ("random", '["32", "64"]', "[a]", "holds what is no number"),
        ("random", "[sgd, adam]", "[]", "has no list of values"),
        ("random", 'min: "1e-4"', 'min: "0"', "a logarithmic space begins above 0"),
    ],
)
def test_what_cannot_be_searched_so_is_refused_with_its_place(
    algorithm: str, old: str, new: str, sentence: str
) -> None:
    with pytest.raises(InvalidConfig, match=sentence):
        read_katib(KATIB.replace("ALGORITHM", algorithm).replace("SETTINGS", "[]").replace(old, new))
