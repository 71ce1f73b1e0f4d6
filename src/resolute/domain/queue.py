"""The job queue: who is ahead of whom, and how a job is moved. Pure; callers store what comes out.

A position is a float, so that a job goes between two others without touching either. Moving next to a job of another
priority takes on that priority: otherwise "ahead of" would not be true.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from resolute.domain.errors import InvalidInput, NotFound
from resolute.domain.job import Job

HIGHEST_PRIORITY = 1
LOWEST_PRIORITY = 99
STEP = 1.0
"""Distance between neighbours when there is nobody beyond."""


def in_order(jobs: Sequence[Job]) -> list[Job]:
    """First to run first; of two that came at the same instant the one with the lower number."""
    return sorted(jobs, key=lambda j: (j.priority, j.queue_position, j.submitted_at, len(j.entity_id), j.entity_id))


def move_ahead_of(jobs: Sequence[Job], job_id: str, anchor_id: str) -> list[Job]:
    """`job_id` directly ahead of `anchor_id`. Returns the jobs that changed: normally one, or every job of that
    priority when there was no number left between two neighbours."""
    return _move(jobs, job_id, anchor_id, is_ahead=True)


def move_behind(jobs: Sequence[Job], job_id: str, anchor_id: str) -> list[Job]:
    """`job_id` directly behind `anchor_id`; otherwise as `move_ahead_of`."""
    return _move(jobs, job_id, anchor_id, is_ahead=False)


def check_priority(priority: int) -> int:
    if HIGHEST_PRIORITY <= priority <= LOWEST_PRIORITY:
        return priority
    raise InvalidInput(
        f"Priority {priority} is out of range. Give a number from {HIGHEST_PRIORITY} (first) to {LOWEST_PRIORITY}."
    )


def check_weight(weight: float) -> float:
    if 0 < weight < math.inf:
        return weight
    raise InvalidInput(f"Weight {weight} is out of range. Give a number greater than 0.")


def _move(jobs: Sequence[Job], job_id: str, anchor_id: str, *, is_ahead: bool) -> list[Job]:
    job, anchor = _find(jobs, job_id), _find(jobs, anchor_id)
    if job is anchor:
        raise InvalidInput(f"Job {job_id} cannot be moved next to itself. Name another job of the queue.")
    peers = [j for j in in_order(jobs) if j.priority == anchor.priority and j is not job]
    at = peers.index(anchor) + (0 if is_ahead else 1)
    before = peers[at - 1].queue_position if at > 0 else None
    after = peers[at].queue_position if at < len(peers) else None
    position = _between(before, after)
    if position is not None:
        return [replace(job, priority=anchor.priority, queue_position=position)]
    lined_up = [*peers[:at], replace(job, priority=anchor.priority), *peers[at:]]
    return [replace(j, queue_position=n * STEP) for n, j in enumerate(lined_up, 1)]


def _find(jobs: Sequence[Job], job_id: str) -> Job:
    for job in jobs:
        if job.id == job_id:
            return job
    raise NotFound(f"Job {job_id} is not in the queue. List the queue to see which jobs are.")


def _between(before: float | None, after: float | None) -> float | None:
    """A number strictly between; None when floating point has none left (or neighbours share a position)."""
    if before is None:
        return 0.0 if after is None else after - STEP
    if after is None:
        return before + STEP
    middle = before + (after - before) / 2
    return middle if before < middle < after else None
