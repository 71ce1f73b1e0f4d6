"""An allocation: one claim on slots by a task, from the queue to the exit of its processes. Pure."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from resolute.domain.job import DEFAULT_POOL
from resolute.domain.transitions import check_move


class AllocationState(StrEnum):
    QUEUED = "QUEUED"
    SUBMITTED = "SUBMITTED"
    """Handed to an engine that places by itself; which slots it gets is not known yet."""
    ASSIGNED = "ASSIGNED"
    """Slots are reserved; the runner has been asked or is about to be."""
    RUNNING = "RUNNING"
    TERMINATING = "TERMINATING"
    """Told to end: processes are being stopped."""
    TERMINATED = "TERMINATED"


_A = AllocationState
ALLOWED: dict[AllocationState, frozenset[AllocationState]] = {
    _A.QUEUED: frozenset({_A.ASSIGNED, _A.SUBMITTED, _A.TERMINATED}),
    _A.SUBMITTED: frozenset({_A.RUNNING, _A.TERMINATING, _A.TERMINATED, _A.QUEUED}),
    # Back to the queue when a runner could not be reached: nothing started.
    _A.ASSIGNED: frozenset({_A.RUNNING, _A.TERMINATING, _A.TERMINATED, _A.QUEUED}),
    _A.RUNNING: frozenset({_A.TERMINATING, _A.TERMINATED}),
    _A.TERMINATING: frozenset({_A.TERMINATED}),
    _A.TERMINATED: frozenset(),
}
WAITS: frozenset[AllocationState] = frozenset({_A.QUEUED, _A.SUBMITTED})
"""Nothing of it runs: it stands in our queue, or in that of an engine outside."""
HOLDS_SLOTS: frozenset[AllocationState] = frozenset({_A.ASSIGNED, _A.RUNNING, _A.TERMINATING})


@dataclass(frozen=True, slots=True)
class NodeShare:
    """The slots that one allocation holds on one node."""

    node_id: str
    slot_ids: tuple[int, ...]
    address: str = ""
    """Where the node is reached, as an engine outside said. Empty: as the runner lists the node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    id: str
    """`<task id>.<n>`, n from 1."""
    task_id: str
    job_id: str
    state: AllocationState
    changed_at: datetime
    created_at: datetime
    slots_needed: int
    resource_pool: str = DEFAULT_POOL
    trial_id: int | None = None
    run_id: int = 0
    is_preemptible: bool = True
    single_node: bool = False
    excluded_nodes: tuple[str, ...] = ()
    """Where it must not run."""
    shares: tuple[NodeShare, ...] = ()
    handle: str | None = None
    """The runner's native id, for polling, stopping and re-attaching."""
    is_ready: bool = False
    start_time: datetime | None = None
    end_time: datetime | None = None
    preempt_requested_at: datetime | None = None
    """When it was asked to checkpoint and leave."""
    preempt_acked: bool = False
    kill_requested_at: datetime | None = None
    exit_code: int | None = None
    exit_reason: str = ""
    token_hash: str = ""
    ports: tuple[int, ...] = ()
    proxy_address: str = ""
    log_matches: tuple[str, ...] = ()
    """Keys of what its log has set off (`domain.log_policy.LogMatch`)."""

    def moved_to(self, state: AllocationState, *, now: datetime) -> "Allocation":
        check_move(f"Allocation {self.id}", ALLOWED, self.state, state)
        start = now if state is _A.RUNNING else self.start_time
        end = now if state is _A.TERMINATED else None
        return replace(self, state=state, changed_at=now, start_time=start, end_time=end)

    @property
    def holds_slots(self) -> bool:
        return self.state in HOLDS_SLOTS

    @property
    def waits(self) -> bool:
        return self.state in WAITS

    @property
    def was_preempted(self) -> bool:
        """It left because it was asked to, not because its work was done."""
        return self.preempt_requested_at is not None and self.preempt_acked


def node_of_rank(allocation: Allocation, rank: int) -> str:
    """Where a rank runs: ranks count through the slots of the nodes in their order. Empty: it has no nodes yet."""
    left = max(rank, 0)
    for share in allocation.shares:
        if left < max(len(share.slot_ids), 1):
            return share.node_id
        left -= max(len(share.slot_ids), 1)
    return allocation.shares[0].node_id if allocation.shares else ""
