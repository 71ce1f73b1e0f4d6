"""What is turned away before any route runs: foreign hosts, foreign origins, unknown tokens, oversized bodies.

A page on the internet can make a browser call a laptop's loopback address. It cannot choose the Host header (unless it
rebinds a DNS name, so names we do not know are refused) and cannot hide its Origin (so a foreign one is refused).
The framework reads and parses a body before it asks who sent it; so it is asked here first, and strangers send nothing
but a log-in. Bodies are JSON whatever the Content-Type says, and none at all means `{}`: the clients of this API rely
on both.
"""

import ipaddress
import re
import socket
from collections.abc import Container, Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from resolute.domain.errors import Forbidden, NotFound, ResoluteError, TooLarge
from resolute.domain.networks import Network, is_in
from resolute.server.auth import find_principal
from resolute.server.body_limits import MAX_BODY_BYTES, bytes_for, values_for, values_in
from resolute.server.errors import answer
from resolute.server.proxy.origin import TaskOrigins

# `timeout_seconds=60` says the same as `timeoutSeconds=60`.
_SNAKE_KEY = re.compile(rb"(?:^|(?<=&))[a-z]+(?:_[a-z]+)+(?==)")
_PASSED_ON = ("/serving/", "/proxy/")
"""Bodies below them belong to a model server or a task: they go through as they are, and that sets the limit."""
_WITH_BODY = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_SAFETY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
}


class Gate:
    """ASGI middleware around the whole app."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Iterable[str] = (),
        open_routes: Container[tuple[str, str]] = (),
        max_body_bytes: int = MAX_BODY_BYTES,
        origins: TaskOrigins | None = None,
        networks: tuple[Network, ...] | None = None,
    ) -> None:
        """`open_routes`: method and path of those that take a body from anybody. `networks`: where callers may be, also
        those behind a proxy; None: anywhere."""
        self._networks = networks
        self._origins = origins or TaskOrigins()
        self._app = app
        self._open_routes = open_routes
        self._max_body_bytes = max_body_bytes
        self._hosts = frozenset(host.lower() for host in (*known_hosts(), *hosts))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        is_passed_on = scope["path"].startswith(_PASSED_ON)
        if not is_passed_on:
            send = _with_safety_headers(send)
        has_body = scope["type"] == "http" and scope["method"] in _WITH_BODY and not is_passed_on
        limit = min(self._max_body_bytes, bytes_for(scope["path"])) if has_body else None
        refusal = self._refusal(
            Headers(scope=scope), limit, is_secure=scope.get("scheme") in ("https", "wss")
        ) or self._misplaced(scope)
        if refusal is None and has_body:
            refusal = await self._stranger(scope)
        if refusal is not None:
            await answer(refusal)(scope, receive, send)
            return
        if b"_" in scope["query_string"] and scope["path"].startswith("/api/"):
            scope["query_string"] = _SNAKE_KEY.sub(_to_camel, scope["query_string"])
        if limit is not None:
            MutableHeaders(scope=scope)["content-type"] = "application/json"
            receive = _Body(receive, limit, values_for(scope["path"]))
        await self._app(scope, receive, send)

    def _misplaced(self, scope: Scope) -> ResoluteError | None:
        """Why this is not asked here: of a task's origin, or from a task's page."""
        client = (scope.get("client") or ("",))[0]
        if self._networks is not None and not is_in(client, self._networks):
            return Forbidden(f"This master takes no calls from {client}. Its operator allows networks (--allow-cidr).")
        headers = Headers(scope=scope)
        task_id = self._origins.task_of(headers.get("host", ""))
        if task_id is not None and not scope["path"].startswith(f"/proxy/{task_id}/"):
            return NotFound(f"This is the address of task {task_id}. Nothing else is served here.")
        if scope["type"] == "http" and scope["method"] in _WITH_BODY and not scope["path"].startswith(_PASSED_ON):
            return _from_a_task(headers, scope["path"])
        return None

    def _refusal(self, headers: Headers, limit: int | None, *, is_secure: bool) -> ResoluteError | None:
        host = headers.get("host", "")
        if not self.is_known(host):
            return Forbidden(
                f"This master does not answer to the host name {host!r}. "
                "Use its address, or start it with --allowed-host NAME."
            )
        origin = headers.get("origin")
        if origin is not None and (_netloc(origin) != host.lower() or (is_secure and origin.startswith("http:"))):
            return Forbidden(
                f"Requests from pages of {origin[:200]!r} are refused. Open the web UI of this master itself."
            )
        if limit is not None and int(headers.get("content-length") or 0) > limit:
            return _too_large(limit)
        return None

    async def _stranger(self, scope: Scope) -> ResoluteError | None:
        """Why the sender of a body may not even send it. What somebody with a token may do, the route's need says."""
        if (scope["method"], scope["path"]) in self._open_routes:
            return None
        try:
            await find_principal(HTTPConnection(scope))
        except ResoluteError as error:
            return error
        return None

    def is_known(self, host_header: str) -> bool:
        name = _without_port(host_header).lower()
        return name in self._hosts or _is_address(name) or self._origins.task_of(host_header) is not None


def _from_a_task(headers: Headers, path: str) -> ResoluteError | None:
    """A browser adds the user's cookie to whatever a page here asks for, and pages of tasks are not the user's. What
    changes something with a cookie says that it comes from a page of the platform itself."""
    is_browser = "origin" in headers or "sec-fetch-site" in headers
    if not is_browser or "cookie" not in headers or "authorization" in headers:
        return None
    try:
        page = urlsplit(headers.get("referer", "")).path
    except ValueError:
        page = ""
    if page and not page.startswith(_PASSED_ON):
        return None
    return Forbidden(
        f"{path} changes something, and a page of a task, or one that does not say where it is (Referer), may not do "
        "that with your cookie. Use the web UI, or send a token (Authorization: Bearer ...)."
    )


def known_hosts() -> tuple[str, ...]:
    """Names under which this machine may be called. Addresses are always fine: they cannot be rebound."""
    name = socket.gethostname()
    return ("localhost", name, name.partition(".")[0])


def _with_safety_headers(send: Send) -> Send:
    """Browsers take answers for what they say they are, show none inside another site's page, and tell no other site
    which page they come from."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _SAFETY_HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending


class _Body:
    """The request's body, counted; an empty one reads as `{}`."""

    def __init__(self, receive: Receive, limit: int, max_values: int | None) -> None:
        self._receive = receive
        self._limit = limit
        self._max_values = max_values
        self._size = 0
        self._values = 0

    async def __call__(self) -> Message:
        message = await self._receive()
        if message["type"] != "http.request":
            return message
        self._size += len(message.get("body", b""))
        if self._size > self._limit:
            raise _too_large(self._limit)
        if self._max_values is not None:
            self._values += values_in(message.get("body", b""))
            if self._values > self._max_values:
                raise TooLarge(f"The request holds more than {self._max_values:,} values. Send it in parts.")
        if self._size == 0 and not message.get("more_body", False):
            return {**message, "body": b"{}"}
        return message


def _too_large(limit: int) -> TooLarge:
    size = f"{limit / 1024**2:.4g} MiB" if limit >= 1024**2 else f"{limit / 1024:.4g} KiB"
    if limit < MAX_BODY_BYTES:
        return TooLarge(f"The request is larger than {size}, the limit of this call. Send less at once.")
    return TooLarge(
        f"The request is larger than {size}. Leave data out of the directory (.detignore) or bind-mount it."
    )


def _netloc(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


def _to_camel(key: re.Match[bytes]) -> bytes:
    first, *rest = key[0].split(b"_")
    return first + b"".join(word.capitalize() for word in rest)


def _without_port(host_header: str) -> str:
    if host_header.startswith("["):
        return host_header[1:].partition("]")[0]
    return host_header.partition(":")[0]


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
