"""Deployments as messages."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from resolute.domain.deployment import Deployment, Revision, RevisionState
from resolute.domain.replica import Replica, ReplicaState
from resolute.domain.rollout import traffic
from resolute.engine.deployments.traffic import Point
from resolute.spec.wire import deployments as wire

DOMAIN = "resolute.local"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentView:
    deployment: Deployment
    revisions: Sequence[Revision]
    """Newest first."""
    replicas: Sequence[Replica]
    username: str = ""
    router_url: str = ""
    models: Mapping[int, tuple[str, int]] | None = None
    """Model version id to (model's name, version)."""


def deployment_message(view: DeploymentView) -> wire.Deployment:
    deployment = view.deployment
    return wire.Deployment(
        id=deployment.id,
        name=deployment.name,
        namespace=deployment.namespace,
        workspace_id=deployment.workspace_id,
        username=view.username,
        created_at=deployment.created_at,
        updated_at=deployment.updated_at,
        state=deployment_state(view),
        url=f"{view.router_url}/serving/{deployment.name}" if view.router_url else "",
        host=f"{deployment.name}.{deployment.namespace}.{DOMAIN}",
        stable_revision=deployment.stable,
        previous_revision=deployment.previous,
        canary_revision=deployment.canary,
        canary_percent=deployment.canary_percent,
        shadow_revision=deployment.shadow,
        shadow_percent=deployment.shadow_percent,
        sticky=deployment.sticky,
        public=deployment.public,
        scaling=wire.Scaling(**asdict(deployment.scaling)),
        guard=wire.Guard(**asdict(deployment.guard)),
        revisions=[_revision(view, revision) for revision in view.revisions],
    )


_SHORT = frozenset({ReplicaState.RESTARTING, ReplicaState.UNHEALTHY})


def deployment_state(view: DeploymentView) -> wire.DeploymentState:
    deployment = view.deployment
    if deployment.is_deleted:
        return wire.DeploymentState.DELETING
    stable = next((r for r in view.revisions if r.number == deployment.stable), None)
    if stable is None:
        is_trying = any(r.is_served for r in view.revisions)
        return wire.DeploymentState.STARTING if is_trying else wire.DeploymentState.FAILED
    own = [r for r in view.replicas if r.revision == stable.number and not r.is_leaving]
    if not own and stable.replicas_wanted == 0 and stable.state is RevisionState.READY:
        return wire.DeploymentState.SCALED_TO_ZERO
    is_short = not any(r.is_ready for r in own) or any(r.state in _SHORT for r in own)
    return wire.DeploymentState.DEGRADED if is_short else wire.DeploymentState.READY


def _revision(view: DeploymentView, revision: Revision) -> wire.Revision:
    replicas = [r for r in view.replicas if r.revision == revision.number]
    shares = dict(traffic(view.deployment, view.revisions, view.replicas))
    ready = sum(r.is_ready for r in replicas)
    name, version = (view.models or {}).get(revision.model_version_id or 0, ("", None))
    return wire.Revision(
        number=revision.number,
        source=revision.source,
        model_name=name,
        model_version=version,
        checkpoint_uuid=revision.checkpoint_uuid,
        state=wire.RevisionState(f"STATE_{revision.state}"),
        reason=revision.reason,
        created_at=revision.created_at,
        traffic_percent=shares.get(revision.number, 0.0) if ready else 0.0,
        replicas_wanted=revision.replicas_wanted,
        replicas_ready=ready,
        replicas=[_replica(each) for each in replicas],
        serving=wire.Serving(**asdict(revision.serving)),
    )


def _replica(replica: Replica) -> wire.Replica:
    return wire.Replica(
        allocation_id=replica.allocation_id,
        task_id=replica.task_id,
        state=wire.ReplicaState(f"STATE_{replica.state}"),
        address=replica.address,
        reason=replica.reason,
    )


def point_message(point: Point) -> wire.TrafficPoint:
    return wire.TrafficPoint(
        time=point.time,
        revision=point.revision,
        requests=point.requests,
        errors=point.errors,
        p50_ms=_ms(point.p50_s),
        p95_ms=_ms(point.p95_s),
        p99_ms=_ms(point.p99_s),
        in_flight=point.in_flight,
    )


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 3)
