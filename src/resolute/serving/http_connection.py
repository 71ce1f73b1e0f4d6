"""One HTTP/1.1 connection: bytes in, whole requests to the application, answers out in order.

Bounds what it takes in before it takes it in. Knows nothing of models; the application is any callable.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, cast

import httptools

from resolute.domain.errors import InvalidInput, ResoluteError, TooLarge
from resolute.serving.http_message import Request, Response, error_response, head

MAX_HEAD_BYTES = 64 << 10
_MAX_PIPELINED = 16
_LINGER_S = 2.0
_SMALL = 1 << 16
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"

Application = Callable[[Request], Response | Coroutine[Any, Any, Response]]
Note = Callable[[Request, Response, float], None]


@dataclass(slots=True)
class HttpServer:
    """What all connections of a server share."""

    application: Application
    """Must not raise, nor may its coroutine."""
    note: Note
    """Called after each answer, with the seconds it took."""
    max_body_bytes: int
    connections: "set[HttpConnection]"
    is_draining: bool = False


class HttpConnection(asyncio.Protocol):
    """`on_*` are httptools' callbacks."""

    def __init__(self, server: HttpServer) -> None:
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport | None = None
        self._waiting: deque[tuple[Request, Response | None]] = deque()
        """Requests in the order they came; one that was refused while it was read has its answer already."""
        self._running: asyncio.Task[Response] | None = None
        self._is_deaf = False
        """Nothing more is read: the last answer is under way, or has gone."""
        self.active_at = self._loop.time()
        self._url = b""
        self._headers: dict[str, str] = {}
        self._head_bytes = 0
        self._body: list[bytes] = []
        self._body_bytes = 0

    @property
    def is_idle(self) -> bool:
        """No request is under way, not even half read."""
        return self._running is None and not self._waiting and not self._url

    def is_stale(self, before: float) -> bool:
        """Nothing has come since, and no answer is owed: the caller has gone, or sends too slowly."""
        return self._running is None and not self._waiting and self.active_at < before

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    # asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports have the methods but not the base class.
        self._transport = cast(asyncio.Transport, transport)
        self._server.connections.add(self)

    def data_received(self, data: bytes) -> None:
        self.active_at = self._loop.time()
        if self._is_deaf:
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._refuse(InvalidInput("This server speaks HTTP/1.1 only; send the request without Upgrade."))
        except httptools.HttpParserError as problem:
            if not self._is_deaf:
                self._refuse(InvalidInput(f"This is not an HTTP/1.1 request: {problem}."))

    def connection_lost(self, error: Exception | None) -> None:
        self._server.connections.discard(self)
        self._is_deaf = True
        self._waiting.clear()
        if self._running is not None:
            # Nobody is there to read the answer: a request that still waits leaves the queue.
            self._running.cancel()

    # httptools

    def on_message_begin(self) -> None:
        self._begin()

    def on_url(self, url: bytes) -> None:
        self._url += url
        self._count_head(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")
        self._count_head(len(name) + len(value))

    def on_headers_complete(self) -> None:
        if self._is_deaf:
            return
        announced = self._headers.get("content-length", "")
        if announced.isdigit() and int(announced) > self._server.max_body_bytes:
            self._refuse(self._too_large(f"{int(announced):,} bytes"))
        elif self._headers.get("expect", "").lower() == "100-continue" and not self._waiting and not self._running:
            self._write(_CONTINUE)

    def on_body(self, body: bytes) -> None:
        if self._is_deaf:
            return
        self._body_bytes += len(body)
        if self._body_bytes > self._server.max_body_bytes:
            self._refuse(self._too_large("larger"))
            return
        self._body.append(body)

    def on_message_complete(self) -> None:
        if self._is_deaf:
            return
        request = Request(
            method=self._parser.get_method().decode("latin-1"),
            path=_path(self._url),
            headers=self._headers,
            body=self._body[0] if len(self._body) == 1 else b"".join(self._body),
            has_keep_alive=self._parser.should_keep_alive(),
            started=time.perf_counter(),
        )
        self._url = b""
        self._body = []
        if self._running is None and not self._waiting:
            self._handle(request)
            return
        self._waiting.append((request, None))
        if len(self._waiting) >= _MAX_PIPELINED and self._transport is not None:
            self._transport.pause_reading()

    # in order

    def _begin(self) -> None:
        self._url = b""
        self._headers = {}
        self._head_bytes = 0
        self._body = []
        self._body_bytes = 0

    def _handle(self, request: Request) -> None:
        answer = self._server.application(request)
        if isinstance(answer, Response):
            self._answer(request, answer)
            return
        self._running = self._loop.create_task(answer)
        self._running.add_done_callback(lambda task: self._ended(request, task))

    def _ended(self, request: Request, task: "asyncio.Task[Response]") -> None:
        self._running = None
        if task.cancelled():
            self._server.note(request, Response([], status=499), time.perf_counter() - request.started)
            return
        self._answer(request, task.result())
        while self._waiting and self._running is None:
            following, refusal = self._waiting.popleft()
            if refusal is None:
                self._handle(following)
            else:
                self._answer_last(following, refusal)
        if self._transport is not None and not self._is_deaf and len(self._waiting) < _MAX_PIPELINED:
            self._transport.resume_reading()

    def _answer(self, request: Request, response: Response) -> None:
        is_last = not request.has_keep_alive or self._server.is_draining
        self._send(request, response, is_last=is_last)
        self._server.note(request, response, time.perf_counter() - request.started)
        if is_last:
            self._is_deaf = True
            self._waiting.clear()
            self.close()

    def _send(self, request: Request, response: Response, *, is_last: bool) -> None:
        start = head(response, is_last=is_last, now=int(time.time()))
        if request.method == "HEAD":
            self._write(start)
        elif response.size < _SMALL:
            self._write(b"".join((start, *response.parts)))
        elif self._transport is not None:
            self._transport.writelines([start, *response.parts])

    def _write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    # refusals

    def _count_head(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > MAX_HEAD_BYTES and not self._is_deaf:
            self._refuse(TooLarge(f"The headers are longer than {MAX_HEAD_BYTES:,} bytes."))

    def _too_large(self, what: str) -> TooLarge:
        return TooLarge(
            f"The request body is {what}; this server takes at most {self._server.max_body_bytes:,} bytes. "
            "Send fewer instances, or raise max_body_bytes."
        )

    def _refuse(self, problem: ResoluteError) -> None:
        """Answer a request that has not been read to its end, when its turn comes, and listen no more."""
        self._is_deaf = True
        request = Request("-", _path(self._url), started=time.perf_counter())
        if self._running is None and not self._waiting:
            self._answer_last(request, error_response(problem))
        else:
            self._waiting.append((request, error_response(problem)))

    def _answer_last(self, request: Request, response: Response) -> None:
        """Then read on for a moment: a socket that closes on unread bytes takes the answer with it."""
        self._send(request, response, is_last=True)
        self._server.note(request, response, time.perf_counter() - request.started)
        if self._transport is not None and self._transport.can_write_eof():
            self._transport.write_eof()
        self._loop.call_later(_LINGER_S, self.close)


def _path(url: bytes) -> str:
    """Without the query, and without the address that proxies put before it."""
    if b"://" in url[:8]:
        url = b"/" + url.partition(b"://")[2].partition(b"/")[2]
    return url.partition(b"?")[0].decode("latin-1")
