"""Kinds of tasks: the documented example is a whole one, and what is asked of a task is answered by its kind."""

import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from resolute.domain.allocation import Allocation, AllocationState
from resolute.domain.job import JobKind
from resolute.domain.task import Task, TaskType
from resolute.engine.jobs.kinds import KINDS, kind_of, names_of, owner_of, title_of
from resolute.engine.jobs.queue import JobUpdate, list_jobs, update_jobs
from resolute.engine.jobs.tasks import TaskRequest, kill, submit_task
from resolute.engine.ports.logs import LogQuery

DOC = Path(__file__).parents[4] / "docs/dev/tasks.md"
MODULE, SUBMISSION = re.findall(r"```python\n(.*?)```", DOC.read_text(), re.DOTALL)


@pytest.fixture
def command() -> Iterator[ModuleType]:
    """The module of the documentation, in the table as it says."""
    module = ModuleType("documented_kind")
    exec(MODULE, module.__dict__)
    before = dict(KINDS)
    KINDS[TaskType.COMMAND] = module.COMMAND
    yield module
    KINDS.clear()
    KINDS.update(before)


@pytest.fixture
def task(world: Any, command: ModuleType) -> Task:
    """Submitted as the documentation says."""
    names: dict[str, Any] = {
        "platform": world.platform,
        "user": world.user,
        "submit_task": submit_task,
        "TaskRequest": TaskRequest,
        "TaskType": TaskType,
    }
    exec(SUBMISSION, names)
    submitted: Task = names["task"]
    return submitted


def allocations(world: Any, task: Task) -> list[Allocation]:
    with world.platform.store.read() as tx:
        found: list[Allocation] = tx.allocations.of_task(task.id)
    return found


def stored(world: Any, task: Task) -> Task:
    with world.platform.store.read() as tx:
        found: Task = tx.tasks.get(task.id)
    return found


def log_of(world: Any, task: Task) -> str:
    return "\n".join(line.text for line in world.platform.logs.read(task.id, LogQuery()))


def test_the_documented_kind_runs_from_the_queue_to_its_end(world: Any, task: Task) -> None:
    waiting = [(view.job.kind, view.job.name) for view in list_jobs(world.platform)]
    world.tick()
    (running,) = allocations(world, task)
    world.runner.finish(running.id, 3)
    world.tick()

    assert waiting == [(JobKind.COMMAND, "look around")]
    assert running.state is AllocationState.RUNNING
    assert world.runner.gang(running.id).entrypoint == ("ls", "-l")
    assert allocations(world, task)[-1].exit_code == 3
    assert stored(world, task).end_time == world.clock()
    assert "The command has ended: exit code 3." in log_of(world, task)
    assert list_jobs(world.platform) == []


def test_every_kind_finds_the_same_variables_and_its_own(world: Any, task: Task) -> None:
    world.create()
    world.tick()

    env = {gang.env["DET_TASK_TYPE"]: gang.env for gang in world.runner.started}
    command, trial = env["COMMAND"], env["TRIAL"]
    shared = {name for name in command if name.startswith(("DET_", "RESOLUTE_"))}
    assert shared <= set(trial)
    assert command["DET_USER"] == trial["DET_USER"] == "determined"
    assert command["DET_TASK_ID"] == task.id
    assert command["GREETING"] == f"hello from {task.id}"
    assert "GREETING" not in trial
    assert "DET_TRIAL_ID" not in command


def test_variables_of_a_user_do_not_replace_those_of_the_platform(world: Any, command: ModuleType) -> None:
    config = {"entrypoint": ["true"], "environment_variables": {"DET_USER": "root", "MINE": "1"}}

    request = TaskRequest(type=TaskType.COMMAND, name="c", workspace_id=1, config=config)
    submit_task(world.platform, request, user=world.user)
    world.tick()

    (gang,) = world.runner.started
    assert (gang.env["DET_USER"], gang.env["MINE"]) == ("determined", "1")


def test_a_task_waits_in_the_queue_with_a_priority_of_its_own(world: Any, task: Task) -> None:
    (view,) = list_jobs(world.platform)

    update_jobs(world.platform, [JobUpdate(job_id=view.job.id, priority=7)])

    assert list_jobs(world.platform)[0].job.priority == 7


def test_killing_a_task_that_runs_ends_it_with_its_processes(world: Any, task: Task) -> None:
    world.tick()

    kill(world.platform, task.id)
    has_ended_at_once = stored(world, task).end_time is not None
    world.tick(2)

    assert not has_ended_at_once
    assert stored(world, task).end_time is not None
    assert allocations(world, task)[-1].state is AllocationState.TERMINATED


def test_killing_a_task_that_waits_ends_it_at_once(world: Any, task: Task) -> None:
    kill(world.platform, task.id)
    kill(world.platform, task.id)

    assert stored(world, task).end_time is not None
    assert list_jobs(world.platform) == []


def test_every_change_of_a_task_is_told_under_its_own_topic(world: Any, task: Task) -> None:
    heard: list[list[AllocationState]] = []
    world.platform.bus.subscribe(f"task/{task.id}", lambda: heard.append([a.state for a in allocations(world, task)]))

    world.tick()
    world.runner.finish(f"{task.id}.1")
    world.tick()

    assert [AllocationState.ASSIGNED] in heard
    assert [AllocationState.RUNNING] in heard
    assert heard[-1] == [AllocationState.TERMINATED]


def test_the_end_of_a_trial_is_told_under_the_topic_of_its_task(world: Any) -> None:
    world.create()
    world.tick()
    trial = world.trial(1)
    heard: list[bool] = []
    world.platform.bus.subscribe(
        f"task/{trial.task_id}", lambda: heard.append(stored(world, trial_task).end_time is not None)
    )
    with world.platform.store.read() as tx:
        trial_task = tx.tasks.get(trial.task_id)

    world.finish(trial)

    assert heard[-1]


def test_nothing_is_published_for_a_trial_that_is_not_there(world: Any, task: Task) -> None:
    heard: list[str] = []
    world.platform.bus.subscribe("trial/None", lambda: heard.append("trial/None"))

    world.tick()
    world.runner.finish(f"{task.id}.1")
    world.tick()

    assert heard == []


def test_a_kind_of_a_later_release_is_refused_and_over(world: Any) -> None:
    request = TaskRequest(type=TaskType.SHELL, name="t", workspace_id=1)

    task = submit_task(world.platform, request, user=world.user)
    world.tick()

    assert stored(world, task).end_time is not None
    assert "this master does not run tasks of that kind" in log_of(world, task)


def test_a_trial_says_what_it_is_called_and_what_it_runs_for(world: Any) -> None:
    world.create()

    with world.platform.store.read() as tx:
        task = tx.tasks.get(world.trial(1).task_id)
        names, title, owner = names_of(tx, task), title_of(tx, task), owner_of(tx, task)

    assert names == {"task_id": task.id, "trial_id": 1, "run_id": 1, "experiment_id": 1}
    assert title == "Trial 1 (Experiment 1)"
    assert (owner.user_id, owner.workspace_id) == (world.user.id, 1)
    assert kind_of(task).asks_to_leave


def test_a_task_without_its_job_belongs_to_who_started_it(world: Any, task: Task) -> None:
    with world.platform.store.write() as tx:
        tx.jobs.remove(task.job_id)

    with world.platform.store.read() as tx:
        owner, title = owner_of(tx, task), title_of(tx, task)

    assert (owner.user_id, owner.workspace_id) == (world.user.id, 1)
    assert title == task.id


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_every_row_of_the_table_stands_under_its_own_type(kind: Any) -> None:
    assert KINDS[kind.type] is kind


@pytest.mark.parametrize("type_", [t for t in TaskType if t not in (TaskType.TRIAL, TaskType.REPLICA)])
def test_every_kind_of_task_that_is_its_own_job_has_the_same_word_in_the_queue(type_: TaskType) -> None:
    assert JobKind(type_) == type_
