"""A request that has arrived and an answer that is to go: values, and the bytes of an answer's head. No sockets."""

from dataclasses import dataclass, field
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from http.client import responses
from typing import Any

import msgspec

from resolute.domain.errors import InvalidInput, NotFound, NotSupported, ResoluteError, TooLarge, Unavailable
from resolute.serving.limits import Overloaded, TimedOut
from resolute.serving.worker_frames import Buffer

JSON = "application/json"
BINARY = "application/octet-stream"
_STATUS: dict[type[ResoluteError], int] = {
    TooLarge: 413,
    InvalidInput: 400,
    NotFound: 404,
    Overloaded: 429,
    TimedOut: 504,
    Unavailable: 503,
    NotSupported: 501,
}


@dataclass(slots=True)
class Request:
    """All of it is here. Names of headers are in lower case."""

    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    sent_headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    """All of them, as they came; `headers` has those that the routes look at."""
    has_keep_alive: bool = True
    started: float = 0.0
    """`time.perf_counter` when its last byte came: the event loop's clock knows milliseconds only."""
    model: str = ""
    """Set by the route, for the log and the counters: only names of models that exist."""
    kind: str = "other"
    batch: int = 0


@dataclass(slots=True)
class Response:
    parts: list[Buffer]
    status: int = 200
    content_type: str = JSON
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def size(self) -> int:
        return sum(len(part) for part in self.parts)


def json_response(value: Any, status: int = 200) -> Response:
    return Response([msgspec.json.encode(value)], status)


def error_response(problem: ResoluteError) -> Response:
    """`{"error": sentence}` and nothing else: what KServe's clients look for."""
    status = status_of(problem)
    headers: tuple[tuple[str, str], ...] = ()
    if isinstance(problem, Overloaded):
        headers = (("retry-after", str(problem.retry_after_s)),)
    elif status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers = (("retry-after", "1"),)
    return Response([msgspec.json.encode({"error": str(problem)})], status, headers=headers)


def status_of(problem: ResoluteError) -> int:
    for kind in type(problem).__mro__:
        if kind in _STATUS:
            return _STATUS[kind]
    return 500


def head(response: Response, *, is_last: bool, now: int) -> bytes:
    """Status line and headers. `now` is in whole seconds, so that the date is written once for each."""
    extra = "".join(f"{name}: {value}\r\n" for name, value in response.headers) if response.headers else ""
    start = _start(response.status, response.content_type, is_last)
    return b"%b%bcontent-length: %d\r\n%b\r\n" % (start, _date(now), response.size, extra.encode("latin-1"))


@lru_cache(maxsize=256)
def _start(status: int, content_type: str, is_last: bool) -> bytes:
    close = "connection: close\r\n" if is_last else ""
    return f"HTTP/1.1 {status} {_phrase(status)}\r\ncontent-type: {content_type}\r\n{close}".encode("latin-1")


def _phrase(status: int) -> str:
    """Handlers may choose a status that HTTP has no name for."""
    return responses.get(status, "")


@lru_cache(maxsize=2)
def _date(now: int) -> bytes:
    return f"date: {formatdate(now, usegmt=True)}\r\n".encode()
