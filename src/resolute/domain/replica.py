"""A replica: one model server of a revision, over all the processes it has had. Pure."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class ReplicaState(StrEnum):
    QUEUED = "QUEUED"
    STARTING = "STARTING"
    READY = "READY"
    DRAINING = "DRAINING"
    """Gets no new requests; it goes when those under way are answered."""
    RESTARTING = "RESTARTING"
    """Its process ended by itself; another one starts after a pause."""
    STOPPING = "STOPPING"


LEAVING: frozenset[ReplicaState] = frozenset({ReplicaState.DRAINING, ReplicaState.STOPPING})


@dataclass(frozen=True, slots=True, kw_only=True)
class Replica:
    task_id: str
    revision: int
    state: ReplicaState
    since: datetime
    """When this state began; for one that is starting, when its process did."""
    allocation_id: str = ""
    address: str = ""
    failures: int = 0
    """Processes in a row that ended without having been ready."""
    reason: str = ""
    """How its last process ended."""
    is_drained: bool = False
    """The router has let go of it and nothing is under way there."""

    @property
    def is_leaving(self) -> bool:
        return self.state in LEAVING

    @property
    def is_ready(self) -> bool:
        return self.state is ReplicaState.READY
