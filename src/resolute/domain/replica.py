"""A replica: one model server of a revision, over all the processes it has had. Pure."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from ipaddress import ip_address

from resolute.domain.errors import InvalidInput
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


LAST_PORT = 65535

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


def address_parts(address: str) -> tuple[str, int]:
    """Host and port of `host:port`; an IPv6 host stands in brackets. Raises InvalidInput."""
    host, _, port = address.rpartition(":")
    is_bracketed = host.startswith("[") and host.endswith("]")
    bare = host[1:-1] if is_bracketed else host
    is_number = port.isascii() and port.isdigit() and len(port) <= 5 and 0 < int(port) <= LAST_PORT
    is_host = (
        is_bracketed if ":" in bare else bool(bare) and all(c.isascii() and (c.isalnum() or c in ".-") for c in bare)
    )
    if not (is_number and is_host) or (is_bracketed and not _is_ip(bare)):
        raise InvalidInput(
            f"{address[:100]!r} is not an address of a model server. Send host:port, for example 127.0.0.1:8000."
        )
    return bare, int(port)


def check_address(address: str, *, node_addresses: Collection[str]) -> None:
    """Raises InvalidInput unless it is on the node on which the platform started the replica. Loopback is the master's
    own: a replica on another machine is not there, but something else may be."""
    host, _ = address_parts(address)
    is_here = not node_addresses or any(map(_is_loopback, node_addresses))
    if host in node_addresses or (is_here and _is_loopback(host)):
        return
    places = ", ".join(dict.fromkeys([*(("127.0.0.1",) if is_here else ()), *node_addresses]))
    raise InvalidInput(f"A model server at {address!r} is not where it was started. Listen on one of: {places}.")


def _is_loopback(host: str) -> bool:
    return host == "localhost" or (_is_ip(host) and ip_address(host).is_loopback)


def _is_ip(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
