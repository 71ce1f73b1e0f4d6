"""`/serving/<name>/...` on the master: checked here, answered by the router, streamed both ways."""

import asyncio
import hmac
from collections.abc import AsyncIterator

import httpx
from fastapi import APIRouter, Request
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from resolute.domain.errors import Forbidden, Unauthenticated, Unavailable
from resolute.engine.deployments import deployment_key, find_deployment
from resolute.engine.fencing import secret_of
from resolute.engine.platform import Platform
from resolute.server.auth import PlatformOf, find_principal

router = APIRouter(tags=["serving"])

_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
_NOT_PASSED_ON = frozenset(
    {"connection", "keep-alive", "transfer-encoding", "upgrade", "te", "trailer", "authorization", "cookie", "host"}
)
_TIMEOUT = httpx.Timeout(None, connect=5.0)


@router.api_route("/serving/{name}/{path:path}", methods=_METHODS, include_in_schema=False, response_model=None)
async def serve_deployment(name: str, path: str, request: Request, platform: PlatformOf) -> StreamingResponse:
    """Needs a user's token or the deployment's key, unless the deployment is public."""
    await _check(request, platform, name)
    if not platform.traffic.router_url:
        raise Unavailable("The router is not up yet. Try again in a moment.")
    return await _forward(_client(request), request, platform)


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


def _client(request: Request) -> httpx.AsyncClient:
    """One for the server's life. Its connections belong to the event loop in which it was made."""
    state, loop = request.app.state, asyncio.get_running_loop()
    known: tuple[asyncio.AbstractEventLoop, httpx.AsyncClient] | None = getattr(state, "router_client", None)
    if known is not None and known[0] is loop:
        return known[1]
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=100)
    client = httpx.AsyncClient(timeout=_TIMEOUT, limits=limits, trust_env=False)
    state.router_client = (loop, client)
    return client


async def _forward(client: httpx.AsyncClient, request: Request, platform: Platform) -> StreamingResponse:
    headers = [(k, v) for k, v in request.headers.raw if k.decode().lower() not in _NOT_PASSED_ON]
    headers.append((b"x-resolute-forwarded", platform.traffic.forward_token.encode()))
    url = platform.traffic.router_url + request.scope["raw_path"].decode()
    query = request.scope["query_string"].decode()
    has_body = request.method not in ("GET", "HEAD")
    outgoing = client.build_request(
        request.method,
        f"{url}?{query}" if query else url,
        headers=headers,
        content=_body(request) if has_body else None,
    )
    try:
        answer = await client.send(outgoing, stream=True)
    except httpx.TransportError as problem:
        raise Unavailable(f"The router does not answer ({problem}). Try again in a moment.") from problem
    passed = {k: v for k, v in answer.headers.items() if k.lower() not in _NOT_PASSED_ON}
    return StreamingResponse(
        answer.aiter_raw(), status_code=answer.status_code, headers=passed, background=BackgroundTask(answer.aclose)
    )


async def _body(request: Request) -> AsyncIterator[bytes]:
    async for chunk in request.stream():
        yield chunk
