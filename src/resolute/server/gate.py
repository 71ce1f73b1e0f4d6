"""What is turned away before any route runs: foreign hosts, foreign origins, oversized bodies.

A page on the internet can make a browser call a laptop's loopback address. It cannot choose the Host header (unless it
rebinds a DNS name, so names we do not know are refused) and cannot hide its Origin (so a foreign one is refused).
Bodies are JSON whatever the Content-Type says, and none at all means `{}`: the clients of this API rely on both.
"""

import ipaddress
import re
import socket
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from resolute.domain.errors import Forbidden, TooLarge
from resolute.server.errors import answer

MAX_BODY_BYTES = 128 * 1024 * 1024
# `timeout_seconds=60` says the same as `timeoutSeconds=60`.
_SNAKE_KEY = re.compile(rb"(?:^|(?<=&))[a-z]+(?:_[a-z]+)+(?==)")
_PASSED_ON = "/serving/"
"""Bodies below it belong to a model server: they go through as they are, and it sets the limit."""
_WITH_BODY = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class Gate:
    """ASGI middleware around the whole app."""

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str] = (), max_body_bytes: int = MAX_BODY_BYTES) -> None:
        self._app = app
        self._max_body_bytes = max_body_bytes
        self._hosts = frozenset(host.lower() for host in (*known_hosts(), *hosts))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(headers, scope["path"])
        if refusal is not None:
            await answer(refusal)(scope, receive, send)
            return
        if b"_" in scope["query_string"] and scope["path"].startswith("/api/"):
            scope["query_string"] = _SNAKE_KEY.sub(_to_camel, scope["query_string"])
        if scope["type"] == "http" and scope["method"] in _WITH_BODY and not scope["path"].startswith(_PASSED_ON):
            MutableHeaders(scope=scope)["content-type"] = "application/json"
            receive = _Body(receive, self._max_body_bytes)
        await self._app(scope, receive, send)

    def _refusal(self, headers: Headers, path: str) -> Forbidden | TooLarge | None:
        host = headers.get("host", "")
        if not self.is_known(host):
            return Forbidden(
                f"This master does not answer to the host name {host!r}. "
                "Use its address, or start it with --allowed-host NAME."
            )
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            return Forbidden(f"Requests from pages of {origin!r} are refused. Open the web UI of this master itself.")
        if int(headers.get("content-length") or 0) > self._max_body_bytes and not path.startswith(_PASSED_ON):
            return _too_large(self._max_body_bytes)
        return None

    def is_known(self, host_header: str) -> bool:
        name = _without_port(host_header).lower()
        return name in self._hosts or _is_address(name)


def known_hosts() -> tuple[str, ...]:
    """Names under which this machine may be called. Addresses are always fine: they cannot be rebound."""
    name = socket.gethostname()
    return ("localhost", name, name.partition(".")[0])


class _Body:
    """The request's body, counted; an empty one reads as `{}`."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._limit = limit
        self._size = 0

    async def __call__(self) -> Message:
        message = await self._receive()
        if message["type"] != "http.request":
            return message
        self._size += len(message.get("body", b""))
        if self._size > self._limit:
            raise _too_large(self._limit)
        if self._size == 0 and not message.get("more_body", False):
            return {**message, "body": b"{}"}
        return message


def _too_large(limit: int) -> TooLarge:
    return TooLarge(
        f"The request is larger than {limit / 1024**2:.4g} MiB. Leave data out of the directory (.detignore) or "
        "bind-mount it."
    )


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
