"""A deployment: a name under which revisions of a model answer requests, and how traffic is split. Pure."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from resolute.domain.job import DEFAULT_POOL, DEFAULT_PRIORITY, DEFAULT_WEIGHT
from resolute.domain.transitions import check_move


class RevisionState(StrEnum):
    STARTING = "STARTING"
    """No replica has been ready yet: it gets no traffic."""
    READY = "READY"
    FAILED = "FAILED"
    """Could not be made ready, or was rolled back for its errors; `reason` says why."""
    RETIRED = "RETIRED"
    """Gets no traffic any more; its replicas leave."""


_R = RevisionState
ALLOWED: dict[RevisionState, frozenset[RevisionState]] = {
    _R.STARTING: frozenset({_R.READY, _R.FAILED, _R.RETIRED}),
    _R.READY: frozenset({_R.FAILED, _R.RETIRED}),
    # Rolled back to, or pinned: it has to prove itself again.
    _R.FAILED: frozenset({_R.STARTING}),
    _R.RETIRED: frozenset({_R.STARTING}),
}
SERVED: frozenset[RevisionState] = frozenset({_R.STARTING, _R.READY})
"""States in which a revision has replicas."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaling:
    """How many replicas a revision has. `target` is what one replica should carry of `metric`."""

    min_replicas: int = 1
    """0: down to none when idle; the next request waits for one to start."""
    max_replicas: int = 1
    metric: str = "concurrency"
    """`concurrency` (requests in flight) or `rate` (requests per second)."""
    target: float = 4.0
    window_s: float = 60.0
    idle_s: float = 300.0
    """Without a request for so long, a deployment with `min_replicas: 0` goes down to none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """When a canary is taken back by itself: it has answered enough, and is worse than the stable one by a margin."""

    enabled: bool = True
    min_requests: int = 50
    error_rate_margin: float = 0.05
    """Absolute: 0.05 is five more failures in a hundred."""
    latency_factor: float = 2.0
    """p95 of the canary against the stable one's; 0 leaves latency out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """How a model server of a revision is set up."""

    slots: int = 0
    """Per replica; 0 runs on the processor without claiming a slot."""
    resource_pool: str = DEFAULT_POOL
    priority: int = DEFAULT_PRIORITY
    """Of the deployment's job, from 1 (served first) to 99; the newest revision's is in force."""
    weight: float = DEFAULT_WEIGHT
    """Of the deployment's job, where the scheduler is `fair_share`."""
    max_batch_size: int = 8
    max_batch_delay_ms: float = 5.0
    max_queue: int = 100
    timeout_s: float = 60.0
    max_body_bytes: int = 64 << 20
    startup_timeout_s: float = 120.0
    health_path: str = "/v2/health/ready"
    """What each replica is asked every second; an answer of 500 or more, or none, takes it out of rotation."""
    hung_after_s: float = 0.0
    """Without any answer for so long a replica is killed and replaced. 0: 10 s, and `timeout_s` more for a server of
    the user's own that was never seen to answer a probe while it computes."""
    idempotent: bool = False
    """The model may be asked the same twice: a request that a dying replica may have begun is sent to another one."""
    environment: dict[str, str] = field(default_factory=dict)
    options: dict[str, object] = field(default_factory=dict)
    """Passed to the model: `score_threshold`, `slice_size`, handler settings ..."""
    trusted: bool = False
    """The model's code is the user's own: its processes are not kept from the network and from files."""
    allow_pickle: bool = False
    """Files that run code as they are loaded are loaded."""
    memory_bytes: int = 0
    """Of each model process; 0: as much as the machine has."""
    command: list[str] = field(default_factory=list)
    """A model server of the user's own in place of ours; it reports its address and readiness as ours does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    id: int
    deployment_id: int
    number: int
    """1, 2, 3 ... within the deployment."""
    source: str
    """`model:<name>/<version>`, `checkpoint:<uuid>`, or a path or URL of a model folder or archive."""
    model_version_id: int | None
    checkpoint_uuid: str | None
    serving: Serving
    created_at: datetime
    state: RevisionState = RevisionState.STARTING
    reason: str = ""
    replicas_wanted: int = 0

    def moved_to(self, state: RevisionState, reason: str = "") -> "Revision":
        check_move(f"Revision {self.number}", ALLOWED, self.state, state)
        return replace(self, state=state, reason=reason)

    @property
    def is_served(self) -> bool:
        return self.state in SERVED


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    id: int
    name: str
    """A DNS label: `<name>.<namespace>.<domain>` is its host."""
    namespace: str
    user_id: int
    workspace_id: int
    created_at: datetime
    updated_at: datetime
    stable: int | None = None
    """Number of the revision that traffic goes to. None until the first one is ready."""
    previous: int | None = None
    """The stable revision before the last promotion, for rolling back after it."""
    canary: int | None = None
    canary_percent: int = 0
    shadow: int | None = None
    """Gets a copy of `shadow_percent` of the requests; its answers are counted and dropped."""
    shadow_percent: int = 0
    sticky: str = ""
    """`header:<name>` or `cookie:<name>`: equal values always reach the same revision. Empty: not sticky."""
    scaling: Scaling = Scaling()
    guard: Guard = Guard()
    public: bool = False
    """Answers without a token or key."""
    is_deleted: bool = False
    """Being taken down; the row goes when its last replica has."""

    @property
    def job_id(self) -> str:
        """All its replicas are one job in the queue."""
        return f"deployment.{self.id}"
