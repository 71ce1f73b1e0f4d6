"""Content encodings: which of them a caller takes, and large JSON answers sent as gzip.

Only answers that are whole when they begin are compressed. A stream passes as it is: a compressor would hold its lines
back until enough of them have come.
"""

import gzip
from collections.abc import Sequence

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_API = "/api/"
# Less than this gains nothing over a network: it is a few packets either way.
_LEAST_BYTES = 8_000
# The fastest level takes off nine tenths of most tables and curves, at about 100 MB/s.
_LEVEL = 1


def accepted_encodings(header: str) -> frozenset[str]:
    """The codings that an Accept-Encoding names and does not refuse by `q=0`. A `*` names none of them."""
    named = set()
    for part in header.lower().split(","):
        coding, *parameters = (each.strip() for each in part.split(";"))
        if not any(_is_refusal(each) for each in parameters):
            named.add(coding)
    return frozenset(named - {"", "*", "identity"})


def best_encoding(header: str, offered: Sequence[str]) -> str | None:
    """The first of `offered` that the caller takes; None when the answer has to go as it is."""
    accepted = accepted_encodings(header)
    return next((each for each in offered if each in accepted), None)


def _is_refusal(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    try:
        return name.strip() == "q" and float(value) <= 0
    except ValueError:
        return True


class CompressedAnswers:
    """ASGI middleware around the routes. Proxied answers of tasks and models are theirs, and stay as they are."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Nothing that a request wrote stands in the answer to a GET beside a secret, so its length betrays none.
        if scope["type"] != "http" or scope["method"] != "GET" or not scope["path"].startswith(_API):
            await self._app(scope, receive, send)
            return
        accepts_gzip = best_encoding(Headers(scope=scope).get("accept-encoding", ""), ["gzip"]) is not None
        await self._app(scope, receive, _Compressing(send, accepts_gzip=accepts_gzip))


class _Compressing:
    """`send` that keeps the start of a large answer until it knows that its body comes in one piece."""

    def __init__(self, send: Send, *, accepts_gzip: bool) -> None:
        self._send = send
        self._accepts_gzip = accepts_gzip
        self._start: Message | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_large_json(message):
            headers = MutableHeaders(scope=message)
            headers.add_vary_header("Accept-Encoding")
            if self._accepts_gzip:
                self._start = message
                return
        elif self._start is not None:
            start, self._start = self._start, None
            if not message.get("more_body"):
                body = await run_in_threadpool(gzip.compress, message["body"], _LEVEL, mtime=0)
                headers = MutableHeaders(scope=start)
                headers["Content-Encoding"] = "gzip"
                headers["Content-Length"] = str(len(body))
                message = {**message, "body": body}
            await self._send(start)
        await self._send(message)


def _is_large_json(start: Message) -> bool:
    """Streams state no length, so none of them is kept waiting."""
    headers = Headers(raw=start["headers"])
    is_json = headers.get("content-type", "").startswith("application/json")
    is_plain = "content-encoding" not in headers and "etag" not in headers
    return start["status"] == 200 and is_json and is_plain and int(headers.get("content-length", 0)) >= _LEAST_BYTES
