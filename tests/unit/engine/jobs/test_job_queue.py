"""The queue: what is in it, in which order, and what a change of a job changes elsewhere."""

from typing import Any

import pytest

from resolute.domain.errors import InvalidInput, NotFound
from resolute.domain.job import Job
from resolute.domain.node import Node, Slot
from resolute.engine.access.workspaces import add_project, add_workspace, move_project
from resolute.engine.experiments.changes import delete_experiment, kill_experiment, move_experiment, patch_experiment
from resolute.engine.experiments.submission import continue_experiment
from resolute.engine.jobs.queue import JobUpdate, list_jobs, update_jobs

TWO_SLOTS = """
name: {name}
entrypoint: python3 train.py
searcher: {{name: single, metric: loss, max_length: {{batches: 10}}}}
resources: {{slots_per_trial: 2, priority: {priority}}}
"""


def submit(world: Any, name: str, priority: int = 42) -> Any:
    world.clock.forward(1)
    return world.create(TWO_SLOTS.format(name=name, priority=priority))


def queue(world: Any, pool: str | None = None) -> list[str]:
    return [view.job.name for view in list_jobs(world.platform, pool)]


def job_of(world: Any, experiment: Any) -> Job:
    with world.platform.store.read() as tx:
        found: Job = tx.jobs.get(experiment.job_id)
    return found


def resources(world: Any, experiment: Any) -> dict[str, Any]:
    found: dict[str, Any] = world.experiment(experiment.id).config["resources"]
    return found


def team(world: Any, name: str) -> tuple[int, int]:
    """Ids of a new workspace and of a project in it."""
    workspace = add_workspace(world.platform, name=name, user=world.user)
    project = add_project(world.platform, user=world.user, workspace_id=workspace.id, name=f"p-{name}")
    return workspace.id, project.id


def change(world: Any, experiment: Any, **what: Any) -> None:
    update_jobs(world.platform, [JobUpdate(job_id=experiment.job_id, **what)])


def test_jobs_are_served_by_priority_then_position(world: Any) -> None:
    for name, priority in (("a", 42), ("b", 10), ("c", 42)):
        submit(world, name, priority)

    assert queue(world) == ["b", "a", "c"]
    assert [view.jobs_ahead for view in list_jobs(world.platform)] == [0, 1, 2]
    assert [view.job.name for view in list_jobs(world.platform, descending=True)] == ["c", "a", "b"]


def test_a_job_shows_what_it_holds_and_what_it_wants(world: Any) -> None:
    submit(world, "runs")
    submit(world, "waits")
    world.tick()

    runs, waits = list_jobs(world.platform)

    assert (runs.allocated_slots, runs.requested_slots, runs.is_scheduled) == (2, 2, True)
    assert (waits.allocated_slots, waits.requested_slots, waits.is_scheduled) == (0, 2, False)
    assert (runs.username, runs.is_preemptible) == ("determined", True)


def test_an_experiment_that_is_over_is_not_in_the_queue_and_keeps_its_job(world: Any) -> None:
    experiment = submit(world, "short", 9)
    world.tick()

    world.finish(world.trials(experiment.id)[0])

    assert queue(world) == []
    assert job_of(world, experiment).priority == 9


def test_a_deleted_experiment_takes_its_job_with_it(world: Any) -> None:
    experiment = submit(world, "gone")
    kill_experiment(world.platform, experiment.id)

    delete_experiment(world.platform, experiment.id)

    with pytest.raises(NotFound, match="job not found"):
        job_of(world, experiment)


def test_a_new_priority_is_in_force_at_once_and_in_the_configuration(world: Any) -> None:
    first, second = submit(world, "first"), submit(world, "second")

    change(world, second, priority=5)
    world.tick()

    assert queue(world) == ["second", "first"]
    assert resources(world, second)["priority"] == 5
    assert [gang.task_id for gang in world.runner.started] == [world.trials(second.id)[0].task_id]
    assert resources(world, first)["priority"] == 42


def test_a_new_weight_is_in_the_configuration(world: Any) -> None:
    experiment = submit(world, "heavy")

    change(world, experiment, weight=2.5)

    assert job_of(world, experiment).weight == 2.5
    assert resources(world, experiment)["weight"] == 2.5


def test_a_patched_experiment_stands_otherwise_in_the_queue(world: Any) -> None:
    experiment = submit(world, "old name")

    patch_experiment(world.platform, experiment.id, name="new name", priority=3, weight=4.0, max_slots=2)

    job = job_of(world, experiment)
    assert (job.name, job.priority, job.weight, job.max_slots) == ("new name", 3, 4.0, 2)


def test_moving_next_to_a_job_takes_on_its_priority(world: Any) -> None:
    urgent, patient = submit(world, "urgent", 5), submit(world, "patient", 50)

    change(world, patient, ahead_of=urgent.job_id)

    assert queue(world) == ["patient", "urgent"]
    assert resources(world, patient)["priority"] == 5


def test_a_job_is_moved_behind_another(world: Any) -> None:
    first, _, last = submit(world, "first"), submit(world, "middle"), submit(world, "last")

    change(world, first, behind_of=last.job_id)

    assert queue(world) == ["middle", "last", "first"]


def test_what_waits_goes_to_the_other_pool_and_what_runs_stays(world: Any) -> None:
    slots = (Slot(0), Slot(1))
    world.runner.set_nodes([Node("here", slots), Node("there", slots, resource_pool="other")])
    running, waiting = submit(world, "running"), submit(world, "waiting")
    world.tick()

    change(world, waiting, resource_pool="other")
    world.tick()

    assert queue(world, "other") == ["waiting"]
    assert queue(world, "default") == ["running"]
    assert resources(world, waiting)["resource_pool"] == "other"
    assert [gang.shares[0].node_id for gang in world.runner.started] == ["here", "there"]
    assert job_of(world, running).resource_pool == "default"


def test_an_experiment_moved_to_another_workspace_takes_its_job_along(world: Any) -> None:
    workspace, project = team(world, "one")
    experiment = submit(world, "moves")

    move_experiment(world.platform, experiment.id, project)

    assert job_of(world, experiment).workspace_id == workspace


def test_a_project_moved_to_another_workspace_takes_its_jobs_along(world: Any) -> None:
    _, project = team(world, "one")
    other, _ = team(world, "other")
    inside, outside = world.create(project_id=project), submit(world, "outside")

    move_project(world.platform, project, workspace_id=other)

    assert job_of(world, inside).workspace_id == other
    assert job_of(world, outside).workspace_id == 1


def test_an_experiment_that_goes_on_stands_as_its_new_configuration_says(world: Any) -> None:
    experiment = submit(world, "again")
    world.tick()
    world.finish(world.trials(experiment.id)[0], 0)
    assert world.experiment(experiment.id).is_finished

    override = "{searcher: {max_length: {batches: 20}}, resources: {priority: 4}}"
    continue_experiment(world.platform, experiment.id, override)

    assert job_of(world, experiment).priority == 4


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ({"priority": 100}, "Priority 100 is out of range"),
        ({"weight": 0}, "Weight 0 is out of range"),
        ({"weight": float("nan")}, "Weight nan is out of range"),
        ({}, "say what to change"),
        ({"resource_pool": "nowhere"}, "resourcePool: there is no resource pool 'nowhere'. There are: default"),
        ({"ahead_of": "nobody"}, "Job nobody is not in the queue"),
    ],
)
def test_a_change_that_cannot_be_made_is_refused_with_a_sentence(
    world: Any, what: dict[str, Any], sentence: str
) -> None:
    experiment = submit(world, "steady")

    with pytest.raises((InvalidInput, NotFound), match=sentence):
        change(world, experiment, **what)

    assert job_of(world, experiment).priority == 42


def test_of_several_changes_all_are_made_or_none(world: Any) -> None:
    experiment = submit(world, "steady")
    updates = [JobUpdate(job_id=experiment.job_id, priority=1), JobUpdate(job_id="nobody", priority=1)]

    with pytest.raises(NotFound, match="job not found in the queue: nobody"):
        update_jobs(world.platform, updates)

    assert job_of(world, experiment).priority == 42
