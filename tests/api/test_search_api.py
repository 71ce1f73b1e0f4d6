"""Searches over the API: one that a program decides by ask and tell, and the Pareto set of one with two metrics."""

from typing import Any

CUSTOM = """
name: mine
entrypoint: python3 train.py
searcher: {name: custom, metric: loss, max_trials: 3}
hyperparameters: {lr: {type: double, minval: 0.1, maxval: 1.0}}
"""
BOTH = """
name: both
entrypoint: python3 train.py
searcher: {name: random, metric: [loss, size], max_trials: 2}
hyperparameters: {lr: {type: double, minval: 0.1, maxval: 1.0}}
"""


def test_a_program_drives_a_search_from_the_first_event_to_the_end(api: Any) -> None:
    experiment = api.create(CUSTOM)
    searcher = f"/api/v1/experiments/{experiment}/searcher"
    (started,) = api.get(f"{searcher}/events")["events"]
    create = {"kind": "create_trial", "hparams": {"lr": 0.25}}

    api.post(f"{searcher}/actions", {"upTo": started["id"], "actions": [create]})
    api.post(f"{searcher}/actions", {"upTo": started["id"], "actions": [create]})
    waiting = api.get(f"{searcher}/events")["events"]
    api.post(f"{searcher}/actions", {"upTo": started["id"], "actions": [{"kind": "shutdown"}]})

    assert started == {"id": 1, "kind": "search_started"}
    assert waiting == []
    trials = api.get(f"/api/v1/experiments/{experiment}/trials")["trials"]
    assert [trial["hparams"] for trial in trials] == [{"lr": 0.25}]


def test_a_wrong_answer_is_refused_as_a_whole(api: Any) -> None:
    experiment = api.create(CUSTOM)
    actions = f"/api/v1/experiments/{experiment}/searcher/actions"
    create = {"kind": "create_trial", "hparams": {}}

    unknown = api.refusal("POST", actions, {"upTo": 1, "actions": [create, {"kind": "dance"}]}, expect=400)
    stranger = {"kind": "stop_trial", "request_id": "nobody"}
    closed = api.refusal("POST", actions, {"upTo": 1, "actions": [create, stranger]}, expect=400)
    future = api.refusal("POST", actions, {"upTo": 7, "actions": [create]}, expect=400)
    many = api.refusal("POST", actions, {"upTo": 1, "actions": [create] * 4}, expect=400)

    assert "Unknown search action 'dance'; known are create_trial" in unknown
    assert "StopTrial names trial nobody, which is not open" in closed
    assert "There is no event 7 to answer; the newest is 1" in future
    assert "searcher.max_trials allows 3" in many
    assert api.get(f"/api/v1/experiments/{experiment}/trials")["trials"] == []


def test_a_search_that_decides_by_itself_takes_no_answers(api: Any) -> None:
    experiment = api.create(BOTH)

    said = api.refusal("GET", f"/api/v1/experiments/{experiment}/searcher/events", expect=400)

    assert f"Experiment {experiment} decides by itself (searcher random)" in said


def test_the_pareto_set_gives_trials_with_their_metrics(api: Any) -> None:
    trial = api.running(BOTH)
    trial.report("validation", 3, loss=0.5, size=2)

    (found,) = api.get(f"/api/v1/experiments/{trial.experiment_id}/pareto")["trials"]

    assert (found["trialId"], found["steps"], found["metrics"]) == (trial.id, 3, {"loss": 0.5, "size": 2.0})
    assert set(found["hparams"]) == {"lr"}


def test_an_experiment_with_several_objectives_is_told_by_the_first(api: Any) -> None:
    config = BOTH.replace("max_trials: 2", "smaller_is_better: [false, true], max_trials: 2")

    experiment = api.get(f"/api/v1/experiments/{api.create(config)}")["experiment"]

    assert (experiment["searcherMetric"], experiment["smallerIsBetter"]) == ("loss", False)


def test_the_pareto_set_of_an_experiment_that_is_not_there_is_not_found(api: Any) -> None:
    api.get("/api/v1/experiments/99/pareto", expect=404)
