"""A connection in memory, an application that answers when it is told to, and a clock that stands still."""

import asyncio
import re
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from resolute.serving.http.answers import plain, refuse
from resolute.serving.http.connection import Connection, Pending, Turn
from resolute.serving.http.connections import Connections
from resolute.serving.http.limits import HttpLimits
from resolute.serving.http.request import Request


class Wire(asyncio.Transport):
    """Keeps what is written; `unread` is what the client has not taken yet."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.unread = 0
        self.is_closed = False
        self.is_aborted = False
        self.is_paused = False
        self.has_eof = False

    def write(self, data: Any) -> None:
        self.written += bytes(data)

    def close(self) -> None:
        self.is_closed = True

    def abort(self) -> None:
        self.is_closed = self.is_aborted = True

    def is_closing(self) -> bool:
        return self.is_closed

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.has_eof = True

    def get_write_buffer_size(self) -> int:
        return self.unread

    def pause_reading(self) -> None:
        self.is_paused = True

    def resume_reading(self) -> None:
        self.is_paused = False


class Answering:
    """Answers at once, or with `is_slow` when `answer_next` is called."""

    def __init__(self) -> None:
        self.is_slow = False
        self.most_bytes = 100
        self.requests: list[Request] = []
        self.turns: list[Turn] = []
        self.statuses: list[int] = []
        self.cancelled = 0
        self.holds: list[bool] = []

    def opened(self, request: Request) -> int:
        if request.url.startswith(b"/unknown"):
            raise refuse(404, "There is nothing here.")
        return self.most_bytes

    def too_large(self, request: Request, size: int, limit: int) -> str:
        return f"{size} is more than {limit}."

    def answer(self, request: Request, turn: Turn) -> Pending | None:
        self.requests.append(request)
        self.turns.append(turn)
        if self.is_slow:
            return self
        self.answer_next()
        return None

    def refused(self, request: Request, status: int) -> None:
        self.statuses.append(status)

    def cancel(self) -> None:
        self.cancelled += 1

    def hold(self, is_held: bool) -> None:
        self.holds.append(is_held)

    def answer_next(self) -> None:
        turn = self.turns.pop(0)
        turn.write(plain(200, {}))
        turn.done(is_last=False)


class Desk:
    """One connection, and what came of it."""

    def __init__(self, **limits: Any) -> None:
        self.time = 1000.0
        self.app = Answering()
        self.connections = Connections(self.app, HttpLimits(**limits))
        self.connections.now = lambda: self.time
        self.connection, self.wire = self.connect()

    def connect(self) -> tuple[Connection, Wire]:
        connection, wire = Connection(self.connections), Wire()
        connection.connection_made(wire)
        return connection, wire

    def send(self, data: bytes, *, piece: int = 0) -> "Desk":
        for start in range(0, len(data), piece or len(data)):
            self.connection.data_received(data[start : start + (piece or len(data))])
        return self

    def after(self, seconds: float) -> "Desk":
        self.time += seconds
        self.connections.sweep()
        return self

    @property
    def statuses(self) -> list[int]:
        return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", self.wire.written)]


@pytest.fixture
def at_desk() -> Callable[..., None]:
    """Runs a test with a desk of its own, on an event loop."""

    def run(test: Callable[[Desk], Coroutine[Any, Any, None]], **limits: Any) -> None:
        async def whole() -> None:
            await test(Desk(**limits))

        asyncio.run(asyncio.wait_for(whole(), 10))

    return run
