"""The live line about an experiment."""

import io
from typing import Any

import pytest
from rich.console import Console

from resolute.cli.watch import EVERY_S, best_trial, facts, watch
from resolute.client.experiment import Experiment
from resolute.client.fake import FakeMaster
from resolute.client.session import Session
from resolute.client.trial import Trial
from resolute.domain.errors import IllegalTransition

URL = "http://fake:8080"


@pytest.fixture
def session(master: FakeMaster) -> Session:
    master.tokens.add("t")
    return Session(URL, authenticate=lambda _: "t", transport=master.transport())


def experiment(session: Session, *, smaller_is_better: bool = True, state: str = "ACTIVE") -> Experiment:
    searcher = {"metric": "loss", "smaller_is_better": smaller_is_better}
    return Experiment(session, {"id": 1, "state": f"STATE_{state}", "config": {"searcher": searcher}})


def trial(session: Session, number: int, metric: Any, state: str = "COMPLETED") -> Trial:
    return Trial(session, {"id": number, "state": f"STATE_{state}", "searcherMetricValue": metric})


def test_before_the_first_trial_there_is_only_the_state(session: Session) -> None:
    assert facts(experiment(session, state="QUEUED"), []) == "QUEUED"


def test_one_trial_is_counted_in_the_singular(session: Session) -> None:
    assert facts(experiment(session), [trial(session, 1, None, "RUNNING")]) == "ACTIVE, 0 of 1 trial ended"


def test_trials_that_ended_and_the_best_metric_are_named(session: Session) -> None:
    trials = [trial(session, 1, 0.5), trial(session, 2, 0.25), trial(session, 3, None, "RUNNING")]

    assert facts(experiment(session), trials) == "ACTIVE, 2 of 3 trials ended, best loss 0.25 (trial 2)"


@pytest.mark.parametrize(("smaller", "number"), [(True, 1), (False, 2)])
def test_the_best_follows_the_direction(session: Session, smaller: bool, number: int) -> None:
    trials = [trial(session, 1, 0.5), trial(session, 2, 0.75), trial(session, 3, None)]

    best = best_trial(experiment(session, smaller_is_better=smaller), trials)

    assert best is not None
    assert best.id == number


def test_a_metric_that_is_not_a_number_is_never_the_best(session: Session) -> None:
    assert best_trial(experiment(session), [trial(session, 1, "NaN"), trial(session, 2, None)]) is None


def test_it_looks_again_until_the_experiment_ends(session: Session, master: FakeMaster) -> None:
    master.add_experiment(1)
    master.add_trial(1)
    master.states[1] = ["QUEUED", "ACTIVE", "ACTIVE", "COMPLETED"]
    waits: list[float] = []
    out = io.StringIO()

    state = watch(experiment(session), console=Console(file=out, width=120), sleep=waits.append)

    assert state == "COMPLETED"
    assert waits == [EVERY_S] * 3
    assert "100%" in out.getvalue()


def test_a_paused_experiment_is_not_watched_for_ever(session: Session, master: FakeMaster) -> None:
    master.add_experiment(1, state="PAUSED")

    with pytest.raises(IllegalTransition, match="resolute e activate 1"):
        watch(experiment(session), console=Console(file=io.StringIO()), sleep=lambda _: None)
