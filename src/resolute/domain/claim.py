"""A claim on slots and what the scheduler decides about it. Values only; `placement` does the thinking."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from resolute.domain.allocation import NodeShare

NO_PRIORITY = 42
"""What a job has when nobody said otherwise."""


class ClaimState(StrEnum):
    QUEUED = "queued"
    HELD = "held"
    """It has slots, whatever its processes are doing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One allocation as the scheduler sees it. All claims of one call belong to one resource pool."""

    allocation_id: str
    job_id: str
    slots: int
    created_at: datetime
    priority: int = NO_PRIORITY
    """1 to 99; the lower number goes first."""
    weight: float = 1.0
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
