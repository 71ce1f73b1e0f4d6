"""A job: what stands in the queue. Whoever wants slots (an experiment, a deployment, a notebook) points to one. Pure.

The scheduler and the queue read jobs and allocations only; what the slots are for is none of their business.
A job is in the queue while one of its tasks has, or waits for, slots.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

DEFAULT_POOL = "default"
DEFAULT_PRIORITY = 42
"""What a job has when nobody said otherwise; 1 is served first, 99 last."""
DEFAULT_WEIGHT = 1.0


class JobKind(StrEnum):
    EXPERIMENT = "EXPERIMENT"
    NOTEBOOK = "NOTEBOOK"
    TENSORBOARD = "TENSORBOARD"
    SHELL = "SHELL"
    COMMAND = "COMMAND"
    GENERIC = "GENERIC"
    DEPLOYMENT = "DEPLOYMENT"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    id: str
    kind: JobKind
    name: str
    entity_id: str
    """What it is the job of: an experiment's id, a deployment's name, a task's id."""
    user_id: int
    workspace_id: int
    submitted_at: datetime
    queue_position: float
    """Order among jobs of one priority: the lower number goes first."""
    resource_pool: str = DEFAULT_POOL
    priority: int = DEFAULT_PRIORITY
    weight: float = DEFAULT_WEIGHT
    """Share of the pool beside other jobs, where the scheduler is `fair_share`."""
    max_slots: int | None = None
    """Most slots that all its tasks may hold together."""


def title_of_job(job: Job) -> str:
    """For people, in the middle of a sentence."""
    if job.kind is JobKind.EXPERIMENT:
        return f"experiment {job.entity_id} ({job.name})"
    return f"{job.kind.lower()} {job.name}"
