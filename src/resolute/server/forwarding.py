"""Passes a request on to the router of deployments and its answer back, streamed both ways. Decides nothing."""

import asyncio
from collections.abc import AsyncIterator

import httpx
from fastapi import Request
from starlette.background import BackgroundTask
from starlette.responses import StreamingResponse

from resolute.domain.errors import InvalidInput, Unavailable
from resolute.engine.deployments.traffic import TrafficLog
from resolute.host.trust import Trust

_NOT_PASSED_ON = frozenset(
    {"connection", "keep-alive", "transfer-encoding", "upgrade", "te", "trailer", "authorization", "cookie", "host"}
    | {"x-resolute-forwarded"}
)
_TIMEOUT = httpx.Timeout(None, connect=5.0)


async def forward(request: Request, traffic: TrafficLog, *, path: str, proof: str) -> StreamingResponse:
    """To `path`, exactly as it was checked. Raises Unavailable when the router does not answer."""
    client = _client(request)
    headers = [(k, v) for k, v in request.headers.raw if k.decode().lower() not in _NOT_PASSED_ON]
    headers.append((b"x-resolute-forwarded", proof.encode()))
    url = traffic.router_url + path
    query = request.scope["query_string"].decode()
    has_body = request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers
    outgoing = client.build_request(
        request.method,
        f"{url}?{query}" if query else url,
        headers=headers,
        content=_body(request) if has_body else None,
    )
    if outgoing.url.raw_path.partition(b"?")[0] != path.encode():
        raise InvalidInput(f"The path {path!r} cannot be sent on as it is. Escape characters that a URL does not have.")
    try:
        answer = await client.send(outgoing, stream=True)
    except httpx.TransportError as problem:
        raise Unavailable(f"The router does not answer ({problem}). Try again in a moment.") from problem
    passed = {k: v for k, v in answer.headers.items() if k.lower() not in _NOT_PASSED_ON}
    return StreamingResponse(
        answer.aiter_raw(), status_code=answer.status_code, headers=passed, background=BackgroundTask(answer.aclose)
    )


def _client(request: Request) -> httpx.AsyncClient:
    """One for the server's life. Its connections belong to the event loop in which it was made."""
    state, loop = request.app.state, asyncio.get_running_loop()
    known: tuple[asyncio.AbstractEventLoop, httpx.AsyncClient] | None = getattr(state, "router_client", None)
    if known is not None and known[0] is loop:
        return known[1]
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=100)
    # The router shows the master's own certificate, at an address that it need not be for.
    trust: Trust | None = state.trust
    tls = trust.context("https:") if trust is not None else None
    if tls is not None:
        tls.check_hostname = False
    client = httpx.AsyncClient(timeout=_TIMEOUT, limits=limits, trust_env=False, verify=False if tls is None else tls)
    state.router_client = (loop, client)
    return client


async def _body(request: Request) -> AsyncIterator[bytes]:
    async for chunk in request.stream():
        yield chunk
