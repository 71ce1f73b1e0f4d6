"""Metrics and checkpoints that trials report: stored once, fenced by run, heard by the searcher."""

from dataclasses import replace
from typing import Any

import pytest

from resolute.domain.checkpoint import Checkpoint, CheckpointState
from resolute.domain.errors import AlreadyExists, Fenced, InvalidInput, NotFound
from resolute.domain.metric import TRAINING, VALIDATION, MetricReport
from resolute.engine.experiments.changes import pause_experiment
from resolute.engine.trials.reports import describe_checkpoint, report_checkpoint, report_metrics, searcher_time

CONFIG = """
name: test
entrypoint: python3 train.py
searcher: {name: single, metric: loss%s}
%s
max_restarts: 3
"""


@pytest.fixture
def trial(world: Any) -> Any:
    return started(world)


def started(world: Any, searcher: str = "", rest: str = "") -> Any:
    experiment = world.create(CONFIG % (searcher, rest))
    world.tick()
    return world.trials(experiment.id)[0]


def report(world: Any, trial: Any, steps: int, group: str = VALIDATION, run: int | None = None, **metrics: Any) -> Any:
    return MetricReport(
        trial_id=trial.id,
        run_id=world.trial(trial.id).run_id if run is None else run,
        group=group,
        steps_completed=steps,
        report_time=world.clock(),
        metrics=metrics,
    )


def summaries(world: Any, trial: Any) -> dict[str, int]:
    with world.platform.store.read() as tx:
        return {f"{s.group}.{s.name}": s.count for s in tx.metrics.summaries(trial.id)}


# ----------------------------------------------------------------------------------------------------------- metrics


def test_reports_of_several_trials_are_stored_together(world: Any) -> None:
    first, second = started(world), started(world)

    added = report_metrics(
        world.platform,
        [
            report(world, first, 1, TRAINING, loss=1.0),
            report(world, first, 2, loss=0.5),
            report(world, second, 1, loss=0.25),
        ],
    )

    assert added == 3
    assert summaries(world, first) == {"training.loss": 1, "validation.loss": 1}
    assert world.trial(second.id).searcher_metric_value == 0.25


def test_nothing_reported_is_nothing_done(world: Any, count_statements: Any) -> None:
    with count_statements() as counted:
        assert report_metrics(world.platform, []) == 0

    assert counted.selects == 0


def test_a_report_sent_again_changes_nothing(world: Any, trial: Any) -> None:
    told = report(world, trial, 1, loss=0.5)

    assert report_metrics(world.platform, [told]) == 1
    assert report_metrics(world.platform, [told]) == 0
    assert summaries(world, trial) == {"validation.loss": 1}


@pytest.mark.parametrize("group", ["", "a.b", "."])
def test_a_group_with_a_dot_or_without_a_name_is_refused_with_the_whole_batch(
    world: Any, trial: Any, group: str
) -> None:
    with pytest.raises(InvalidInput, match="is not allowed: name it without dots"):
        report_metrics(world.platform, [report(world, trial, 1, loss=1.0), report(world, trial, 2, group, x=1)])

    assert summaries(world, trial) == {}


@pytest.mark.parametrize("run", [0, 2, 7])
def test_one_of_another_run_refuses_the_whole_batch(world: Any, trial: Any, run: int) -> None:
    other = started(world)

    with pytest.raises(Fenced, match=f"Trial {trial.id} is in run 1; this report is from run {run}"):
        report_metrics(world.platform, [report(world, other, 1, loss=1.0), report(world, trial, 1, run=run, loss=1.0)])

    assert summaries(world, other) == {}


def test_a_trial_that_is_not_there_is_not_found(world: Any, trial: Any) -> None:
    with pytest.raises(NotFound, match="trial not found: 99"):
        report_metrics(world.platform, [replace(report(world, trial, 1, loss=1.0), trial_id=99)])


def test_steps_grow_and_never_shrink_and_samples_of_the_machine_count_none(world: Any, trial: Any) -> None:
    for steps, group in ((10, TRAINING), (4, TRAINING), (5000, "gpu"), (7000, "cpu")):
        report_metrics(world.platform, [report(world, trial, steps, group, x=1)])

    assert world.trial(trial.id).total_batches == 10


@pytest.mark.parametrize(
    ("values", "best"),
    [
        ([0.5, 0.2, 0.4], 0.2),
        ([float("nan"), 0.5], 0.5),
        ([0.5, float("nan")], 0.5),
        ([float("inf"), 3], 3.0),
        (["fast", None], None),
        ([True], None),
    ],
)
def test_the_best_value_is_a_number_whatever_is_reported(
    world: Any, trial: Any, values: list[Any], best: float | None
) -> None:
    for steps, value in enumerate(values, start=1):
        report_metrics(world.platform, [report(world, trial, steps, loss=value)])

    assert world.trial(trial.id).searcher_metric_value == best


def test_a_larger_value_is_better_where_the_search_says_so(world: Any) -> None:
    trial = started(world, ", smaller_is_better: false")

    for steps, value in enumerate((0.5, 0.9, 0.7), start=1):
        report_metrics(world.platform, [report(world, trial, steps, loss=value)])

    assert world.trial(trial.id).searcher_metric_value == 0.9


def test_whoever_watches_is_told_once_for_a_batch(world: Any, trial: Any) -> None:
    told: list[str] = []
    for topic in (f"trial/{trial.id}", f"experiment/{trial.experiment_id}"):
        world.platform.bus.subscribe(topic, lambda topic=topic: told.append(topic))

    report_metrics(world.platform, [report(world, trial, step, TRAINING, loss=1.0) for step in (1, 2, 3)])

    assert sorted(told) == [f"experiment/{trial.experiment_id}", f"trial/{trial.id}"]


def test_a_report_of_a_paused_trial_is_kept(world: Any, trial: Any) -> None:
    pause_experiment(world.platform, trial.experiment_id)

    report_metrics(world.platform, [report(world, trial, 1, loss=0.5)])

    assert world.trial(trial.id).searcher_metric_value == 0.5


# ------------------------------------------------------------------------------------------------ the searcher's time


@pytest.mark.parametrize(
    ("searcher", "rest", "metrics", "time"),
    [
        ("", "", {}, 30.0),
        (", max_length: {batches: 100}", "", {}, 30.0),
        (", max_length: 100", "", {}, 30.0),
        (", max_length: {records: 1000}", "hyperparameters: {global_batch_size: 8}", {}, 240.0),
        (
            ", max_length: {epochs: 5}",
            "hyperparameters: {global_batch_size: 8}\nrecords_per_epoch: 120",
            {},
            2.0,
        ),
        (", max_length: {epochs: 5}", "", {"epochs": 3}, 3.0),
        (", max_length: {epochs: 5}", "", {"epochs": "three"}, 30.0),
        (", max_length: {epochs: 5}", "", {}, 30.0),
        (", time_metric: seconds, max_time: 60", "", {"seconds": 12.5}, 12.5),
        (", time_metric: seconds, max_time: 60", "", {"seconds": "long"}, 30.0),
        (", time_metric: seconds, max_time: 60", "", {}, 30.0),
    ],
)
def test_how_far_it_has_trained_is_counted_in_the_searchers_unit(
    world: Any, searcher: str, rest: str, metrics: dict[str, Any], time: float
) -> None:
    trial = started(world, searcher, rest)

    assert searcher_time(world.experiment(trial.experiment_id), report(world, trial, 30, **metrics)) == time


# ---------------------------------------------------------------------------------------------------------- checkpoints


def checkpoint(world: Any, trial: Any, **fields: Any) -> Checkpoint:
    values: dict[str, Any] = {
        "uuid": "u1",
        "state": CheckpointState.COMPLETED,
        "report_time": world.clock(),
        "resources": {"model.bin": 3},
        "metadata": {},
        "trial_id": trial.id,
        "task_id": trial.task_id,
        "run_id": 1,
        "steps_completed": 5,
    }
    return Checkpoint(**(values | fields))


def stored(world: Any, uuid: str = "u1") -> Checkpoint:
    with world.platform.store.read() as tx:
        found: Checkpoint = tx.checkpoints.get(uuid)
    return found


def test_a_checkpoint_belongs_to_its_experiment_and_is_where_that_keeps_them(world: Any, trial: Any) -> None:
    report_checkpoint(world.platform, checkpoint(world, trial))

    found = stored(world)
    assert found.experiment_id == trial.experiment_id
    assert found.storage == world.experiment(trial.experiment_id).config["checkpoint_storage"]
    assert (world.trial(trial.id).latest_checkpoint, world.trial(trial.id).total_batches) == ("u1", 5)


def test_storage_that_is_named_in_the_report_is_kept(world: Any, trial: Any) -> None:
    elsewhere = {"type": "shared_fs", "host_path": "/elsewhere"}

    report_checkpoint(world.platform, checkpoint(world, trial, storage=elsewhere))

    assert stored(world).storage == elsewhere


def test_a_checkpoint_is_found_by_its_task_alone(world: Any, trial: Any) -> None:
    report_checkpoint(world.platform, checkpoint(world, trial, trial_id=None))

    assert stored(world).trial_id == trial.id


def test_a_checkpoint_of_no_trial_is_kept_as_it_is(world: Any, trial: Any) -> None:
    report_checkpoint(world.platform, checkpoint(world, trial, trial_id=None, task_id="somewhere else"))

    assert (stored(world).trial_id, stored(world).experiment_id) == (None, None)
    assert world.trial(trial.id).latest_checkpoint is None


def test_one_of_an_older_run_is_refused(world: Any, trial: Any) -> None:
    world.finish(trial, 1)
    world.tick()

    with pytest.raises(Fenced, match="is in run 2; this report is from run 1"):
        report_checkpoint(world.platform, checkpoint(world, trial, run_id=1))
    with pytest.raises(NotFound):
        stored(world)


def test_one_that_is_not_whole_is_no_place_to_go_on_from(world: Any, trial: Any) -> None:
    report_checkpoint(world.platform, checkpoint(world, trial, state=CheckpointState.PARTIALLY_DELETED))

    assert world.trial(trial.id).latest_checkpoint is None


def test_an_older_one_that_comes_late_takes_no_steps_away(world: Any, trial: Any) -> None:
    report_checkpoint(world.platform, checkpoint(world, trial, uuid="new", steps_completed=9))
    report_checkpoint(world.platform, checkpoint(world, trial, uuid="old", steps_completed=4))

    assert world.trial(trial.id).total_batches == 9


def test_the_uuid_of_another_trial_is_refused(world: Any, trial: Any) -> None:
    other = started(world)
    report_checkpoint(world.platform, checkpoint(world, trial))

    with pytest.raises(AlreadyExists):
        report_checkpoint(world.platform, checkpoint(world, other))

    assert world.trial(other.id).latest_checkpoint is None


def test_its_description_is_replaced(world: Any, trial: Any) -> None:
    report_checkpoint(world.platform, checkpoint(world, trial, metadata={"steps_completed": 5, "note": "a"}))

    describe_checkpoint(world.platform, "u1", {"note": "b"})

    assert stored(world).metadata == {"note": "b"}
    with pytest.raises(NotFound, match="checkpoint not found: nope"):
        describe_checkpoint(world.platform, "nope", {})


def test_a_checkpoint_under_a_name_that_leads_elsewhere_is_not_recorded(world: Any, trial: Any) -> None:
    with pytest.raises(InvalidInput, match="no checkpoint id"):
        report_checkpoint(
            world.platform,
            Checkpoint(
                uuid="../../home",
                state=CheckpointState.COMPLETED,
                report_time=world.clock(),
                resources={"resolute.sqlite3": 1},
                metadata={},
                trial_id=trial.id,
                run_id=trial.run_id,
            ),
        )
    with world.platform.store.read() as tx, pytest.raises(NotFound):
        tx.checkpoints.get("../../home")
