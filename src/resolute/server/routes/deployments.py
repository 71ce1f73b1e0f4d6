"""Deployments: what is served under a name, and its roll-outs."""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated

from fastapi import Query

from resolute.domain import needs
from resolute.domain.deployment import Deployment, Serving
from resolute.domain.errors import NotFound
from resolute.domain.rights import Permission
from resolute.engine.deployments import deployments as engine
from resolute.engine.deployments.models import SourceSpec, registered_name
from resolute.engine.deployments.replicas import replicas_of_deployments, seen_by_router
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.server.auth import Caller, PlatformOf, Principal
from resolute.server.resource import Resource
from resolute.server.shapes.deployments import DeploymentView, deployment_message, point_message
from resolute.spec import deployment as spec
from resolute.spec.wire import deployments as wire
from resolute.spec.wire.base import Empty

router = Resource(prefix="/api/v1/deployments", tags=["deployments"])

Namespace = Annotated[str | None, Query(description="Left out: `default`, else wherever the name is the only one.")]
_FINE_S = 300
_RECENT_S = 30


@router.get("", needs=needs.VIEW_DEPLOYMENT.listed)
def get_deployments(
    platform: PlatformOf,
    caller: Caller,
    workspace_id: Annotated[int | None, Query(alias="workspaceId")] = None,
    model_version_id: Annotated[int | None, Query(alias="modelVersionId")] = None,
) -> wire.GetDeploymentsResponse:
    """Oldest first. `modelVersionId`: those that serve, or served, that version."""
    with platform.store.read() as tx:
        found = tx.deployments.all(visible_in=caller.workspaces(Permission.VIEW_DEPLOYMENTS))
        if workspace_id is not None:
            found = [d for d in found if d.workspace_id == workspace_id]
        if model_version_id is not None:
            using = {r.deployment_id for r in tx.deployments.of_model_version(model_version_id)}
            found = [d for d in found if d.id in using]
        return wire.GetDeploymentsResponse(deployments=_messages(platform, tx, found))


@router.post("", needs=needs.EDIT_DEPLOYMENT.in_body)
def post_deployment(
    body: wire.PostDeploymentRequest, platform: PlatformOf, caller: Caller
) -> wire.PostDeploymentResponse:
    with platform.store.read() as tx:
        caller.check(tx, Permission.EDIT_DEPLOYMENTS, "workspace_id", body.workspace_id)
        if body.replace and tx.deployments.find(body.name, body.namespace) is not None:
            beside = {"namespace": body.namespace}
            caller.check(tx, Permission.EDIT_DEPLOYMENTS, "deployment_name", body.name, beside)
    made, key = engine.create_deployment(
        platform,
        name=spec.check_label(body.name),
        namespace=spec.check_label(body.namespace, "namespace"),
        user_id=caller.user.id,
        workspace_id=body.workspace_id,
        source=_source(platform, caller, body),
        serving=_serving(body),
        scaling=spec.scaling_of(body.scaling),
        guard=spec.guard_of(body.guard),
        sticky=spec.check_sticky(body.sticky),
        public=body.public,
        replace_existing=body.replace,
    )
    return wire.PostDeploymentResponse(deployment=_show(platform, made), api_key=key)


@router.get("/{deployment_name}", needs=needs.VIEW_DEPLOYMENT)
def get_deployment(
    deployment_name: str, platform: PlatformOf, namespace: Namespace = None
) -> wire.GetDeploymentResponse:
    with platform.store.read() as tx:
        found = engine.find_deployment(tx, deployment_name, namespace)
    return wire.GetDeploymentResponse(deployment=_show(platform, found))


@router.patch("/{deployment_name}", needs=needs.EDIT_DEPLOYMENT)
def patch_deployment(
    deployment_name: str, body: wire.PatchDeploymentRequest, platform: PlatformOf, namespace: Namespace = None
) -> wire.GetDeploymentResponse:
    """Scaling, guard, stickiness, who may call. Sections are merged key by key."""

    def change(deployment: Deployment) -> Deployment:
        return replace(
            deployment,
            scaling=spec.scaling_of(body.scaling or {}, deployment.scaling),
            guard=spec.guard_of(body.guard or {}, deployment.guard),
            sticky=deployment.sticky if body.sticky is None else spec.check_sticky(body.sticky),
            public=deployment.public if body.public is None else body.public,
        )

    return _answer(platform, engine.patch_deployment(platform, deployment_name, change, namespace=namespace))


@router.delete("/{deployment_name}", needs=needs.DELETE_DEPLOYMENT)
def delete_deployment(deployment_name: str, platform: PlatformOf, namespace: Namespace = None) -> Empty:
    """No new requests from now on; it is gone when those under way are answered."""
    engine.delete_deployment(platform, deployment_name, namespace=namespace)
    return Empty()


@router.post("/{deployment_name}/update", needs=needs.EDIT_DEPLOYMENT)
def update_deployment(
    deployment_name: str, body: wire.DeploymentSource, platform: PlatformOf, caller: Caller, namespace: Namespace = None
) -> wire.GetDeploymentResponse:
    """To another model, without a pause."""
    done = engine.update_deployment(
        platform, deployment_name, _source(platform, caller, body), _serving(body), namespace=namespace
    )
    return _answer(platform, done)


@router.post("/{deployment_name}/canary", needs=needs.EDIT_DEPLOYMENT)
def start_canary(
    deployment_name: str, body: wire.CanaryRequest, platform: PlatformOf, caller: Caller, namespace: Namespace = None
) -> wire.GetDeploymentResponse:
    """A share of the requests to another model; without one, the running canary's share changes."""
    percent = spec.check_percent(body.percent)
    done = engine.start_canary(
        platform, deployment_name, percent, _source(platform, caller, body), _serving(body), namespace=namespace
    )
    return _answer(platform, done)


@router.post("/{deployment_name}/promote", needs=needs.EDIT_DEPLOYMENT)
def promote_canary(
    deployment_name: str, platform: PlatformOf, namespace: Namespace = None
) -> wire.GetDeploymentResponse:
    return _answer(platform, engine.promote_canary(platform, deployment_name, namespace=namespace))


@router.post("/{deployment_name}/rollback", needs=needs.EDIT_DEPLOYMENT)
def roll_back_deployment(
    deployment_name: str, platform: PlatformOf, namespace: Namespace = None
) -> wire.GetDeploymentResponse:
    """Give up the canary or the update under way, else go back to the revision before the last promotion."""
    return _answer(platform, engine.roll_back(platform, deployment_name, namespace=namespace))


@router.post("/{deployment_name}/pin", needs=needs.EDIT_DEPLOYMENT)
def pin_revision(
    deployment_name: str, body: wire.PinRequest, platform: PlatformOf, namespace: Namespace = None
) -> wire.GetDeploymentResponse:
    return _answer(platform, engine.pin_revision(platform, deployment_name, body.revision, namespace=namespace))


@router.post("/{deployment_name}/shadow", needs=needs.EDIT_DEPLOYMENT)
def start_shadow(
    deployment_name: str, body: wire.ShadowRequest, platform: PlatformOf, caller: Caller, namespace: Namespace = None
) -> wire.GetDeploymentResponse:
    """Copies of a share of the requests to another model, whose answers are counted and dropped."""
    percent = spec.check_percent(body.percent)
    done = engine.start_shadow(
        platform, deployment_name, percent, _source(platform, caller, body), _serving(body), namespace=namespace
    )
    return _answer(platform, done)


@router.delete("/{deployment_name}/shadow", needs=needs.EDIT_DEPLOYMENT)
def stop_shadow(deployment_name: str, platform: PlatformOf, namespace: Namespace = None) -> wire.GetDeploymentResponse:
    return _answer(platform, engine.stop_shadow(platform, deployment_name, namespace=namespace))


@router.get("/{deployment_name}/stats", needs=needs.VIEW_DEPLOYMENT)
def get_deployment_stats(
    deployment_name: str,
    platform: PlatformOf,
    seconds: Annotated[int, Query(ge=1, le=3600)] = 300,
    namespace: Namespace = None,
) -> wire.GetDeploymentStatsResponse:
    """What the router counted over the last `seconds`, of each revision."""
    with platform.store.read() as tx:
        deployment = engine.find_deployment(tx, deployment_name, namespace)
    step_s = 1 if seconds <= _FINE_S else 10
    now = platform.clock()
    points = platform.traffic.points(deployment.id, now=now, seconds=seconds, step_s=step_s)
    recent = platform.traffic.recent(deployment.id, now=now, seconds=_RECENT_S)
    return wire.GetDeploymentStatsResponse(
        points=[point_message(point) for point in points],
        step_s=step_s,
        recent=[point_message(point) for point in recent],
        recent_s=_RECENT_S,
    )


# ---------------------------------------------------------------------------------------------------------- shared


def _source(platform: Platform, caller: Principal, body: wire.DeploymentSource) -> SourceSpec:
    """What the body names, if the caller may see it."""
    with platform.store.read() as tx:
        if body.model:
            caller.check(tx, Permission.VIEW_MODEL_REGISTRY, "model_name", registered_name(body.model))
        if body.checkpoint_uuid:
            caller.check(tx, Permission.VIEW_EXPERIMENT_ARTIFACTS, "checkpoint_uuid", body.checkpoint_uuid)
    return SourceSpec(model=body.model, checkpoint_uuid=body.checkpoint_uuid, model_uri=body.model_uri)


def _serving(body: wire.DeploymentSource) -> Callable[[Serving], Serving]:
    given: dict[str, object] = body.serving
    return lambda base: spec.serving_of(given, base)


def _answer(platform: Platform, deployment: Deployment) -> wire.GetDeploymentResponse:
    return wire.GetDeploymentResponse(deployment=_show(platform, deployment))


def _show(platform: Platform, deployment: Deployment) -> wire.Deployment:
    with platform.store.read() as tx:
        return _messages(platform, tx, [tx.deployments.get(deployment.id)])[0]


def _messages(platform: Platform, tx: Transaction, found: list[Deployment]) -> list[wire.Deployment]:
    replicas = replicas_of_deployments(tx) if found else {}
    users = {user.id: user.username for user in tx.users.all()}
    messages = []
    for deployment in found:
        revisions = tx.deployments.revisions(deployment.id)
        messages.append(
            deployment_message(
                DeploymentView(
                    deployment=deployment,
                    revisions=revisions,
                    replicas=[seen_by_router(platform, each) for each in replicas.get(deployment.id, [])],
                    username=users.get(deployment.user_id, ""),
                    router_url=platform.traffic.router_url,
                    models=_models(tx, [r.model_version_id for r in revisions]),
                )
            )
        )
    return messages


def _models(tx: Transaction, version_ids: list[int | None]) -> dict[int, tuple[str, int]]:
    found = {}
    for version_id in {i for i in version_ids if i is not None}:
        try:
            version = tx.models.version_by_id(version_id)
            found[version_id] = (tx.models.get(version.model_id).name, version.version)
        except NotFound:
            continue
    return found
