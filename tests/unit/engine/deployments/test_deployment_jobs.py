"""A deployment is one job in the queue: its replicas wait with its priority, and can be moved like anybody else."""

from dataclasses import replace
from typing import Any

import pytest

from resolute.domain.deployment import Scaling, Serving
from resolute.domain.errors import NotFound
from resolute.domain.job import Job, JobKind
from resolute.engine.deployments import deployments as engine
from resolute.engine.jobs.queue import JobUpdate, JobView, list_jobs, update_jobs


def the_job(stage: Any, name: str = "echo") -> Job:
    with stage.platform.store.read() as tx:
        found: Job = tx.jobs.get(stage.deployment(name).job_id)
    return found


def queue(stage: Any) -> list[str]:
    return [view.job.name for view in list_jobs(stage.platform)]


def view_of(stage: Any, name: str) -> JobView:
    return next(view for view in list_jobs(stage.platform) if view.job.name == name)


def test_replicas_stand_in_the_queue_as_their_deployment(stage: Any) -> None:
    stage.create(serving=Serving(slots=1, priority=20, weight=2.0), scaling=Scaling(min_replicas=2, max_replicas=2))

    stage.settle()

    view = view_of(stage, "echo")
    assert (view.job.kind, view.job.entity_id, view.username) == (JobKind.DEPLOYMENT, "echo", "determined")
    assert (view.job.priority, view.job.weight) == (20, 2.0)
    assert (view.requested_slots, view.allocated_slots, view.is_preemptible) == (2, 2, False)


def test_a_replica_of_higher_priority_is_served_before_a_trial_that_came_first(stage: Any) -> None:
    busy = stage.world.create("name: busy\nresources: {slots_per_trial: 2, priority: 1}\n" + TRIAL)
    stage.world.tick()
    waiting = stage.world.create("name: waiting\nresources: {slots_per_trial: 2}\n" + TRIAL)
    stage.create(serving=Serving(slots=2, priority=5))
    stage.turn(2)
    before = queue(stage)

    stage.world.finish(stage.world.trials(busy.id)[0])

    assert before == ["busy", "echo", "waiting"]
    assert view_of(stage, "echo").is_scheduled
    assert not view_of(stage, "waiting").is_scheduled
    assert stage.world.trials(waiting.id)[0].run_id == 1


def test_replicas_are_moved_ahead_of_trials(stage: Any) -> None:
    experiment = stage.world.create("name: trial\nresources: {slots_per_trial: 2}\n" + TRIAL)
    stage.world.clock.forward(1)
    stage.world.create("name: second\nresources: {slots_per_trial: 2}\n" + TRIAL)
    stage.create(serving=Serving(slots=2))
    stage.turn()

    update_jobs(stage.platform, [JobUpdate(job_id=the_job(stage).id, ahead_of=experiment.job_id)])

    assert queue(stage) == ["echo", "trial", "second"]


def test_a_priority_given_in_the_queue_stays_when_the_model_is_updated(stage: Any) -> None:
    stage.create()
    stage.settle()
    update_jobs(stage.platform, [JobUpdate(job_id=the_job(stage).id, priority=7)])

    engine.update_deployment(stage.platform, "echo", stage.source(), lambda base: replace(base, max_batch_size=4))

    assert the_job(stage).priority == 7
    assert stage.revision(2).serving.priority == 7


def test_an_update_may_name_another_priority(stage: Any) -> None:
    stage.create()
    stage.settle()

    engine.update_deployment(stage.platform, "echo", stage.source(), lambda base: replace(base, priority=3))

    assert the_job(stage).priority == 3


def test_the_job_goes_with_its_deployment(stage: Any) -> None:
    stage.create()
    stage.settle()
    job = the_job(stage)

    engine.delete_deployment(stage.platform, "echo")
    stage.settle()

    with stage.platform.store.read() as tx, pytest.raises(NotFound, match=f"job not found: {job.id}"):
        tx.jobs.get(job.id)


TRIAL = """
entrypoint: python3 train.py
searcher: {name: single, metric: loss}
"""
