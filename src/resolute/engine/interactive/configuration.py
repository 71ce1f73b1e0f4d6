"""The stored configuration of a task that somebody started."""

from typing import Any

from resolute.domain.task import Task
from resolute.spec.task import TaskConfig, reparse_task

SPEC = "spec"
"""Where the resolved configuration stands in a stored task's own document, beside what only its kind needs."""


def spec_of(task: Task) -> dict[str, Any]:
    """The configuration as it is stored."""
    return dict((task.config or {}).get(SPEC) or {})


def config_of(task: Task) -> TaskConfig:
    return reparse_task(spec_of(task))
