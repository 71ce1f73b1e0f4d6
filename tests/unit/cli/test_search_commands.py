"""`resolute search` beside a master: the Pareto set, and driving with the class that a configuration names."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from resolute.client.fake import FakeMaster

PARETO = [
    {"trialId": 4, "steps": 8, "metrics": {"loss": 0.25, "size": 3.0}, "hparams": {"lr": 0.1}},
    {"trialId": 2, "steps": 8, "metrics": {"loss": 0.5, "size": 1.0}, "hparams": {"lr": 0.3}},
]


@pytest.fixture
def warm(resolute: Any, master: FakeMaster) -> FakeMaster:
    """Logged in, so that the next call is the one that the test is about."""
    resolute("e", "list")
    return master


def test_the_pareto_set_is_a_table_with_a_column_for_each_metric(resolute: Any, warm: FakeMaster) -> None:
    warm.failures.append(httpx.Response(200, json={"trials": PARETO}))

    outcome = resolute("search", "pareto", "7")

    head, first, second = outcome.out.strip().splitlines()
    assert head.split() == ["Trial", "Steps", "loss", "size", "Hyperparameters"]
    assert first.split() == ["4", "8", "0.25", "3", '{"lr":', "0.1}"]
    assert second.startswith("2")
    assert warm.calls[-1].path == "/api/v1/experiments/7/pareto"


def test_the_pareto_set_as_json_is_what_the_master_said(resolute: Any, warm: FakeMaster) -> None:
    warm.failures.append(httpx.Response(200, json={"trials": PARETO}))

    assert json.loads(resolute("search", "pareto", "7", "--json").out) == PARETO


def test_driving_without_a_class_says_how_to_give_one(resolute: Any, master: FakeMaster) -> None:
    master.add_experiment(7)

    outcome = resolute("search", "drive", "7")

    assert outcome.code == 1
    assert "Experiment 7 names no searcher.entrypoint. Give your class: resolute search drive 7" in outcome.err


def test_driving_uses_the_class_that_the_configuration_names(
    resolute: Any, master: FakeMaster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "ladder_of_tests.py").write_text("class Ladder:\n    def __init__(self, start): print('from', start)\n")
    master.add_experiment(7, state="COMPLETED")
    section = {"name": "custom", "entrypoint": "ladder_of_tests:Ladder", "config": {"start": 32}}
    master.experiments[7]["config"]["searcher"] = section

    outcome = resolute("search", "drive", "7")

    assert "from 32" in outcome.out
    assert "Experiment 7 ended: COMPLETED." in outcome.out


def test_notices_of_a_search_are_described(resolute: Any, master: FakeMaster) -> None:
    master.add_experiment(7)
    master.experiments[7]["warnings"] = ["Goal reached: accuracy >= 0.99."]
    master.experiments[7]["config"]["searcher"]["metric"] = ["accuracy", "size"]

    printed = resolute("e", "describe", "7").out

    assert "Notices      Goal reached: accuracy >= 0.99." in printed
    assert "Metric       accuracy, size" in printed


KATIB = """apiVersion: kubeflow.org/v1beta1
kind: Experiment
metadata: {name: tuned}
spec:
  objective: {type: maximize, objectiveMetricName: accuracy}
  algorithm: {algorithmName: tpe}
  maxTrialCount: 6
  parameters: [{name: --lr, parameterType: double, feasibleSpace: {min: "0.01", max: "0.05"}}]
  trialTemplate: {}
"""


def test_an_experiment_of_katib_is_printed_as_ours_and_simulated(resolute: Any, tmp_path: Path) -> None:
    (tmp_path / "katib.yaml").write_text(KATIB)

    converted = resolute("search", "convert", str(tmp_path / "katib.yaml"))
    simulated = resolute("search", "simulate", str(tmp_path / "katib.yaml"))

    assert "smaller_is_better: false" in converted.out
    assert "spec.trialTemplate has no counterpart here" in converted.err
    assert simulated.out.startswith("6 trials")
