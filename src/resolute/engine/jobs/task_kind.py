"""What a kind of task says about itself: one value of `TaskKind`, made in the module of that kind.

The table of all kinds is `engine.jobs.kinds`; how one is added is shown in docs/dev/tasks.md.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from resolute.domain.allocation import Allocation
from resolute.domain.rights import Permission
from resolute.domain.task import Task, TaskType
from resolute.domain.verdict import Exit
from resolute.engine.jobs.gang import Launch
from resolute.engine.jobs.task_moves import end_task
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.ports.runner import Gang
from resolute.engine.unit_of_work import Flow


class Speaks(StrEnum):
    HTTP = "http"
    """And websockets."""
    SSH = "ssh"
    """Bytes, which travel in a websocket. Its key lets somebody in, so a tunnel is opened without signing in, as the
    official client does: whoever holds the key has been let in before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The processes of an allocation have ended."""

    task: Task
    allocation: Allocation
    """As stored: TERMINATED."""
    exit: Exit
    is_final: bool = False
    """Another try would fail the same way: an environment that cannot be built."""


def end_with_processes(flow: Flow, ending: Ending) -> None:
    """A task that has nothing left to do when its processes are gone, however they ended."""
    reason = ending.exit.reason or f"exit code {ending.exit.code}"
    flow.tell(ending.task.id, f"The {ending.task.type.lower()} has ended: {reason}.")
    end_task(flow, ending.task.id)


def _nothing_to_examine(platform: Platform, allocation: Allocation, exit: Exit) -> None:
    return None


def _no_model(platform: Platform, task: Task) -> None:
    return None


def _as_configured(tx: Transaction, task: Task) -> None:
    return None


def _named_by_job(tx: Transaction, task: Task) -> str:
    return tx.jobs.get(task.job_id).name


def _no_names(tx: Transaction, task: Task) -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskKind:
    """Only `type` and `gang` have no default: a task that runs until its processes end needs no more."""

    type: TaskType
    gang: Callable[[Platform, Launch], Gang]
    """What is started. No transaction is open; after a crash it is asked again and must give the same gang."""
    examine: Callable[[Platform, Allocation, Exit], None] = _nothing_to_examine
    """What must be read (a log, say) before its end can be judged. No transaction is open; it may be asked again."""
    ended: Callable[[Flow, Ending], None] = end_with_processes
    """What the end of its processes means, in the transaction in which they end. May queue it again."""
    asks_to_leave: bool = False
    """Its processes ask whether they should leave. Others get SIGTERM when they should."""
    patience_s: Callable[[Transaction, Task], float | None] = _as_configured
    """From being asked to leave to being killed; None: as the master is configured."""
    title: Callable[[Transaction, Task], str] = _named_by_job
    """For people, in lists of what runs."""
    names: Callable[[Transaction, Task], Mapping[str, Any]] = _no_names
    """What it runs for, by the names that paths of the API have for it (`trial_id`). Its token reaches those."""
    view: Permission = Permission.VIEW_NSC
    """What a user needs to see it."""
    model_path: Callable[[Platform, Task], Path | None] = _no_model
    """A trained model on the master's machine that its nodes may fetch."""
    listens: bool = False
    """Requests are sent to the address it reports, so that must be where it was started."""
    enter: Permission | None = Permission.UPDATE_NSC
    """What a user needs to use a task that listens, through `/proxy/<task id>/`: what runs there runs as its owner.
    None: nobody may."""
    speaks: Speaks = Speaks.HTTP
    """What is spoken where it listens."""
