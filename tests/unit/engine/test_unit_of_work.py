"""A change of state, its notice and its row in the outbox are one transaction."""

from dataclasses import replace

import pytest

from resolute.domain.change import Action, Actor, Via
from resolute.domain.errors import IllegalTransition, NotFound
from resolute.domain.experiment import ExperimentState
from resolute.domain.trial import TrialState
from resolute.domain.user import User
from resolute.engine.changes.kinds import KINDS
from resolute.engine.experiments.changes import (
    delete_experiment,
    move_experiment,
    patch_experiment,
    pause_experiment,
)
from resolute.engine.jobs.allocations import ack_preemption, pending_preemption
from resolute.engine.unit_of_work import flow


def changes(world, kind: str = "", thing_id: object = ""):
    with world.platform.store.read() as tx:
        found = tx.changes.after(0, limit=10_000)
    return [c for c in found if kind in ("", c.kind) and str(thing_id) in ("", c.thing_id)]


def steps(found) -> list[tuple[Action, str, str]]:
    return [(c.action, c.from_state, c.to_state) for c in found]


def test_a_change_is_published_once_it_is_durable_and_once_per_topic(world) -> None:
    experiment = world.create()
    heard: list[str] = []
    for topic in (f"experiment/{experiment.id}", "changes"):
        world.platform.bus.subscribe(topic, lambda topic=topic: heard.append(topic))

    with flow(world.platform) as current:
        current.move(experiment, experiment.moved_to(ExperimentState.PAUSED, now=current.now))
        current.publish(f"experiment/{experiment.id}")
        assert heard == []

    assert sorted(heard) == ["changes", f"experiment/{experiment.id}"]


def test_what_was_rolled_back_is_neither_published_nor_in_the_outbox(world) -> None:
    experiment = world.create()
    before, heard = changes(world), []
    world.platform.bus.subscribe("experiments", lambda: heard.append("experiments"))

    def move_and_fail() -> None:
        with flow(world.platform) as current:
            current.move(experiment, experiment.moved_to(ExperimentState.PAUSED, now=current.now))
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        move_and_fail()

    assert (changes(world), heard) == (before, [])
    assert world.experiment(experiment.id).state is ExperimentState.ACTIVE


def test_a_thing_that_somebody_else_moved_is_not_moved(world) -> None:
    experiment = world.create()
    pause_experiment(world.platform, experiment.id)
    before = changes(world)

    with pytest.raises(IllegalTransition, match="changed by someone else"), flow(world.platform) as current:
        current.move(experiment, experiment.moved_to(ExperimentState.STOPPING_KILLED, now=current.now))

    assert changes(world) == before
    assert world.experiment(experiment.id).state is ExperimentState.PAUSED


def test_a_row_says_who_did_it_from_where_and_in_which_workspace(world) -> None:
    actor = Actor(user_id=2, name="determined", via=Via.SESSION, address="10.0.0.7", user_agent="resolute/1")
    experiment = world.create()

    pause_experiment(replace(world.platform, actor=actor), experiment.id)

    change = changes(world, "experiment", experiment.id)[-1]
    assert (change.actor, change.workspace_id, change.at) == (actor, 1, world.clock())
    trial = changes(world, "trial", world.trials(experiment.id)[0].id)[-1]
    assert (trial.actor, trial.workspace_id, trial.to_state) == (actor, 1, TrialState.PAUSED)


def test_a_changed_priority_is_told_with_its_old_and_new_value_and_other_fields_by_name(world) -> None:
    experiment = world.create()

    patch_experiment(world.platform, experiment.id, priority=7, notes="a secret plan")

    job, change = changes(world, "job")[-1], changes(world, "experiment", experiment.id)[-1]
    assert (job.action, change.action) == (Action.CHANGED, Action.CHANGED)
    assert job.detail["changed"] == {"priority": [42, 7]}
    assert change.detail == {"name": "test", "also": ["config", "notes"]}


def test_the_whole_life_of_a_trial_and_of_its_runs_is_in_the_outbox(world) -> None:
    experiment = world.create()
    world.tick()
    trial = world.trials(experiment.id)[0]
    world.finish(trial, code=1)
    world.tick()
    world.finish(trial)

    assert [(c.from_state, c.to_state) for c in changes(world, "trial", trial.id)] == [
        ("", TrialState.ACTIVE),
        (TrialState.ACTIVE, TrialState.COMPLETED),
    ]
    run = [("", "QUEUED"), ("QUEUED", "ASSIGNED"), ("ASSIGNED", "RUNNING"), ("RUNNING", "TERMINATED")]
    runs = changes(world, "allocation")
    assert [(c.from_state, c.to_state) for c in runs] == [*run, *run]
    assert (runs[3].detail["exit_code"], runs[3].detail["trial_id"], runs[3].workspace_id) == (1, trial.id, 1)
    assert changes(world, "experiment")[-1].to_state == ExperimentState.COMPLETED


def test_a_run_that_is_asked_twice_to_leave_was_asked_once(world) -> None:
    experiment = world.create()
    world.tick()
    trial = world.trials(experiment.id)[0]
    before = len(changes(world, "allocation"))

    for _ in range(2):
        pending_preemption(world.platform, world.allocation(trial))
        ack_preemption(world.platform, world.allocation(trial))

    asked, heard = changes(world, "allocation")[before:]
    assert (asked.detail["also"], heard.detail["also"]) == (["preempt_requested_at"], ["preempt_acked"])


def test_a_change_that_changes_nothing_is_none(world) -> None:
    experiment = world.create()
    before = changes(world)

    move_experiment(world.platform, experiment.id, experiment.project_id)

    assert changes(world) == before


def test_a_password_is_never_in_a_change(world) -> None:
    user = User(id=0, username="ada", modified_at=world.clock(), password_hash="scrypt$1$2")
    with flow(world.platform) as current:
        user = current.add(user)
        current.change(user, replace(user, password_hash="scrypt$3$4"))

    made, changed = changes(world, "user", user.id)

    assert (made.detail, changed.detail) == ({"username": "ada"}, {"username": "ada", "also": ["password_hash"]})


def test_a_deed_without_a_thing_is_remembered_too(world) -> None:
    with flow(world.platform) as current:
        current.record(Action.CHANGED, "setting", "cluster_message", workspace_id=1, message="hello")

    (change,) = changes(world, "setting")
    assert (change.thing_id, change.workspace_id, change.detail) == ("cluster_message", 1, {"message": "hello"})


def test_a_checkpoint_that_is_reported_twice_came_to_be_once(world) -> None:
    experiment = world.create()
    world.tick()
    trial = world.trials(experiment.id)[0]
    uuid = world.checkpoint(trial, 1)
    with world.platform.store.read() as tx:
        stored = tx.checkpoints.get(uuid)
    from resolute.engine.trials.reports import report_checkpoint

    report_checkpoint(world.platform, stored)

    assert steps(changes(world, "checkpoint", uuid)) == [(Action.CREATED, "", "COMPLETED")]


def test_numbers_of_changes_grow_and_are_never_given_again(world) -> None:
    for _ in range(3):
        world.create()

    numbers = [change.seq for change in changes(world)]

    assert numbers == sorted(set(numbers))


@pytest.mark.parametrize("kind", KINDS.values(), ids=[kind.name for kind in KINDS.values()])
def test_the_fields_that_a_kind_tells_of_are_fields_of_its_things(kind) -> None:
    names = set(kind.of.__dataclass_fields__)

    assert set(kind.about) | set(kind.shown) <= names
    assert not {"password_hash", "token_hash", "config", "storage"} & {*kind.about, *kind.shown}


def test_things_that_cannot_be_found_are_not_removed(world) -> None:
    with pytest.raises(NotFound):
        delete_experiment(world.platform, 99)

    assert changes(world, "experiment") == []
