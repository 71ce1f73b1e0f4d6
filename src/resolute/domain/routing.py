"""What the router is told: the master writes it as one JSON file, the router reads it. Pure."""

from dataclasses import dataclass, field

from resolute.domain.replica_health import HUNG_AFTER_S, Health


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutedReplica:
    id: str
    """Of its allocation."""
    address: str
    """`host:port`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutedRevision:
    number: int
    replicas: tuple[RoutedReplica, ...] = ()
    timeout_s: float = 60.0
    max_body_bytes: int = 64 << 20
    health_path: str = ""
    """What its replicas are asked again and again; empty: they are not."""
    hung_after_s: float = HUNG_AFTER_S
    busy_s: float = 0.0
    """So much longer for a server that may answer no probes while it works."""
    idempotent: bool = False
    """A request whose replica died may be sent to another one, whatever its method."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutedDeployment:
    id: int
    name: str
    namespace: str = "default"
    split: tuple[tuple[int, float], ...] = ()
    """(revision, percent). Empty: nobody has been ready yet."""
    shadow: int | None = None
    shadow_percent: float = 0.0
    sticky: str = ""
    revisions: tuple[RoutedRevision, ...] = ()
    """Those that have replicas to send to."""
    public: bool = False
    key_hash: str = ""
    wait_s: float = 120.0
    """How long a request waits for a replica."""
    max_body_bytes: int = 64 << 20
    max_waiting_bytes: int = 256 << 20
    """Of all requests that wait for a replica together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingTable:
    version: int = 0
    requires_key: bool = False
    """Callers must show the key of a deployment that is not public."""
    deployments: tuple[RoutedDeployment, ...] = ()


# ------------------------------------------------------------------------------------------------ what it tells back


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionCounts:
    """Since the router started."""

    requests: int = 0
    errors: int = 0
    in_flight: int = 0
    buckets: dict[int, int] = field(default_factory=dict)
    """Answered requests by time, `domain.traffic.bucket_of`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentCounts:
    waiting: int = 0
    asked: int = 0
    """Requests that came in, answered or not."""
    revisions: dict[int, RevisionCounts] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SickReplica:
    health: Health
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterCounts:
    started: str
    """Another value: another router, whose counts began anew."""
    version: int
    """Of the table that it follows."""
    deployments: dict[int, DeploymentCounts] = field(default_factory=dict)
    in_flight: dict[str, int] = field(default_factory=dict)
    """By replica; those with none are left out."""
    sick: dict[str, SickReplica] = field(default_factory=dict)
    """Replicas of the table that get no requests now."""
