"""The model server's side of a connection: a request as its routes want it, and their answer as bytes."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any

from resolute.serving.http.connection import Pending, Turn
from resolute.serving.http.request import Request as Asked
from resolute.serving.http_message import Request, Response, head

READ_HEADERS = frozenset({b"content-encoding", b"content-type", b"inference-header-content-length"})
"""What the routes look at; the others are not worth decoding for each request."""
_SMALL = 1 << 16
_CLIENT_LEFT = 499

Routed = Callable[[Request], Response | Coroutine[Any, Any, Response]]
Note = Callable[[Request, Response, float], None]


class ModelSite:
    """`serving.http.connection.Application` over routes that return their answers."""

    def __init__(self, routes: Routed, note: Note, max_body_bytes: int) -> None:
        """`routes` must not raise, nor may its coroutine. `note` is called after each answer, with its seconds."""
        self.is_draining = False
        self._loop = asyncio.get_running_loop()
        self.note = note
        self._routes = routes
        self._max_body_bytes = max_body_bytes

    def opened(self, request: Asked) -> int:
        return self._max_body_bytes

    def too_large(self, request: Asked, size: int, limit: int) -> str:
        return (
            f"The request body is {size:,} bytes or more; this server takes at most {limit:,} bytes. "
            "Send fewer instances, or raise max_body_bytes."
        )

    def answer(self, request: Asked, turn: Turn) -> Pending | None:
        read = read_request(request)
        answer = self._routes(read)
        if isinstance(answer, Response):
            self.send(read, answer, turn)
            return None
        return _Answering(self, read, self._loop.create_task(answer), turn)

    def refused(self, request: Asked, status: int) -> None:
        self.note(Request("-", _path(request.url)), Response([], status), 0.0)

    def send(self, request: Request, response: Response, turn: Turn) -> None:
        is_last = not request.has_keep_alive or self.is_draining
        start = head(response, is_last=is_last, now=int(time.time()))
        if request.method == "HEAD":
            turn.write(start)
        elif response.size < _SMALL:
            turn.write(b"".join((start, *response.parts)))
        else:
            turn.writelines([start, *response.parts])
        self.note(request, response, time.perf_counter() - request.started)
        turn.done(is_last=is_last)


class _Answering:
    """An answer that takes time."""

    __slots__ = ("_request", "_site", "_task", "_turn")

    def __init__(self, site: ModelSite, request: Request, task: "asyncio.Task[Response]", turn: Turn) -> None:
        self._site, self._request, self._task, self._turn = site, request, task, turn
        task.add_done_callback(self._ended)

    def cancel(self) -> None:
        self._task.cancel()

    def hold(self, is_held: bool) -> None:
        """An answer is whole before it is written."""

    def _ended(self, task: "asyncio.Task[Response]") -> None:
        if task.cancelled():
            seconds = time.perf_counter() - self._request.started
            self._site.note(self._request, Response([], _CLIENT_LEFT), seconds)
            return
        self._site.send(self._request, task.result(), self._turn)


def read_request(asked: Asked) -> Request:
    return Request(
        method=asked.method.decode("latin-1"),
        path=_path(asked.url),
        headers={
            name.decode("latin-1"): value.decode("latin-1").strip()
            for name, value in asked.headers
            if name in READ_HEADERS
        },
        body=asked.body[0] if len(asked.body) == 1 else b"".join(asked.body),
        sent_headers=asked.headers,
        has_keep_alive=not asked.is_last,
        started=time.perf_counter(),
    )


def _path(url: bytes) -> str:
    """Without the query, and without the address that proxies put before it."""
    if b"://" in url[:8]:
        url = b"/" + url.partition(b"://")[2].partition(b"/")[2]
    return url.partition(b"?")[0].decode("latin-1")
