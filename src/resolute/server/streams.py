"""Answers that go on: one JSON object per line, `{"result": ...}`, ended cleanly; a failure is a last `{"error": ...}`.

No blank keep-alive lines: clients parse every line.
"""

import logging
from collections.abc import AsyncIterator, Iterable, Iterator

import msgspec
from starlette.responses import StreamingResponse

from resolute.domain.errors import ResoluteError
from resolute.server.errors import stream_line_of

log = logging.getLogger(__name__)
_encode = msgspec.json.Encoder().encode


def stream(batches: AsyncIterator[Iterable[object]]) -> StreamingResponse:
    """`batches` yields lists of JSON values (NaN already spelled out); each value becomes a line."""
    return StreamingResponse(_lines(batches), media_type="application/json")


def stream_sync(batches: Iterator[Iterable[object]]) -> StreamingResponse:
    """As `stream`, from an iterator that blocks; it runs in worker threads."""
    return StreamingResponse(_lines_sync(batches), media_type="application/json")


async def _lines(batches: AsyncIterator[Iterable[object]]) -> AsyncIterator[bytes]:
    try:
        async for batch in batches:
            yield _encoded(batch)
    except ResoluteError as error:
        yield _last_line(error)
    except Exception as error:
        log.exception("a stream failed")
        yield _last_line(ResoluteError(f"The stream ended early: {type(error).__name__}. See the master's log."))


def _lines_sync(batches: Iterator[Iterable[object]]) -> Iterator[bytes]:
    try:
        for batch in batches:
            yield _encoded(batch)
    except ResoluteError as error:
        yield _last_line(error)


def _encoded(batch: Iterable[object]) -> bytes:
    return b"".join(b'{"result":' + _encode(value) + b"}\n" for value in batch)


def _last_line(error: ResoluteError) -> bytes:
    return _encode(stream_line_of(error)) + b"\n"
