"""A client's connection: reads requests, finds their deployment, and writes answers in the order they were asked."""

import asyncio
from collections import deque
from typing import TYPE_CHECKING, cast

import httptools

from resolute.serving.router.answers import answer, plain
from resolute.serving.router.deployed import Deployed
from resolute.serving.router.exchange import Answering, Exchange
from resolute.serving.router.request import Request
from resolute.serving.router.upstream import Upstream

if TYPE_CHECKING:
    from resolute.serving.router.routes import Routes

_MOST_HEADER_BYTES = 64 * 1024


class _Refused(Exception):
    """A request that goes no further; the answer to it."""

    def __init__(self, content: bytes, *, is_last: bool = False) -> None:
        self.content = content
        self.is_last = is_last


class Front(asyncio.Protocol, Answering):
    def __init__(self, routes: "Routes") -> None:
        self._routes = routes
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpRequestParser(self)
        self._request = Request()
        self._target: Deployed | None = None
        self._refusal: _Refused | None = None
        self._header_bytes = 0
        self._waiting: deque[tuple[Request, Deployed | None, _Refused | None]] = deque()
        self._exchange: Exchange | None = None
        self._asked: Request | None = None
        self._streams_from: Upstream | None = None
        self.last_active = 0.0

    # ------------------------------------------------------------------------------------------------ asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._routes.fronts.add(self)
        self.last_active = self._routes.now()

    def connection_lost(self, problem: Exception | None) -> None:
        self._routes.fronts.discard(self)
        self._transport = None
        self._waiting.clear()
        if self._exchange is not None:
            self._exchange.cancel()
            self._exchange = None

    def data_received(self, data: bytes) -> None:
        self.last_active = self._routes.now()
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._stop(_Refused(answer(400, "The router does not change protocols.", is_last=True), is_last=True))
        except httptools.HttpParserError as problem:
            self._stop(_Refused(answer(400, f"This is not HTTP/1.1: {problem}.", is_last=True), is_last=True))
        if self._refusal is not None and self._refusal.is_last:
            self._stop(self._refusal)

    def pause_writing(self) -> None:
        if self._streams_from is not None:
            self._streams_from.pause(True)

    def resume_writing(self) -> None:
        if self._streams_from is not None:
            self._streams_from.pause(False)

    @property
    def is_idle(self) -> bool:
        return self._exchange is None and not self._waiting

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    # ---------------------------------------------------------------------------------------------- httptools

    def on_message_begin(self) -> None:
        self._request, self._target, self._refusal = Request(), None, None
        self._header_bytes = 0

    def on_url(self, url: bytes) -> None:
        self._request.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        self._header_bytes += len(name) + len(value)
        if self._header_bytes > _MOST_HEADER_BYTES:
            self._refusal = _Refused(answer(400, "The headers are larger than 64 KiB.", is_last=True), is_last=True)
            return
        if name == b"host":
            self._request.host = value
        self._request.headers.append((name, value))

    def on_headers_complete(self) -> None:
        if self._refusal is not None:
            return
        request = self._request
        request.method = self._parser.get_method()
        request.is_last = not self._parser.should_keep_alive()
        try:
            self._target = self._routes.find(request)
            length = request.header(b"content-length")
            if length is not None:
                self._check_size(int(length))
        except _Refused as refusal:
            self._refusal = refusal
        if self._refusal is None and (request.header(b"expect") or b"").lower() == b"100-continue":
            self.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, body: bytes) -> None:
        if self._refusal is not None:
            return
        self._request.bytes_read += len(body)
        try:
            self._check_size(self._request.bytes_read)
        except _Refused as refusal:
            self._refusal = refusal
            return
        self._request.body.append(body)

    def on_message_complete(self) -> None:
        self._waiting.append((self._request, self._target, self._refusal))
        if self._exchange is None:
            self._next()
        elif self._transport is not None:
            self._transport.pause_reading()

    def _check_size(self, size: int) -> None:
        limit = self._target.routed.max_body_bytes if self._target is not None else 1 << 20
        if size > limit:
            sentence = f"The request has {size} bytes or more; this deployment takes {limit} (serving.max_body_bytes)."
            raise _Refused(answer(413, sentence, is_last=True), is_last=True)

    # ---------------------------------------------------------------------------------------------- answering

    def _next(self) -> None:
        while self._waiting and self._exchange is None and self._transport is not None:
            request, target, refusal = self._waiting.popleft()
            if refusal is not None or target is None:
                self.write(refusal.content if refusal is not None else b"")
                if request.is_last or (refusal is not None and refusal.is_last):
                    self.close()
                continue
            self._ask(request, target)

    def _ask(self, request: Request, target: Deployed) -> None:
        target.counter.asked += 1
        self._asked = request
        self._exchange = Exchange(target, request, self)
        if target.routed.shadow is not None:
            copy = Exchange(target, request, Answering(), is_shadow=True)
            copy.shadow()
        self._exchange.dispatch()

    def write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    def streams_from(self, upstream: Upstream) -> None:
        self._streams_from = upstream

    def done(self, *, is_last: bool) -> None:
        self._streams_from = None
        self._exchange = None
        self.last_active = self._routes.now()
        if is_last or (self._asked is not None and self._asked.is_last):
            self.close()
            return
        if self._waiting:
            self._next()
        if not self._waiting and self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def _stop(self, refusal: _Refused) -> None:
        """Nothing more is read from this connection."""
        if self._exchange is None:
            self.write(refusal.content)
            self.close()


def refuse(status: int, sentence: str, *, is_last: bool = False) -> _Refused:
    return _Refused(answer(status, sentence, is_last=is_last), is_last=is_last)


def alive() -> _Refused:
    return _Refused(plain(200, {"status": "alive"}))
