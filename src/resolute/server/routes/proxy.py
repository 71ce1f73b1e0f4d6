"""`/proxy/<task id>/...`: a task that listens, for those who may use it. Checked here, answered by the task."""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from fastapi import Request, WebSocket
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response

from resolute.domain import needs
from resolute.domain.errors import Forbidden, InvalidInput, NotFound, ResoluteError, Unauthenticated
from resolute.engine.access.rights import RIGHTS_CHANGED
from resolute.engine.jobs.fencing import hash_token, secret_of
from resolute.engine.jobs.task_kind import Speaks
from resolute.engine.platform import Platform
from resolute.server.addresses import address_of
from resolute.server.auth import PlatformOf, Principal, Tokens, find_principal
from resolute.server.errors import answer
from resolute.server.proxy.headers import AUTH_COOKIE, TASK_COOKIE, Visit, check_path, check_query
from resolute.server.proxy.origin import CODE_PARAMETER, task_cookie, token_hash_in
from resolute.server.proxy.target import Target, find_target
from resolute.server.resource import Resource
from resolute.server.state import ServerState, StateOf

router = Resource(tags=["proxy"], include_in_schema=False)

_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_LOOK_S = 2.0
"""How often an open websocket's caller is looked at."""
_GOING_AWAY, _NOT_ALLOWED = 1001, 1008


@router.route("/proxy/{task_id}", methods=["GET", "HEAD"], needs=needs.SIGNED_IN)
async def open_task(task_id: str, request: Request) -> Response:
    """Pages of a task are below its path."""
    query = request.url.query
    return RedirectResponse(f"/proxy/{_plain(task_id)}/" + (f"?{query}" if query else ""), 307)


@router.route("/proxy/{task_id}/{path:path}", methods=_METHODS, needs=needs.CHECKED_INSIDE, response_model=None)
async def proxy_task(task_id: str, path: str, request: Request, platform: PlatformOf, state: StateOf) -> Response:
    """Needs a user's token, and the right to use the task."""
    sent = _checked(request, task_id)
    if state.origins.task_of(request.headers.get("host", "")) and CODE_PARAMETER in request.query_params:
        return await _sign_in(request, platform, state, task_id)
    visitor = await _visitor(request, platform, state, task_id)
    target = await run_in_threadpool(find_target, platform, task_id, visitor.principal)
    if visitor.leave_for:
        return RedirectResponse(visitor.leave_for(), 302, headers={"Cache-Control": "no-store"})
    if target.speaks is not Speaks.HTTP:
        raise NotFound(f"Task {task_id} has no pages. Use `resolute shell open {task_id}`.")
    request.scope["principal"] = visitor.principal
    request.scope["find_principal"] = visitor.again
    # A web client is slow to import, and a master without such tasks never needs one: not at the top.
    from resolute.server.proxy.requests import Forwarded

    visit = _visit(request, task_id)
    return Forwarded(
        state.upstreams(),
        target,
        visit,
        sent,
        rules=_rules,
        background=platform.visits.connection(task_id, platform.clock()),
    )


@router.websocket("/proxy/{task_id}/{path:path}", needs=needs.CHECKED_INSIDE)
async def proxy_task_socket(task_id: str, path: str, socket: WebSocket, platform: PlatformOf, state: StateOf) -> None:
    """As a request; for a task that speaks SSH, a tunnel of bytes, which needs no token: its key is asked for there."""
    try:
        sent = _checked(socket, task_id)
        visitor = await _visitor(socket, platform, state, task_id, is_socket=True)
        target = await run_in_threadpool(find_target, platform, task_id, visitor.principal)
    except ResoluteError as refusal:
        await socket.send_denial_response(answer(refusal))
        return
    from resolute.server.proxy import sockets

    def active() -> None:
        platform.visits.active(task_id, platform.clock())

    async def until() -> tuple[int, str]:
        return await _no_longer_allowed(socket, platform, state, visitor, target)

    with platform.visits.connection(task_id, platform.clock()):
        if target.speaks is Speaks.SSH:
            await sockets.tunnel(socket, target, active=active, until=until)
        else:
            await sockets.pass_on(socket, target, _visit(socket, task_id), sent, active=active, until=until)


# --------------------------------------------------------------------------------------------------------- visitors


@dataclass(frozen=True, slots=True)
class _Visitor:
    principal: Principal | None
    again: "Callable[[HTTPConnection], object]" = find_principal
    """Asks anew who it is, while an answer goes on."""
    leave_for: Callable[[], str] | None = None
    """He belongs on the task's own origin."""


async def _visitor(
    connection: HTTPConnection, platform: Platform, state: ServerState, task_id: str, *, is_socket: bool = False
) -> _Visitor:
    """Who it is, by what he may show at this origin. Raises Unauthenticated and Forbidden."""
    _set_aside_key_of_task(connection)
    at = state.origins.task_of(connection.headers.get("host", ""))
    if at is not None:
        if at != task_id:
            raise NotFound(f"This is the address of task {at}. Nothing else is served here.")

        async def of_task(again: HTTPConnection) -> Principal:
            secret = await run_in_threadpool(_secret, platform)
            return await state.tokens.principal_of_session(token_hash_in(secret, task_id, again))

        principal = await of_task(connection)
        _check_origin(connection, is_socket=is_socket)
        return _Visitor(principal, of_task)
    try:
        principal = await find_principal(connection)
    except Unauthenticated:
        if is_socket and not _shows_something(connection):
            return _Visitor(None)
        raise
    if not _is_by_cookie(connection):
        return _Visitor(principal)
    if not state.origins.domain:
        _check_origin(connection, is_socket=is_socket)
        return _Visitor(principal)
    if is_socket or connection.scope["method"] not in ("GET", "HEAD"):
        raise Forbidden("Tasks have addresses of their own here. Open the task from the platform, and use it there.")
    return _Visitor(
        principal, leave_for=lambda: state.origins.lead_there(task_id, hash_token(principal.token), connection)
    )


def _check_origin(connection: HTTPConnection, *, is_socket: bool) -> None:
    """A browser that shows a cookie says which page asks; the gate has refused other origins than ours."""
    if not is_socket and connection.scope["method"] in _SAFE:
        return
    headers = connection.headers
    if "origin" in headers or headers.get("sec-fetch-site") == "same-origin":
        return
    raise Forbidden(
        "This request shows a cookie and does not say which page sent it (Origin). Send a token instead "
        "(Authorization: Bearer ...)."
    )


def _set_aside_key_of_task(connection: HTTPConnection) -> None:
    """The page of a notebook shows Jupyter's key beside the cookie (Authorization: token ...): none of ours."""
    is_browser = AUTH_COOKIE in connection.cookies or TASK_COOKIE in connection.cookies
    if is_browser and connection.headers.get("authorization", "").lower().startswith("token "):
        given = connection.scope["headers"]
        given[:] = [(name, value) for name, value in given if name != b"authorization"]


def _shows_something(connection: HTTPConnection) -> bool:
    names = ("authorization", "grpc-metadata-x-user-token", "grpc-metadata-x-allocation-token")
    return any(name in connection.headers for name in names)


def _is_by_cookie(connection: HTTPConnection) -> bool:
    return not _shows_something(connection) and AUTH_COOKIE in connection.cookies


async def _sign_in(request: Request, platform: Platform, state: ServerState, task_id: str) -> Response:
    """On the task's own origin: the code for a cookie, and on to the page itself."""
    at = state.origins.task_of(request.headers.get("host", ""))
    if at != task_id or request.method != "GET":
        raise NotFound("Nothing is served here but a task.")
    token_hash = state.origins.redeem(request.query_params[CODE_PARAMETER], task_id)
    query = urlencode([(k, v) for k, v in parse_qsl(request.url.query, keep_blank_values=True) if k != CODE_PARAMETER])
    path = request.scope["raw_path"].decode("latin-1")
    response = RedirectResponse(path + (f"?{query}" if query else ""), 303)
    response.headers["Cache-Control"] = "no-store"
    response.headers["Referrer-Policy"] = "no-referrer"
    response.set_cookie(
        TASK_COOKIE,
        task_cookie(await run_in_threadpool(_secret, platform), task_id, token_hash),
        path=f"/proxy/{task_id}/",
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
    return response


def _secret(platform: Platform) -> str:
    with platform.store.read() as tx:
        return secret_of(tx)


async def _no_longer_allowed(
    socket: WebSocket, platform: Platform, state: ServerState, visitor: _Visitor, target: Target
) -> tuple[int, str]:
    """Returns when an open websocket must end: the close code and why."""
    tokens: Tokens = state.tokens
    seen = tokens.generation
    with state.watches.open((RIGHTS_CHANGED, "users")) as watch:
        while True:
            await watch.wait(_LOOK_S)
            if watch.is_stopping:
                return _GOING_AWAY, "The platform is being restarted."
            if visitor.principal is None or seen == tokens.generation:
                continue
            seen = tokens.generation
            try:
                principal = await visitor.again(socket)  # type: ignore[misc]
                await run_in_threadpool(find_target, platform, target.task_id, principal)
            except ResoluteError as refusal:
                return _NOT_ALLOWED, str(refusal)


# ---------------------------------------------------------------------------------------------------------- requests


def _checked(connection: HTTPConnection, task_id: str) -> bytes:
    """What is asked of the task, byte for byte. Raises InvalidInput."""
    path = check_path(connection.scope["raw_path"].partition(b"?")[0], task_id)
    query = check_query(connection.scope["query_string"])
    return path + (b"?" + query if query else b"")


def _plain(task_id: str) -> str:
    if not all(c.isascii() and (c.isalnum() or c in "-._") for c in task_id):
        raise InvalidInput(f"{task_id[:100]!r} is not the id of a task.")
    return task_id


def _visit(connection: HTTPConnection, task_id: str) -> Visit:
    shown = (connection.cookies.get(AUTH_COOKIE), connection.cookies.get(TASK_COOKIE))
    return Visit(
        task_id=task_id,
        host=connection.headers.get("host", ""),
        scheme="https" if connection.url.scheme in ("https", "wss") else "http",
        client=address_of(connection),
        tokens=tuple(token for token in shown if token),
    )


def _rules() -> list[tuple[bytes, bytes]]:
    """No other site frames a task's page, and the platform is told which page a request comes from."""
    return [(b"content-security-policy", b"frame-ancestors 'self'"), (b"referrer-policy", b"same-origin")]
