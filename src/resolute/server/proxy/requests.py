"""One HTTP request, passed on to a task and its answer back, streamed both ways. Follows no redirect, tries nothing
twice, and lets go of the task as soon as the client has gone."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable

import httpcore
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from resolute.domain.errors import InvalidInput, ResoluteError, TooLarge, Unavailable
from resolute.server.errors import answer
from resolute.server.proxy.headers import Visit, to_browser, to_task
from resolute.server.proxy.target import Target

log = logging.getLogger(__name__)

CONNECT_S = 5.0
SILENT_S = 3600.0
"""Neither a byte of an answer nor a byte taken of a request for so long: nobody waits on the other side."""
MAX_BODY_BYTES = 2 * 1024**3
"""Larger files go into a task by its shared folders."""
_KEPT_S = 20.0
"""Idle connections to a task, before it closes them itself."""
_TIMEOUTS = {"connect": CONNECT_S, "read": SILENT_S, "write": SILENT_S, "pool": None}


class Upstreams:
    """Connections to tasks, kept open and used again. They belong to one event loop."""

    def __init__(self) -> None:
        self._pool: httpcore.AsyncConnectionPool | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def pool(self) -> httpcore.AsyncConnectionPool:
        loop = asyncio.get_running_loop()
        if self._pool is None or self._loop is not loop:
            self._loop = loop
            self._pool = httpcore.AsyncConnectionPool(
                max_connections=None, max_keepalive_connections=100, keepalive_expiry=_KEPT_S, http2=False
            )
        return self._pool

    async def close(self) -> None:
        """In the loop that used them."""
        if self._pool is not None:
            pool, self._pool = self._pool, None
            await pool.aclose()


class Forwarded(Response):
    """An answer that is the task's."""

    def __init__(
        self,
        upstreams: Upstreams,
        target: Target,
        visit: Visit,
        path: bytes,
        *,
        rules: Callable[[], list[tuple[bytes, bytes]]],
        background: contextlib.AbstractContextManager[None],
    ) -> None:
        """`rules` are what browsers are told about every page of a task."""
        super().__init__()
        self._upstreams = upstreams
        self._target = target
        self._visit = visit
        self._path = path
        self._rules = rules
        self._while_open = background

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = _Body(receive, scope)
        with self._while_open:
            work = asyncio.ensure_future(self._pass_on(scope, body, send))
            gone = asyncio.ensure_future(body.gone.wait())
            try:
                await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
                if work.done():
                    work.result()
            finally:
                for each in (work, gone):
                    each.cancel()
                await asyncio.gather(work, gone, return_exceptions=True)
                await body.close()

    async def _pass_on(self, scope: Scope, body: "_Body", send: Send) -> None:
        started = False
        try:
            answered = await self._upstreams.pool().handle_async_request(self._request(scope, body))
            try:
                headers = to_browser(answered.headers, self._visit, self._target.address) + self._rules()
                # What came before the answer, such as an early hint, was for the platform alone.
                await send({"type": "http.response.start", "status": answered.status, "headers": headers})
                started = True
                body.watch()
                async for chunk in answered.aiter_stream():
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
            finally:
                await answered.aclose()
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException) as problem:
            if started:
                # The server closes the connection of an answer without an end, so that a part does not look whole.
                log.info("task %s broke off its answer: %r", self._target.task_id, problem)
                return
            await answer(_sentence(self._target, problem))(scope, body.receive, send)
        except ResoluteError as refusal:
            if started:
                raise
            await answer(refusal)(scope, body.receive, send)

    def _request(self, scope: Scope, body: "_Body") -> httpcore.Request:
        headers = [(b"host", self._visit.host.encode("latin-1")), *to_task(scope["headers"], self._visit)]
        if body.length is not None:
            headers.append((b"content-length", str(body.length).encode()))
        elif body.is_chunked:
            headers.append((b"transfer-encoding", b"chunked"))
        host = self._target.host.encode()
        return httpcore.Request(
            method=scope["method"].encode(),
            url=httpcore.URL(scheme=b"http", host=host, port=self._target.port, target=self._path),
            headers=headers,
            content=body.chunks() if body.is_chunked or body.length else b"",
            extensions={"timeout": _TIMEOUTS},
        )


class _Body:
    """What the client sends, as fast as the task takes it. `gone` is set when the client has left."""

    def __init__(self, receive: Receive, scope: Scope) -> None:
        headers = dict(scope["headers"])
        text = headers.get(b"content-length")
        self.is_chunked = b"transfer-encoding" in headers
        self.length = None if text is None or self.is_chunked else int(text)
        if self.length is not None and self.length > MAX_BODY_BYTES:
            raise _too_large()
        self.receive = receive
        self.gone = asyncio.Event()
        self._is_complete = not self.is_chunked and not self.length
        self._watching: asyncio.Task[None] | None = None
        if self._is_complete:
            self.watch()

    async def chunks(self) -> AsyncIterator[bytes]:
        size = 0
        while not self._is_complete:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                self.gone.set()
                # What is unfinished must not look complete to the task; this never goes on.
                await asyncio.Event().wait()
            size += len(message.get("body", b""))
            if size > MAX_BODY_BYTES:
                raise _too_large()
            self._is_complete = not message.get("more_body", False)
            if message.get("body"):
                yield message["body"]
        self.watch()

    def watch(self) -> None:
        """From now on only the end of the connection is expected."""
        if self._watching is None:
            self._watching = asyncio.ensure_future(self._wait_for_the_end())

    async def close(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)

    async def _wait_for_the_end(self) -> None:
        message: Message = {"type": ""}
        while message["type"] != "http.disconnect":
            message = await self.receive()
        self.gone.set()


def _sentence(target: Target, problem: Exception) -> ResoluteError:
    who = f"Task {target.task_id}"
    if isinstance(problem, httpcore.ConnectTimeout | httpcore.ConnectError):
        return Unavailable(
            f"{who} does not take connections at {target.address}. It may be starting or ending; its log says more."
        )
    if isinstance(problem, httpcore.LocalProtocolError):
        return InvalidInput(f"The request cannot be sent on to {who.lower()}: {problem}.")
    if isinstance(problem, httpcore.TimeoutException):
        return Unavailable(f"{who} was silent for {SILENT_S / 60:.0f} minutes, so its connection was given up.")
    return Unavailable(
        f"{who} broke off before it had answered ({problem or type(problem).__name__}). Its log says more."
    )


def _too_large() -> TooLarge:
    return TooLarge(
        f"The request is larger than {MAX_BODY_BYTES // 1024**3} GiB, the most that is sent to a task. Use its shared "
        "folders for larger files."
    )
