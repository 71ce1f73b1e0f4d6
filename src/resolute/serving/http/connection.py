"""One client's connection: bytes in, whole requests to the application in their order, answers out in the same order.

Bounds what it takes in before it takes it in. What two readers could frame differently is refused, never guessed.
"""

import asyncio
import re
from collections import deque
from typing import Protocol, cast

import httptools

from resolute.serving.http.answers import answer, refuse
from resolute.serving.http.limits import HttpLimits
from resolute.serving.http.request import Refused, Request

_NOTHING, _HEAD, _BODY = range(3)
"""What is being read."""
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_FULL = answer(503, "Too many connections are open here. Try again in a moment.", retry_after_s=1, is_last=True)
_LINGER_S = 2.0
_DROPPED_BYTES = 1 << 20
"""How much body of a refused request is read and thrown away, so that its connection can be kept."""
_OF_FRAMING = frozenset({b"host", b"transfer-encoding", b"content-length", b"expect"})
_FRAMED = 8
"""Bytes on the wire for a byte of the body, at most: even chunks of one byte need no more."""
_NO_HOST = re.compile(rb"[ \t,/\\?#@]").search


class Turn(Protocol):
    """Where the answer of the request in hand is written."""

    def write(self, data: bytes) -> None: ...
    def writelines(self, parts: list[bytes | bytearray | memoryview]) -> None: ...
    def done(self, *, is_last: bool) -> None:
        """The answer is complete. `is_last`: close the connection after it."""


class Pending(Protocol):
    """An answer on its way."""

    def cancel(self) -> None:
        """The client has gone."""

    def hold(self, is_held: bool) -> None:
        """The client reads slower than it is written to."""


class Application(Protocol):
    """Who answers. Nothing here may raise but `Refused` from `opened`."""

    def opened(self, request: Request) -> int:
        """The head has come. Returns how many bytes the body may have."""

    def too_large(self, request: Request, size: int, limit: int) -> str:
        """The sentence for a body of `size` bytes or more."""

    def answer(self, request: Request, turn: Turn) -> Pending | None:
        """All of it has come, and it is its turn. None when `turn.done` was called already."""

    def refused(self, request: Request, status: int) -> None:
        """A request was answered without `answer`."""


class Site(Protocol):
    """What the connections of one listener share; `connections.Connections` is the real one."""

    application: Application
    limits: HttpLimits

    def now(self) -> float: ...
    def admit(self, connection: "Connection") -> bool: ...
    def forget(self, connection: "Connection") -> None: ...


class Connection(asyncio.Protocol):
    """`on_*` are httptools' callbacks."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._app = site.application
        self._limits = site.limits
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpRequestParser(self)
        self._request = Request()
        self._most_bytes = 0
        self._most_head_bytes = site.limits.head_bytes
        self._announced = 0
        self._head_bytes = 0
        self._raw_bytes = 0
        """Of the head, or of the body, as they came."""
        self._hosts = 0
        self._refusal: Refused | None = None
        """Of the request that is being read: the rest of it is dropped."""
        self._waiting: deque[tuple[Request, Refused | None]] = deque()
        self._asked: Request | None = None
        self._pending: Pending | None = None
        self._reading = _NOTHING
        self._now = self._since = site.now()
        """When what is going on began: the silence, the head, the body."""
        self._stuck: tuple[float, int] | None = None
        """Since when, and with how many bytes, the client has taken nothing of its answer."""
        self._is_turning = False
        self._is_paused = False
        self._is_deaf = False
        """Nothing more is read: the last answer is under way, or has gone."""
        self._leaves_at = 0.0

    # what its keeper asks

    @property
    def is_idle(self) -> bool:
        """No request is under way, not even half read."""
        return not self.is_owed and self._reading is _NOTHING

    @property
    def is_owed(self) -> bool:
        """A request has come that is not answered yet."""
        return self._asked is not None or bool(self._waiting)

    @property
    def since(self) -> float:
        return self._since

    def check(self, now: float) -> None:
        """End it if its client takes too long over what it does now."""
        limits, transport = self._limits, self._transport
        if transport is None:
            return
        if self._is_stuck(now, transport) or (self._leaves_at and now > self._leaves_at + limits.write_s):
            transport.abort()
        elif self._is_deaf or self.is_owed:
            return
        elif self._reading is _NOTHING:
            if now > self._since + limits.idle_s:
                self.close()
        elif self._reading is _HEAD:
            if now > self._since + limits.head_s:
                self._refuse(refuse(408, f"The headers did not come within {limits.head_s:g} s.", is_last=True))
        elif now > self._since + limits.body_pause_s + self._request.bytes_read / limits.least_bytes_per_s:
            sentence = f"The body came too slowly: {self._request.bytes_read:,} bytes in {now - self._since:.0f} s."
            self._refuse(refuse(408, sentence, is_last=True))

    def abort(self) -> None:
        self._is_deaf = True
        if self._transport is not None:
            self._transport.abort()

    def close(self) -> None:
        """After what has been written."""
        self._is_deaf = True
        self._leaves_at = self._leaves_at or self._site.now()
        if self._transport is not None:
            self._transport.close()

    # asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports have the methods but not the base class.
        self._transport = cast(asyncio.Transport, transport)
        if not self._site.admit(self):
            self.write(_FULL)
            self.close()

    def connection_lost(self, problem: Exception | None) -> None:
        self._site.forget(self)
        self._transport = None
        self._is_deaf = True
        self._waiting.clear()
        pending, self._pending, self._asked = self._pending, None, None
        if pending is not None:
            # Nobody is there to read the answer: a request that still waits leaves the queue.
            pending.cancel()

    def data_received(self, data: bytes) -> None:
        if self._is_deaf:
            return
        reading, request = self._reading, self._request
        self._now = self._site.now()
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass  # refused when its head had come
        except httptools.HttpParserError as problem:
            if not self._is_deaf:
                self._refuse(refuse(400, f"This is not HTTP/1.1: {problem}.", is_last=True))
        if self._is_deaf:
            return
        if reading is self._reading and request is self._request and reading is not _NOTHING:
            self._count_unseen(len(data))
        if self._request.has_expectation and self._asked is None:
            self._tell_to_go_on()

    def pause_writing(self) -> None:
        self._stuck = (self._site.now(), self._unsent())
        if self._pending is not None:
            self._pending.hold(True)

    def resume_writing(self) -> None:
        self._stuck = None
        if self._pending is not None:
            self._pending.hold(False)

    # httptools

    def on_message_begin(self) -> None:
        self._request, self._refusal = Request(), None
        self._head_bytes = self._hosts = self._raw_bytes = self._announced = 0
        self._reading, self._since = _HEAD, self._now

    def on_url(self, url: bytes) -> None:
        self._request.url += url
        if len(self._request.url) > self._limits.url_bytes and not self._is_deaf:
            sentence = f"The address is longer than {self._limits.url_bytes:,} bytes."
            self._refuse(refuse(414, sentence, is_last=True))

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_bytes += len(name) + len(value)
        if self._head_bytes > self._most_head_bytes:
            self._count_head(0)
        if self._is_deaf or self._reading is _BODY:
            # What comes behind a body was not there when the request was judged: it is not part of it.
            return
        name = name.lower()
        if name in _OF_FRAMING:
            self._frame(name, value.rstrip(b" \t"))
        self._request.headers.append((name, value))

    def on_headers_complete(self) -> None:
        if self._is_deaf:
            return
        request, parser = self._request, self._parser
        request.method = parser.get_method()
        request.is_last = not parser.should_keep_alive()
        self._reading, self._since = _BODY, self._now
        self._raw_bytes = 0
        version = parser.get_http_version()
        if parser.should_upgrade():
            self._refuse(refuse(400, "This server speaks HTTP/1.1 only; it does not change protocols.", is_last=True))
        elif version not in ("1.1", "1.0"):
            self._refuse(refuse(400, f"This is not HTTP/1.1: it says HTTP/{version}.", is_last=True))
        elif len(request.headers) > self._limits.headers:
            self._refuse(refuse(431, f"There are more than {self._limits.headers} headers.", is_last=True))
        elif self._hosts != 1 and (version == "1.1" or self._hosts):
            self._refuse(refuse(400, f"A request has one Host header; this one has {self._hosts}.", is_last=True))
        elif version == "1.0" and request.header(b"transfer-encoding") is not None:
            self._refuse(refuse(400, "HTTP/1.0 has no Transfer-Encoding; send Content-Length.", is_last=True))
        else:
            request.has_expectation = request.has_expectation and version == "1.1"
            self._open(request)

    def on_body(self, body: bytes) -> None:
        if self._is_deaf:
            return
        request = self._request
        request.bytes_read += len(body)
        request.has_expectation = False
        if request.bytes_read > self._most_bytes:
            self._refuse(self._too_large(request.bytes_read))
        elif self._refusal is None:
            request.body.append(body)

    def on_message_complete(self) -> None:
        if self._is_deaf:
            return
        self._reading, self._since = _NOTHING, self._now
        self._request.has_expectation = False
        if self._asked is None and self._refusal is None and not self._is_turning:
            self._ask(self._request)
            return
        self._waiting.append((self._request, self._refusal))
        if self._asked is None:
            self._turn()
        elif self._transport is not None and not self._is_paused:
            self._is_paused = True
            self._transport.pause_reading()

    # in order

    def write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    def writelines(self, parts: list[bytes | bytearray | memoryview]) -> None:
        if self._transport is not None:
            self._transport.writelines(parts)

    def done(self, *, is_last: bool) -> None:
        asked, self._asked, self._pending = self._asked, None, None
        # While an answer was owed its client could not be hurried.
        self._since = self._site.now()
        if is_last or (asked is not None and asked.is_last):
            self._waiting.clear()
            self.close()
            return
        if self._is_turning:
            return
        if self._waiting:
            self._turn()
        if self._asked is None and not self._is_deaf:
            if self._is_paused:
                self._resume()
            if self._request.has_expectation:
                self._tell_to_go_on()

    def _turn(self) -> None:
        """Whoever is next, as long as answers come at once."""
        self._is_turning = True
        while self._waiting and self._asked is None and self._transport is not None:
            request, refusal = self._waiting.popleft()
            if refusal is not None:
                self._answer_refused(request, refusal)
                continue
            self._ask(request)
        self._is_turning = False

    def _ask(self, request: Request) -> None:
        self._asked = request
        pending = self._app.answer(request, self)
        if self._asked is request:
            self._pending = pending

    def _resume(self) -> None:
        if self._is_paused and self._transport is not None:
            self._is_paused = False
            self._transport.resume_reading()

    # heads

    def _open(self, request: Request) -> None:
        try:
            self._most_bytes = self._app.opened(request)
        except Refused as refusal:
            self._most_bytes = _DROPPED_BYTES
            self._refusal = refusal
            if refusal.is_last or request.has_expectation:
                # A client that waits for leave may send its body or not: what follows could not be told apart.
                self._refuse(Refused(refusal.status, _closing(refusal), is_last=True))
                return
        if self._announced > self._most_bytes:
            self._refuse(self._too_large(self._announced) if self._refusal is None else _last(self._refusal))

    def _frame(self, name: bytes, value: bytes) -> None:
        if name == b"content-length":
            self._announced = int(value)
        elif name == b"host":
            self._hosts += 1
            if _NO_HOST(value):
                self._refuse(refuse(400, "The Host header is not a host with a port.", is_last=True))
        elif name == b"transfer-encoding" and value.lower() != b"chunked":
            self._refuse(refuse(400, "The only Transfer-Encoding taken is chunked.", is_last=True))
        elif name == b"expect" and value.lower() == b"100-continue":
            self._request.has_expectation = True

    def _count_head(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > self._limits.head_bytes and not self._is_deaf:
            sentence = f"The headers are longer than {self._limits.head_bytes:,} bytes."
            self._refuse(refuse(431, sentence, is_last=True))

    def _count_unseen(self, size: int) -> None:
        """The parser keeps a header to itself, and drops what stands between chunks: both may be without end."""
        self._raw_bytes += size
        if self._reading is _HEAD:
            self._count_head(max(0, self._raw_bytes - self._head_bytes))
        elif self._reading is _BODY:
            body = self._request.bytes_read
            if self._raw_bytes > self._limits.head_bytes + _FRAMED * body:
                self._refuse(refuse(400, f"{self._raw_bytes:,} bytes carried {body:,} bytes of body.", is_last=True))

    def _tell_to_go_on(self) -> None:
        if self._reading is _BODY and self._refusal is None:
            self._request.has_expectation = False
            self.write(_CONTINUE)

    # refusals

    def _too_large(self, size: int) -> Refused:
        if self._refusal is not None:
            return _last(self._refusal)
        return refuse(413, self._app.too_large(self._request, size, self._most_bytes), is_last=True)

    def _refuse(self, refusal: Refused) -> None:
        """Answer a request that has not been read to its end, when its turn comes, and listen no more."""
        self._is_deaf = True
        self._request.has_expectation = False
        self._waiting.append((self._request, refusal))
        if self._asked is None and not self._is_turning:
            self._turn()

    def _answer_refused(self, request: Request, refusal: Refused) -> None:
        self.write(refusal.content)
        self._app.refused(request, refusal.status)
        if not (refusal.is_last or request.is_last):
            self._since = self._site.now()
            return
        self._is_deaf = True
        self._waiting.clear()
        if self._transport is None or not self._transport.can_write_eof():
            self.close()
            return
        # Read on for a moment: a socket that closes on unread bytes takes the answer with it.
        self._leaves_at = self._site.now()
        self._transport.write_eof()
        self._resume()
        asyncio.get_running_loop().call_later(_LINGER_S, self.close)

    # slow readers

    def _unsent(self) -> int:
        return self._transport.get_write_buffer_size() if self._transport is not None else 0

    def _is_stuck(self, now: float, transport: asyncio.Transport) -> bool:
        if self._stuck is None:
            return False
        since, size = self._stuck
        unsent = transport.get_write_buffer_size()
        if unsent < size:
            self._stuck = (now, unsent)
            return False
        self._stuck = (since, unsent)
        return now > since + self._limits.write_s


def _last(refusal: Refused) -> Refused:
    return Refused(refusal.status, _closing(refusal), is_last=True)


def _closing(refusal: Refused) -> bytes:
    """The same answer, and that it is the last on its connection."""
    if b"\r\nconnection: close\r\n" in refusal.content:
        return refusal.content
    return refusal.content.replace(b"\r\n", b"\r\nconnection: close\r\n", 1)
