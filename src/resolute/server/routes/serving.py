"""`/serving/<name>/...` on the master: checked here, answered by the router, streamed both ways."""

import hmac

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from resolute.domain import needs
from resolute.domain.data_path import forward_proof, is_for_the_platform, why_ambiguous
from resolute.domain.deployment import Deployment
from resolute.domain.errors import Forbidden, InvalidInput, NotFound, Unauthenticated, Unavailable
from resolute.domain.rights import Permission
from resolute.engine.deployments.deployments import deployment_key, find_deployment
from resolute.engine.jobs.fencing import secret_of
from resolute.engine.platform import Platform
from resolute.server.auth import PlatformOf, Principal, find_principal
from resolute.server.resource import Resource

router = Resource(tags=["serving"])

_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]


@router.route(
    "/serving/{name}/{path:path}",
    methods=_METHODS,
    needs=needs.CHECKED_INSIDE,
    include_in_schema=False,
    response_model=None,
)
async def serve_deployment(name: str, path: str, request: Request, platform: PlatformOf) -> StreamingResponse:
    """Needs a user's token or the deployment's key, unless the deployment is public."""
    raw = _checked_path(request, name)
    deployment = await _check(request, platform, name)
    if not platform.traffic.router_url:
        raise Unavailable("The router is not up yet. Try again in a moment.")
    # A web client is slow to import, and a master without deployments never needs one: not at the top.
    from resolute.server.forwarding import forward

    proof = forward_proof(platform.traffic.forward_token, deployment.id)
    return await forward(request, platform.traffic, path=raw, proof=proof)


def _checked_path(request: Request, name: str) -> str:
    """The path as the router will get it. What is decided about `name` must hold for every later reader of it."""
    raw: str = request.scope["raw_path"].partition(b"?")[0].decode("latin-1")
    why = why_ambiguous(raw)
    if not why and not raw.startswith(f"/serving/{name}/"):
        why = "the deployment's name is escaped"
    if why:
        raise InvalidInput(f"The path {raw[:200]!r} is refused: {why}. Write /serving/<name>/... in plain characters.")
    rest = raw.removeprefix(f"/serving/{name}")
    if is_for_the_platform(rest):
        raise NotFound(f"There is nothing at {rest[:200]} of a deployment: it infers, and answers health and metadata.")
    return raw


async def _check(request: Request, platform: Platform, name: str) -> Deployment:
    """Whether it exists is told only to those who may know."""
    try:
        principal = await find_principal(request)
    except Unauthenticated:
        shown = request.headers.get("authorization", "")
        deployment = await run_in_threadpool(_open_to, platform, name, shown)
        if deployment is not None:
            return deployment
        raise
    if principal.allocation is not None:
        raise Forbidden("A task's token may not call deployments. Use a user's token, or the deployment's key.")
    return await run_in_threadpool(_require, platform, principal, name)


def _require(platform: Platform, caller: Principal, name: str) -> Deployment:
    with platform.store.read() as tx:
        caller.check(tx, Permission.VIEW_DEPLOYMENTS, "deployment_name", name)
        return find_deployment(tx, name)


def _open_to(platform: Platform, name: str, authorization: str) -> Deployment | None:
    """The deployment, when it is public or `authorization` shows its key."""
    with platform.store.read() as tx:
        try:
            found = find_deployment(tx, name)
        except NotFound:
            return None
        key = deployment_key(secret_of(tx), found)
    shown = authorization.partition(" ")[2].strip().encode()
    return found if found.public or hmac.compare_digest(shown, key.encode()) else None
