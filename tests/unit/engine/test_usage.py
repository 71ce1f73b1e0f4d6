"""The history of slots: who held them, and sums by day."""

from datetime import timedelta
from typing import Any

from resolute.domain.slot_use import Periods
from resolute.engine.access.workspaces import add_project, add_workspace
from resolute.engine.experiments.changes import move_experiment, patch_experiment
from resolute.engine.usage import slot_uses, usage_by_period

DAY = timedelta(days=1)
CONFIG = """
name: test
entrypoint: python3 train.py
searcher: {name: single, metric: loss}
resources: {slots_per_trial: 2}
max_restarts: 0
"""


def ran(world: Any, seconds: float) -> int:
    """An experiment whose trial held two slots that long."""
    experiment = world.create(CONFIG)
    world.tick()
    world.clock.forward(seconds)
    world.finish(world.trials(experiment.id)[0])
    return int(experiment.id)


def today(world: Any, days: int = 1) -> Periods:
    return Periods.of("2026-01-01", f"2026-01-0{days}", is_monthly=False)


def test_a_trial_counts_from_its_start_to_its_end(world: Any) -> None:
    experiment_id = ran(world, 100)

    (use,) = slot_uses(world.platform, world.started_at - DAY, world.started_at + DAY)

    assert (use.experiment_id, use.username, use.slots, use.pool) == (experiment_id, "determined", 2, "default")
    assert 100 <= use.seconds < 101
    assert 200 <= use.slot_seconds < 202


def test_what_waits_in_the_queue_has_used_nothing(world: Any) -> None:
    world.create(CONFIG)

    assert slot_uses(world.platform, world.started_at - DAY, world.started_at + DAY) == []


def test_what_still_runs_is_counted_up_to_now(world: Any) -> None:
    world.create(CONFIG)
    world.tick()
    world.clock.forward(50)

    (use,) = slot_uses(world.platform, world.started_at - DAY, world.started_at + DAY)

    assert use.end == world.clock()
    assert 50 <= use.seconds < 51


def test_what_still_runs_uses_nothing_of_the_days_to_come(world: Any) -> None:
    world.create(CONFIG)
    world.tick()
    world.clock.forward(50)

    first, second = usage_by_period(world.platform, today(world, 2))

    assert 100 <= first.seconds < 102
    assert (second.seconds, second.by_username) == (0.0, {})


def test_a_run_over_midnight_is_shared_between_the_days(world: Any) -> None:
    world.create(CONFIG)
    world.tick()
    world.clock.forward(20 * 3600)

    first, second = usage_by_period(world.platform, today(world, 2))

    assert first.seconds + second.seconds == sum(
        use.slot_seconds for use in slot_uses(world.platform, world.started_at, world.clock())
    )
    assert second.seconds == 2 * (world.clock() - world.started_at.replace(hour=0) - DAY).total_seconds()


def test_labels_and_owner_are_those_of_the_experiment_now(world: Any) -> None:
    experiment_id = ran(world, 10)
    patch_experiment(world.platform, experiment_id, labels=["night", "paper"])

    (sums,) = usage_by_period(world.platform, today(world))

    assert set(sums.by_label) == {"night", "paper"}
    assert sums.by_label["night"] == sums.seconds == sums.by_username["determined"]


def test_only_work_of_the_workspaces_one_may_see_is_told(world: Any) -> None:
    near, far = ran(world, 10), ran(world, 10)
    workspace = add_workspace(world.platform, user=world.user, name="far")
    project = add_project(world.platform, user=world.user, workspace_id=workspace.id, name="p")
    move_experiment(world.platform, far, project.id)
    span = (world.started_at - DAY, world.started_at + DAY)

    def seen(*workspaces: int) -> list[int | None]:
        return [use.experiment_id for use in slot_uses(world.platform, *span, visible_in=frozenset(workspaces))]

    assert seen(1) == [near]
    assert seen(workspace.id) == [far]
    assert seen(1, workspace.id) == [near, far]
    assert seen() == []


def test_the_history_of_many_runs_is_read_by_one_statement(world: Any, count_statements: Any) -> None:
    for _ in range(3):
        ran(world, 10)

    with count_statements() as counted:
        found = usage_by_period(world.platform, today(world, 9))

    assert len(found) == 9
    assert counted.selects == 1
