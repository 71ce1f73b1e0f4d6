"""`/serving/<name>/...` on the master: checked here, answered by the router, streamed both ways."""

import hmac

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from resolute.domain.errors import Forbidden, Unauthenticated, Unavailable
from resolute.engine.deployments import deployment_key, find_deployment
from resolute.engine.fencing import secret_of
from resolute.engine.platform import Platform
from resolute.server.auth import PlatformOf, find_principal
from resolute.server.resource import Resource

router = Resource(tags=["serving"])

_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]


@router.route("/serving/{name}/{path:path}", methods=_METHODS, include_in_schema=False, response_model=None)
async def serve_deployment(name: str, path: str, request: Request, platform: PlatformOf) -> StreamingResponse:
    """Needs a user's token or the deployment's key, unless the deployment is public."""
    await _check(request, platform, name)
    if not platform.traffic.router_url:
        raise Unavailable("The router is not up yet. Try again in a moment.")
    # A web client is slow to import, and a master without deployments never needs one: not at the top.
    from resolute.server.forwarding import forward

    return await forward(request, platform.traffic)


async def _check(request: Request, platform: Platform, name: str) -> None:
    """Whether it exists is told only to those who may know."""
    try:
        principal = await find_principal(request)
    except Unauthenticated:
        if await run_in_threadpool(_is_open_to, platform, name, request.headers.get("authorization", "")):
            return
        raise
    if principal.allocation is not None:
        raise Forbidden("A task's token may not call deployments. Use a user's token, or the deployment's key.")
    await run_in_threadpool(_require, platform, name)


def _require(platform: Platform, name: str) -> None:
    with platform.store.read() as tx:
        find_deployment(tx, name)


def _is_open_to(platform: Platform, name: str, authorization: str) -> bool:
    with platform.store.read() as tx:
        found = [d for d in tx.deployments.all() if d.name == name]
        secret = secret_of(tx) if found else ""
    shown = authorization.partition(" ")[2].strip().encode()
    return any(d.public or hmac.compare_digest(shown, deployment_key(secret, d).encode()) for d in found)
