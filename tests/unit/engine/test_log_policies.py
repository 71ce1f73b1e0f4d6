"""What a running trial prints sets off its log policies: soon, once a run, also over restarts of the master."""

import time
from dataclasses import replace
from typing import Any

import pytest

from resolute.domain.change import Action
from resolute.domain.log import LogLine, LogStream
from resolute.domain.trial import TrialState
from resolute.engine.notices import microseconds
from resolute.engine.ports.changes import ChangeQuery
from resolute.engine.trials.log_watch import LogWatch

CONFIG = """
name: p
entrypoint: python3 train.py
searcher: {{name: single, metric: loss}}
max_restarts: 2
log_policies: [{policies}]
"""
OOM = "{name: oom, pattern: out of memory, action: cancel_retries}"
ECC = "{name: ecc, pattern: ECC error, action: exclude_node}"
NAN = "{name: nan, pattern: 'loss (is )?NaN'}"


@pytest.fixture
def watch(world: Any) -> LogWatch:
    return LogWatch(world.platform)


def running(world: Any, *policies: str) -> Any:
    experiment = world.create(CONFIG.format(policies=", ".join(policies)))
    [trial] = world.trials(experiment.id)
    world.tick()
    return trial


def printed(world: Any, trial: Any, *texts: str, stream: LogStream = LogStream.STDOUT) -> None:
    lines = [LogLine(microseconds(world.clock()), text, rank=0, stream=stream) for text in texts]
    world.platform.logs.append(trial.task_id, lines)


def told(world: Any, name: str) -> int:
    return int(world.log(trial_of(world)).count(f"Log policy '{name}' matched"))


def trial_of(world: Any) -> Any:
    return world.trials(1)[0]


def remembered(world: Any) -> list[tuple[str, str]]:
    with world.platform.store.read() as tx:
        found = tx.changes.search(ChangeQuery(actions=(Action.LOG_PATTERN_MATCHED,), people_only=False, limit=100))
    return [(change.detail["policy"], change.detail["line"]) for change in reversed(found)]


def test_a_line_acts_while_the_trial_runs_and_is_remembered(world: Any, watch: LogWatch) -> None:
    trial = running(world, NAN)
    topics: list[str] = []
    world.platform.bus.subscribe(f"trial/{trial.id}", lambda: topics.append("trial"))

    printed(world, trial, "epoch 1", "loss is NaN at step 7")
    watch.look()

    now = world.trial(trial.id)
    assert (now.log_policy_matched, now.state) == ("nan", TrialState.ACTIVE)
    assert "Log policy 'nan' matched 'loss is NaN at step 7'." in world.log(trial)
    assert remembered(world) == [("nan", "loss is NaN at step 7")]
    assert topics


def test_a_policy_acts_once_a_run_however_often_its_line_comes(world: Any, watch: LogWatch) -> None:
    trial = running(world, NAN)

    for _ in range(3):
        printed(world, trial, "loss NaN", "loss NaN")
        watch.look()
    world.finish(trial)

    assert told(world, "nan") == 1
    assert len(remembered(world)) == 1


def test_another_run_is_another_chance(world: Any, watch: LogWatch) -> None:
    trial = running(world, NAN)
    printed(world, trial, "loss NaN")
    watch.look()
    world.finish(trial, code=1)
    world.tick()

    watch.look()
    first = told(world, "nan")
    printed(world, trial, "loss NaN")
    watch.look()

    assert (first, told(world, "nan")) == (1, 2)


def test_a_master_that_starts_anew_does_nothing_twice_and_misses_nothing(world: Any, watch: LogWatch) -> None:
    trial = running(world, NAN, OOM)
    printed(world, trial, "loss NaN")
    watch.look()

    world.platform = replace(world.platform, read_logs={})
    printed(world, trial, "out of memory", "loss NaN")
    LogWatch(world.platform).look()

    assert remembered(world) == [("nan", "loss NaN"), ("oom", "out of memory")]
    assert (told(world, "nan"), told(world, "oom")) == (1, 1)


def test_two_that_read_the_same_lines_act_once(world: Any, watch: LogWatch) -> None:
    """The end of a run is read by the engine's thread, whatever the other one is about."""
    trial = running(world, NAN)
    watch.look()
    other = LogWatch(replace(world.platform, read_logs={}))
    other.look()

    printed(world, trial, "loss NaN")
    watch.look()
    other.look()

    assert remembered(world) == [("nan", "loss NaN")]


def test_the_last_line_of_a_run_counts_however_it_ends(world: Any) -> None:
    trial = running(world, NAN)
    printed(world, trial, "loss NaN")

    world.finish(trial, code=0)

    assert remembered(world) == [("nan", "loss NaN")]
    assert world.trial(trial.id).state is TrialState.COMPLETED


def test_retries_that_were_cancelled_while_it_ran_stay_cancelled(world: Any, watch: LogWatch) -> None:
    trial = running(world, NAN, OOM)
    printed(world, trial, "CUDA out of memory at step 7")
    watch.look()

    world.finish(trial, code=1)

    assert world.trial(trial.id).state is TrialState.ERROR
    assert "not retried: log policy 'oom' matched" in world.trial(trial.id).exit_reason


def test_a_node_is_excluded_from_the_next_run(world: Any, watch: LogWatch) -> None:
    trial = running(world, ECC)
    printed(world, trial, "uncorrectable ECC error")
    watch.look()
    excluded = world.trial(trial.id).excluded_nodes

    world.finish(trial, code=1)
    world.tick()

    assert excluded == ("fake",)
    with world.platform.store.read() as tx:
        assert tx.allocations.of_task(trial.task_id)[-1].excluded_nodes == ("fake",)


def test_what_the_platform_says_itself_sets_off_nothing(world: Any, watch: LogWatch) -> None:
    trial = running(world, "{name: any, pattern: '.'}")

    printed(world, trial, "Run 1 failed: out of memory", stream=LogStream.PLATFORM)
    watch.look()

    assert remembered(world) == []


def test_a_pattern_that_takes_too_long_is_given_up_and_the_others_go_on(world: Any, watch: LogWatch) -> None:
    trial = running(world, "{name: slow, pattern: '(a|aa)+$'}", NAN)
    printed(world, trial, "a" * 60 + "!", "a" * 70 + "!", "loss NaN")

    began = time.monotonic()
    watch.look()

    assert time.monotonic() - began < 2
    assert remembered(world) == [("nan", "loss NaN")]
    assert (
        world.log(trial).count("Log policy 'slow' is not looked at in this run. The pattern '(a|aa)+$' takes too long")
        == 1
    )


def test_a_trial_without_policies_costs_no_reading(world: Any, watch: LogWatch, count_statements: Any) -> None:
    trial = running(world)
    watch.look()
    printed(world, trial, "hello")

    with count_statements() as counted:
        watch.look()

    assert counted.selects == 0


def test_a_trial_that_is_deleted_meanwhile_stops_nobody(world: Any, watch: LogWatch) -> None:
    first, second = (running(world, NAN) for _ in range(2))
    watch.look()
    world.finish(first)
    printed(world, second, "loss NaN")

    watch.look()

    assert remembered(world) == [("nan", "loss NaN")]
    assert set(world.platform.read_logs) == {world.allocation(second)}
