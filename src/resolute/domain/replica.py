"""A replica: one model server of a revision, over all the processes it has had. Pure."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from resolute.domain.replica_health import Health


class ReplicaState(StrEnum):
    QUEUED = "QUEUED"
    STARTING = "STARTING"
    READY = "READY"
    UNHEALTHY = "UNHEALTHY"
    """Was ready, and does not answer as it should: the router sends it nothing."""
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
    """How its last process ended, or why it is unhealthy."""
    is_hung: bool = False
    """It has said nothing for so long that nobody expects it to: it is killed and replaced."""
    is_drained: bool = False
    """The router has let go of it and nothing is under way there."""

    @property
    def is_leaving(self) -> bool:
        return self.state in LEAVING

    @property
    def is_ready(self) -> bool:
        return self.state is ReplicaState.READY

    def found_sick(self, health: Health, reason: str) -> "Replica":
        """What the router found of it lies over what is stored; for one that said it was ready."""
        return replace(self, state=ReplicaState.UNHEALTHY, reason=reason, is_hung=health is Health.HUNG)

    def not_proven(self, reason: str) -> "Replica":
        """It said that it was ready, and has not answered yet: that lies over what is stored."""
        return replace(self, state=ReplicaState.STARTING, reason=reason)

    @property
    def is_routed(self) -> bool:
        """The router knows it, and decides by itself whether to send it anything."""
        return self.state in (ReplicaState.READY, ReplicaState.UNHEALTHY)
