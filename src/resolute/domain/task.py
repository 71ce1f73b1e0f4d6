"""A task: anything that occupies slots and writes a log. A trial is one kind. Pure."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class TaskType(StrEnum):
    TRIAL = "TRIAL"
    NOTEBOOK = "NOTEBOOK"
    TENSORBOARD = "TENSORBOARD"
    SHELL = "SHELL"
    COMMAND = "COMMAND"
    GENERIC = "GENERIC"
    REPLICA = "REPLICA"
    """A model server of a deployment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    id: str
    type: TaskType
    job_id: str
    start_time: datetime
    end_time: datetime | None = None
    user_id: int | None = None
    workspace_id: int = 1
    config: dict[str, Any] | None = None
    context_id: str | None = None
    draining_since: datetime | None = None
    """From then on it takes no new work; it ends when what it has is done."""
    parent_id: str | None = None
    """The task that started it: both are paused, resumed and killed together."""
    forked_from: str | None = None
    is_pausable: bool = True
    paused_at: datetime | None = None
    """It gives back its slots and waits until somebody resumes it."""
