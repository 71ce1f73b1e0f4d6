"""A claim on slots and what the scheduler decides about it. Values only; `placement` does the thinking."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from resolute.domain.allocation import Allocation, AllocationState, NodeShare
from resolute.domain.job import DEFAULT_PRIORITY, DEFAULT_WEIGHT, Job
from resolute.domain.waiting import Wait


class ClaimState(StrEnum):
    QUEUED = "queued"
    SUBMITTED = "submitted"
    """The engine of a delegating pool has it, and has not said where it goes."""
    HELD = "held"
    """It has slots, whatever its processes are doing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One allocation as the scheduler sees it. All claims of one call belong to one resource pool."""

    allocation_id: str
    job_id: str
    slots: int
    created_at: datetime
    priority: int = DEFAULT_PRIORITY
    """1 to 99; the lower number goes first."""
    weight: float = DEFAULT_WEIGHT
    max_slots: int | None = None
    """Most slots that all claims of the job may hold together."""
    queue_position: float = 0.0
    is_preemptible: bool = True
    single_node: bool = False
    excluded_nodes: tuple[str, ...] = ()
    state: ClaimState = ClaimState.QUEUED
    shares: tuple[NodeShare, ...] = ()
    is_leaving: bool = False
    """Already asked to give its slots back; they are on their way."""


@dataclass(frozen=True, slots=True)
class Decision:
    assign: tuple[tuple[str, tuple[NodeShare, ...]], ...] = ()
    """Allocation ids and the slots they get, most important first."""
    preempt: tuple[str, ...] = ()
    """Allocation ids to be asked to leave. Nothing here is already leaving."""
    waiting: Mapping[str, Wait] = field(default_factory=dict, compare=False)
    """Why each of the others waits, by allocation id: what was decided is who starts and who leaves."""


def claims_by_pool(jobs: Iterable[Job], allocations: Iterable[Allocation]) -> dict[str, list[Claim]]:
    """Every allocation as the scheduler sees it: what it asks for itself, and how its job stands in the queue."""
    known = {job.id: job for job in jobs}
    claims: dict[str, list[Claim]] = {}
    for allocation in allocations:
        claims.setdefault(allocation.resource_pool, []).append(_claim(allocation, known[allocation.job_id]))
    return claims


def _claim(allocation: Allocation, job: Job) -> Claim:
    return Claim(
        allocation_id=allocation.id,
        job_id=allocation.job_id,
        slots=allocation.slots_needed,
        priority=job.priority,
        weight=job.weight,
        max_slots=job.max_slots,
        queue_position=job.queue_position,
        created_at=allocation.created_at,
        is_preemptible=allocation.is_preemptible,
        single_node=allocation.single_node,
        excluded_nodes=allocation.excluded_nodes,
        state=_state(allocation),
        shares=allocation.shares,
        is_leaving=allocation.preempt_requested_at is not None or allocation.kill_requested_at is not None,
    )


def _state(allocation: Allocation) -> ClaimState:
    if allocation.state is AllocationState.SUBMITTED:
        return ClaimState.SUBMITTED
    return ClaimState.HELD if allocation.holds_slots else ClaimState.QUEUED
