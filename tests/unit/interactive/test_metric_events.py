"""Reports of a trial as event files: curves, hyperparameters, and nothing twice."""

import math
from pathlib import Path
from typing import Any

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams import metadata

from resolute.interactive.metric_events import TrialEvents


def report(step: int, group: str = "training", **metrics: Any) -> dict[str, Any]:
    return {"group": group, "steps_completed": step, "time": "2026-01-01T12:00:00Z", "metrics": metrics}


def read(folder: Path) -> EventAccumulator:
    return EventAccumulator(str(folder)).Reload()


def curve(folder: Path, tag: str) -> list[tuple[int, float]]:
    return [(event.step, event.value) for event in read(folder).Scalars(tag)]


def test_each_metric_of_a_group_is_a_curve_with_the_steps_and_times_that_were_reported(tmp_path: Path) -> None:
    events = TrialEvents(tmp_path, {})

    events.write([report(1, loss=0.5, deep={"a": 1}), report(2, loss=0.25), report(2, group="validation", loss=1)])

    assert set(read(tmp_path).Tags()["scalars"]) == {"training/loss", "training/deep/a", "validation/loss"}
    assert curve(tmp_path, "training/loss") == [(1, 0.5), (2, 0.25)]
    assert read(tmp_path).Scalars("training/loss")[0].wall_time == 1767268800


def test_reports_that_come_again_are_not_written_twice(tmp_path: Path) -> None:
    events = TrialEvents(tmp_path, {})

    first = events.write([report(1, loss=0.5)])
    again = events.write([report(1, loss=0.5, accuracy=0.1), report(2, loss=0.25)])

    assert (first, again) == (1, 2)
    assert len(curve(tmp_path, "training/loss")) == 2


def test_what_is_no_number_makes_no_curve_and_nan_is_one(tmp_path: Path) -> None:
    TrialEvents(tmp_path, {}).write([report(1, note="good", loss="NaN", shape=[1, 2])])

    (tag,) = read(tmp_path).Tags()["scalars"]
    assert tag == "training/loss"
    assert math.isnan(curve(tmp_path, tag)[0][1])


def test_hyperparameters_and_the_end_are_there_for_the_hparams_tab(tmp_path: Path) -> None:
    events = TrialEvents(tmp_path, {"lr": 0.1, "optimizer": {"name": "sgd"}, "layers": [1, 2]})

    events.end("COMPLETED")
    events.end("COMPLETED")

    content = read(tmp_path).SummaryMetadata(metadata.SESSION_START_INFO_TAG).plugin_data.content
    found = metadata.parse_session_start_info_plugin_data(content).hparams
    assert found["lr"].number_value == 0.1
    assert found["optimizer/name"].string_value == "sgd"
    ended = read(tmp_path).SummaryMetadata(metadata.SESSION_END_INFO_TAG).plugin_data.content
    assert metadata.parse_session_end_info_plugin_data(ended).status == 1
