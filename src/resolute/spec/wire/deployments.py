"""Messages about deployments: what is served under a name, how traffic is split, and how it goes. Pure."""

from enum import StrEnum

from resolute.domain.job import DEFAULT_POOL, DEFAULT_PRIORITY, DEFAULT_WEIGHT
from resolute.spec.wire.base import JsonObject, Request, Time, Wire


class DeploymentState(StrEnum):
    STARTING = "STATE_STARTING"
    """Nothing has answered yet."""
    READY = "STATE_READY"
    SCALED_TO_ZERO = "STATE_SCALED_TO_ZERO"
    """Idle: the next request starts a replica and waits for it."""
    DEGRADED = "STATE_DEGRADED"
    """It has answered before, and right now fewer replicas are ready than traffic needs."""
    FAILED = "STATE_FAILED"
    """No revision could be made ready; the newest one's reason says why."""
    DELETING = "STATE_DELETING"


class RevisionState(StrEnum):
    STARTING = "STATE_STARTING"
    READY = "STATE_READY"
    FAILED = "STATE_FAILED"
    RETIRED = "STATE_RETIRED"


class ReplicaState(StrEnum):
    QUEUED = "STATE_QUEUED"
    STARTING = "STATE_STARTING"
    READY = "STATE_READY"
    UNHEALTHY = "STATE_UNHEALTHY"
    """Does not answer as it should, and gets no requests; `reason` says why."""
    DRAINING = "STATE_DRAINING"
    """Gets no new requests; it goes when those under way are answered."""
    RESTARTING = "STATE_RESTARTING"
    """Its process ended by itself; another one starts after a pause."""
    STOPPING = "STATE_STOPPING"


class Scaling(Wire):
    min_replicas: int = 1
    max_replicas: int = 1
    metric: str = "concurrency"
    target: float = 4.0
    window_s: float = 60.0
    idle_s: float = 300.0


class Guard(Wire):
    enabled: bool = True
    min_requests: int = 50
    error_rate_margin: float = 0.05
    latency_factor: float = 2.0


class Serving(Wire):
    slots: int = 0
    resource_pool: str = DEFAULT_POOL
    priority: int = DEFAULT_PRIORITY
    weight: float = DEFAULT_WEIGHT
    max_batch_size: int = 8
    max_batch_delay_ms: float = 5.0
    max_queue: int = 100
    timeout_s: float = 60.0
    max_body_bytes: int = 64 << 20
    startup_timeout_s: float = 120.0
    health_path: str = "/v2/health/ready"
    hung_after_s: float = 0.0
    idempotent: bool = False
    environment: dict[str, str] = {}
    options: JsonObject = {}
    trusted: bool = False
    allow_pickle: bool = False
    memory_bytes: int = 0
    command: list[str] = []


class Replica(Wire):
    allocation_id: str = ""
    """Empty while it waits to be restarted."""
    task_id: str
    state: ReplicaState
    address: str = ""
    reason: str = ""


class Revision(Wire):
    number: int
    source: str
    """`model:<name>/<version>`, `checkpoint:<uuid>`, or a path or URL."""
    model_name: str = ""
    model_version: int | None = None
    checkpoint_uuid: str | None = None
    state: RevisionState
    reason: str = ""
    created_at: Time
    traffic_percent: float = 0.0
    """Of the requests that are answered right now; a revision without a ready replica has none."""
    replicas_wanted: int = 0
    replicas_ready: int = 0
    replicas: list[Replica] = []
    serving: Serving = Serving()


class Deployment(Wire):
    id: int
    name: str
    namespace: str = "default"
    workspace_id: int = 1
    username: str = ""
    created_at: Time
    updated_at: Time
    state: DeploymentState
    url: str = ""
    """`http://<router>/serving/<name>`; the master answers under `/serving/<name>` too."""
    host: str = ""
    """`<name>.<namespace>.<domain>`: the Host header under which the router knows it."""
    stable_revision: int | None = None
    previous_revision: int | None = None
    canary_revision: int | None = None
    canary_percent: int = 0
    shadow_revision: int | None = None
    shadow_percent: int = 0
    sticky: str = ""
    public: bool = False
    scaling: Scaling = Scaling()
    guard: Guard = Guard()
    revisions: list[Revision] = []
    """Newest first."""


class GetDeploymentsResponse(Wire):
    deployments: list[Deployment] = []


class GetDeploymentResponse(Wire):
    deployment: Deployment


class PostDeploymentResponse(Wire):
    deployment: Deployment
    api_key: str = ""
    """What callers send as `Authorization: Bearer ...` to the router when it asks for it."""


class DeploymentSource(Request):
    """Exactly one of the three; `serving` is merged over the stable revision's."""

    model: str | None = None
    """`name/version`, or `name` for the newest version."""
    checkpoint_uuid: str | None = None
    model_uri: str | None = None
    """A path or an http(s) URL of a model folder or archive."""
    serving: dict[str, object] = {}


class PostDeploymentRequest(DeploymentSource):
    name: str
    namespace: str = "default"
    scaling: dict[str, object] = {}
    guard: dict[str, object] = {}
    sticky: str = ""
    public: bool = False
    workspace_id: int = 1
    replace: bool = False
    """The name may exist: it is updated to this model, without a pause."""


class PatchDeploymentRequest(Request):
    """What is left out stays as it is."""

    scaling: dict[str, object] | None = None
    guard: dict[str, object] | None = None
    sticky: str | None = None
    public: bool | None = None


class CanaryRequest(DeploymentSource):
    """Without a source: the share of the canary that is running changes."""

    percent: int


class ShadowRequest(DeploymentSource):
    """Without a source: the share of the shadow that is running changes."""

    percent: int = 100


class PinRequest(Request):
    revision: int


class TrafficPoint(Wire):
    time: Time
    revision: int
    requests: int = 0
    errors: int = 0
    p50_ms: float | None = None
    p95_ms: float | None = None
    p99_ms: float | None = None
    in_flight: int = 0


class GetDeploymentStatsResponse(Wire):
    points: list[TrafficPoint] = []
    """In the order of time; a revision without requests in a step has no point there."""
    step_s: int = 1
    recent: list[TrafficPoint] = []
    """One a revision, over all of the last `recent_s`: percentiles of steps cannot be added up, these are counted."""
    recent_s: int = 30
