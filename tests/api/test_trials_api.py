"""A trial's life over the API: what it sends, and what is seen of it."""

import json
import math
from typing import Any

import pytest


def test_reports_are_seen_in_the_trial(api: Any) -> None:
    trial = api.running()

    for steps, loss in ((1, 0.5), (2, 0.25), (3, 0.375)):
        trial.report("training", steps, acc=steps / 10)
        trial.report("validation", steps, loss=loss)

    seen = api.get(f"/api/v1/trials/{trial.id}")["trial"]
    assert seen["totalBatchesProcessed"] == 3
    assert seen["searcherMetricValue"] == 0.25
    assert seen["bestValidation"]["totalBatches"] == 2
    assert seen["bestValidation"]["metrics"] == {"avgMetrics": {"loss": 0.25}, "batchMetrics": None}
    assert seen["latestValidation"]["totalBatches"] == 3
    assert seen["summaryMetrics"]["validation_metrics"]["loss"]["min"] == 0.25
    assert seen["summaryMetrics"]["avg_metrics"]["acc"]["count"] == 3


def test_nan_and_infinity_travel_as_words_both_ways(api: Any) -> None:
    trial = api.running()
    trial.report("training", 1, a="NaN", b="Infinity", c="-Infinity", d="Nan", e="plain text")

    (line,) = api.lines("/api/v1/trials/metrics/trial_metrics", trialIds=trial.id, group="training")

    metrics = line["metrics"][0]["metrics"]["avg_metrics"]
    assert metrics == {"a": "NaN", "b": "Infinity", "c": "-Infinity", "d": "NaN", "e": "plain text"}


def test_bare_nan_tokens_are_understood(api: Any) -> None:
    trial = api.running()
    body = json.dumps(
        {
            "group": "training",
            "metrics": {
                "trialRunId": trial.run_id,
                "stepsCompleted": 1,
                "metrics": {"avgMetrics": {"a": math.nan, "b": -math.inf}},
            },
        }
    )

    answer = api.client.post(f"/api/v1/trials/{trial.id}/metrics", content=body, headers=trial.api.headers)

    assert answer.status_code == 200
    series = api.get(f"/api/v1/trials/{trial.id}/series")["series"]
    assert {s["name"]: s["values"] for s in series} == {"a": ["NaN"], "b": ["-Infinity"]}


def test_the_validation_stream_uses_the_key_that_clients_index(api: Any) -> None:
    trial = api.running()
    trial.report("validation", 7, loss=0.5)

    (line,) = api.lines("/api/v1/trials/metrics/validation_metrics", trialIds=trial.id)

    (report,) = line["metrics"]
    assert report["metrics"] == {"validation_metrics": {"loss": 0.5}}
    assert report["totalBatches"] == 7
    assert report["trialId"] == trial.id


def test_many_reports_in_one_call(api: Any) -> None:
    trial = api.running()
    reports = [
        {
            "group": "training",
            "stepsCompleted": n,
            "trialRunId": trial.run_id,
            "metrics": {"avgMetrics": {"a": n * 1.0, "b": -n}},
        }
        for n in range(1, 501)
    ]

    trial.api.post(f"/api/v1/trials/{trial.id}/metrics/batch", {"reports": reports})

    series = api.get(f"/api/v1/trials/{trial.id}/series", maxPoints=50)["series"]
    assert [s["name"] for s in series] == ["a", "b"]
    assert all(s["totalPoints"] == 500 and len(s["steps"]) <= 52 for s in series)
    assert (max(series[0]["values"]), min(series[1]["values"])) == (500.0, -500.0)


def test_a_repeated_report_changes_nothing(api: Any) -> None:
    trial = api.running()

    for _ in range(3):
        trial.report("training", 1, a=1.0)

    assert api.get(f"/api/v1/trials/{trial.id}/series")["series"][0]["totalPoints"] == 1


def test_a_report_of_an_old_run_is_refused(api: Any) -> None:
    trial = api.running()

    answer = trial.report("training", 1, run_id=trial.run_id + 1, expect=409, a=1.0)

    assert answer["error"]["type"] == "fenced"
    assert "Stop this process" in answer["error"]["error"]


@pytest.mark.parametrize("body", ['{"group": "training"}', "[]", "nonsense", '{"group": 1, "metrics": {}}'])
def test_a_malformed_report_is_a_sentence(api: Any, body: str) -> None:
    trial = api.running()

    answer = api.client.post(f"/api/v1/trials/{trial.id}/metrics", content=body, headers=trial.api.headers)

    assert answer.status_code == 400
    assert "report" in answer.json()["error"]["error"]


def test_older_runtimes_report_in_snake_case(api: Any) -> None:
    trial = api.running()
    body = {"trial_run_id": trial.run_id, "steps_completed": 4, "metrics": {"avg_metrics": {"loss": 0.5}}}

    trial.api.post(f"/api/v1/trials/{trial.id}/validation_metrics", body)
    operation = trial.api.get(f"/api/v1/trials/{trial.id}/searcher/operation")

    assert api.get(f"/api/v1/trials/{trial.id}")["trial"]["searcherMetricValue"] == 0.5
    assert operation == {"op": {"validateAfter": {"length": "10"}}, "completed": False}


def test_progress_as_a_share_and_as_a_bare_number(api: Any) -> None:
    trial = api.running()

    trial.api.post(f"/api/v1/trials/{trial.id}/progress", {"progress": 0.25, "is_raw": True})
    share = api.get(f"/api/v1/trials/{trial.id}")["trial"]["progress"]
    trial.api.post(f"/api/v1/trials/{trial.id}/progress", 5)
    units = api.get(f"/api/v1/trials/{trial.id}")["trial"]["progress"]

    assert (share, units) == (0.25, 0.5)


def test_what_the_trial_is_busy_with(api: Any) -> None:
    trial = api.running()

    trial.api.post(f"/api/v1/trials/{trial.id}/runner/metadata", {"state": "validating"})

    assert api.get(f"/api/v1/trials/{trial.id}")["trial"]["runnerState"] == "validating"


def test_metadata_is_merged(api: Any) -> None:
    trial = api.running()

    trial.api.post(f"/api/v1/runs/{trial.id}/metadata", {"metadata": {"a": 1}})
    trial.api.post(f"/api/v1/runs/{trial.id}/metadata", {"metadata": {"b": {"c": 2}}})

    assert trial.api.get(f"/api/v1/runs/{trial.id}/metadata") == {"metadata": {"a": 1, "b": {"c": 2}}}


def test_an_unknown_early_exit_is_refused(api: Any) -> None:
    trial = api.running()

    trial.api.post(f"/api/v1/trials/{trial.id}/early_exit", {"reason": "EXITED_REASON_NONSENSE"}, expect=400)
    trial.api.post(f"/api/v1/trials/{trial.id}/early_exit", {"reason": "EXITED_REASON_INVALID_HP"})
    trial.exit()

    assert api.get(f"/api/v1/trials/{trial.id}")["trial"]["endTime"] is not None


def test_workloads_are_one_of_three_kinds_by_steps(api: Any) -> None:
    trial = api.running()
    trial.report("training", 1, a=1.0)
    trial.report("validation", 1, loss=0.5)
    trial.checkpoint(1)
    trial.report("training", 2, a=0.5)

    answer = api.get(f"/api/v1/trials/{trial.id}/workloads", limit=3)

    kinds = [[key for key, value in each.items() if value is not None] for each in answer["workloads"]]
    assert kinds == [["training"], ["validation"], ["checkpoint"]]
    assert answer["pagination"]["total"] == 4


def test_killing_a_trial_ends_it(api: Any) -> None:
    trial = api.running()

    api.post(f"/api/v1/trials/{trial.id}/kill")
    api.tick(3)

    assert api.get(f"/api/v1/trials/{trial.id}")["trial"]["state"] == "STATE_CANCELED"


def test_trials_are_sorted_best_first(api: Any) -> None:
    config = """
name: many
entrypoint: x
searcher: {name: random, metric: acc, smaller_is_better: false, max_trials: 2, max_length: {batches: 10}}
hyperparameters: {lr: {type: double, minval: 0.1, maxval: 1.0}}
"""
    trial = api.running(config)
    trial.report("validation", 1, acc=0.9)

    answer = api.get(f"/api/v1/experiments/{trial.experiment_id}/trials", sortBy="SORT_BY_BEST_VALIDATION_METRIC")

    assert answer["trials"][0]["id"] == trial.id
    assert answer["pagination"]["total"] == 2


def test_trials_are_compared_in_thinned_points(api: Any) -> None:
    trial = api.running()
    for steps in range(1, 21):
        trial.report("validation", steps, loss=1 / steps)

    answer = api.get("/api/v1/trials/time-series", trialIds=trial.id, metricIds="validation.loss", maxDatapoints=10)

    (compared,) = answer["trials"]
    (metrics,) = compared["metrics"]
    assert compared["trial"]["id"] == trial.id
    assert (metrics["group"], metrics["type"]) == ("validation", "METRIC_TYPE_VALIDATION")
    assert len(metrics["data"]) <= 12
    assert metrics["data"][-1]["values"] == {"loss": 0.05}


def test_a_stretch_of_the_series_of_several_trials_is_one_request(api: Any) -> None:
    first, second = api.running(), api.running()
    for trial in (first, second):
        for steps in range(1, 101):
            trial.report("training", steps, loss=1 / steps)

    answer = api.get("/api/v1/trials/series", trialIds=[second.id, first.id], name="loss", since=10, until=20)

    assert [each["trialId"] for each in answer["series"]] == [second.id, first.id]
    assert [each["steps"] for each in answer["series"]] == [list(range(11, 21))] * 2


def test_series_since_a_step(api: Any) -> None:
    trial = api.running()
    for steps in range(1, 6):
        trial.report("training", steps, a=steps * 1.0, b=0.0)

    answer = api.get(f"/api/v1/trials/{trial.id}/series", name="a", since=3)

    (series,) = answer["series"]
    assert (series["steps"], series["values"]) == ([4, 5], [4.0, 5.0])


def test_series_of_an_experiment_hold_its_best_trials(api: Any) -> None:
    trial = api.running()
    trial.report("validation", 1, loss=0.5)

    answer = api.get(f"/api/v1/experiments/{trial.experiment_id}/series", group="validation")

    assert [(s["trialId"], s["name"]) for s in answer["series"]] == [(trial.id, "loss")]


def test_charts_find_names_steps_samples_and_snapshots(api: Any) -> None:
    trial = api.running()
    trial.report("training", 1, a=1.0)
    trial.report("validation", 1, loss=0.5)
    base = f"/api/v1/experiments/{trial.experiment_id}/metrics-stream"

    (names,) = api.lines("/api/v1/experiments/metrics-stream/metric-names", ids=trial.experiment_id)
    (batches,) = api.lines(f"{base}/batches", metricName="loss")
    (sample,) = api.lines(f"{base}/trials-sample", metricName="loss")
    (snapshot,) = api.lines(f"{base}/trials-snapshot", metricName="loss", batchesProcessed=1)

    assert names["searcherMetrics"] == names["validationMetrics"] == ["loss"]
    assert {"group": "training", "name": "a"} in names["metricNames"]
    assert batches == {"batches": [1]}
    assert sample["promotedTrials"] == [trial.id]
    assert sample["trials"][0]["data"][0]["values"] == {"loss": 0.5}
    assert snapshot["trials"] == [{"trialId": trial.id, "hparams": {"lr": 0.1}, "batchesProcessed": 1, "metric": 0.5}]


def test_best_validation_is_404_until_there_is_one(api: Any) -> None:
    trial = api.running()
    path = f"/api/v1/experiments/{trial.experiment_id}/searcher/best_searcher_validation_metric"

    trial.api.get(path, expect=404)
    trial.report("validation", 1, loss=0.5)

    assert trial.api.get(path) == {"metric": 0.5}


def test_the_history_holds_each_new_best(api: Any) -> None:
    trial = api.running()
    for steps, loss in ((1, 0.5), (2, 0.7), (3, 0.2)):
        api.clock.forward(1)
        trial.report("validation", steps, loss=loss)

    answer = api.get(f"/api/v1/experiments/{trial.experiment_id}/validation-history")

    assert [each["searcherMetric"] for each in answer["validationHistory"]] == [0.5, 0.2]


def test_a_task_may_not_report_for_another_trial(api: Any) -> None:
    first, second = api.running(), api.running()

    sentence = first.api.refusal("POST", f"/api/v1/trials/{second.id}/progress", {"progress": 1}, expect=403)

    assert str(second.id) in sentence


def test_scripts_outside_the_platform_bring_their_own_trials(api: Any) -> None:
    config = "name: mine\nsearcher: {name: single, metric: loss}\n"
    made = api.call("PUT", "/api/v1/experiments/by-external-id/run-1", {"config": config, "unmanaged": True})
    again = api.call("PUT", "/api/v1/experiments/by-external-id/run-1", {"config": config, "unmanaged": True})
    experiment_id = made["experiment"]["id"]
    wanted = {
        "createTrialRequest": {"experimentId": experiment_id, "hparams": {"lr": 1}, "unmanaged": True},
        "externalTrialId": "t-1",
    }
    trial = api.call("PUT", "/api/v1/trials", wanted)["trial"]
    started = api.post(f"/api/v1/trials/{trial['id']}/start", {"trialId": trial["id"], "resume": False})
    api.post(
        f"/api/v1/trials/{trial['id']}/metrics",
        {
            "group": "validation",
            "metrics": {
                "trialRunId": started["trialRunId"],
                "stepsCompleted": 1,
                "metrics": {"avgMetrics": {"loss": 1.5}},
            },
        },
    )
    ended = api.call("PATCH", f"/api/v1/trials/{trial['id']}", {"trialId": trial["id"], "state": "STATE_COMPLETED"})

    assert again["experiment"]["id"] == experiment_id
    assert api.get("/api/v1/trials/by-external-id/run-1/t-1")["trial"]["id"] == trial["id"]
    assert started == {"trialRunId": 1, "latestCheckpoint": None, "stepsCompleted": 0}
    assert ended["trial"]["state"] == "STATE_COMPLETED"


def test_a_managed_trial_cannot_be_made_by_hand(api: Any) -> None:
    sentence = api.refusal("POST", "/api/v1/trials", {"experimentId": api.create(), "hparams": {}}, expect=400)

    assert "unmanaged" in sentence


def test_answers_are_json_texts_that_any_parser_reads(api: Any) -> None:
    trial = api.running()
    trial.report("validation", 1, loss="NaN")

    text = api.client.get(f"/api/v1/trials/{trial.id}", headers=api.headers).text

    assert json.loads(text, parse_constant=pytest.fail)["trial"]["latestValidation"]["metrics"]["avgMetrics"] == {
        "loss": "NaN"
    }
